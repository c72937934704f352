package report

import (
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strings"
)

// Chart is lines over one axis that grows by factors, such as a number of keys.
type Chart struct {
	Title  string `json:"title"`
	Along  string `json:"along"`            // what grows
	Unit   string `json:"unit"`             // of the figures
	Bytes  bool   `json:"bytes,omitempty"`  // sizes are bytes
	Powers bool   `json:"powers,omitempty"` // the figures' axis grows by factors too
	Note   string `json:"note,omitempty"`   // a small line below: where and when it was measured
	Lines  []Line `json:"lines"`
}

// Line is one figure over the growing size.
type Line struct {
	Name   string  `json:"name"`
	Points []Point `json:"points"`
}

// Point is a figure at one size.
type Point struct {
	Size   float64 `json:"size"`
	Figure float64 `json:"figure"`
}

// The drawing's measures, in its own units.
const (
	chartWidth, chartHeight = 720, 420
	chartLeft, chartRight   = 64, 64
	chartTop, chartBottom   = 72, 72
	nameGap                 = 16 // least distance of two lines' names
)

// colours of the lines, in turns: on a light background and on a dark one.
var colours = []struct{ light, dark string }{{"#0969da", "#58a6ff"}, {"#bc4c00", "#f0883e"}, {"#1a7f37", "#56d364"}, {"#8250df", "#bc8cff"}}

// darkStyle returns the styles for readers who prefer a dark page. The drawing has its own background, so it is
// readable on any page.
func darkStyle() string {
	var b strings.Builder
	b.WriteString("<style>@media (prefers-color-scheme: dark) { .back { fill: #0d1117 } text { fill: #e6edf3 } .faint { fill: #9198a1; stroke: #0d1117 } .grid { stroke: #30363d }")
	for i, c := range colours {
		fmt.Fprintf(&b, " .fill%d { fill: %s } .line%d { stroke: %s }", i, c.dark, i, c.dark)
	}
	b.WriteString(" }</style>\n")
	return b.String()
}

// SVG draws the chart. It fails for a chart without figures above zero.
func (c *Chart) SVG(w io.Writer) error {
	f := c.frame()
	if !(f.low > 0) || !(f.most > 0) || (f.powers && !(f.least > 0)) {
		return fmt.Errorf("chart %q has nothing that can be drawn", c.Title)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s" font-family="system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif" font-size="12">`+"\n",
		chartWidth, chartHeight, chartWidth, chartHeight, html.EscapeString(c.Title))
	b.WriteString(darkStyle())
	fmt.Fprintf(&b, `<rect class="back" width="%d" height="%d" rx="8" fill="#ffffff"/>`+"\n", chartWidth, chartHeight)
	fmt.Fprintf(&b, `<text x="24" y="30" font-size="16" font-weight="600" fill="#1f2328">%s</text>`+"\n", html.EscapeString(c.Title))
	faint(&b, 24, 50, "start", 12, c.Unit)
	c.grid(&b, f)
	for i, l := range c.Lines {
		c.line(&b, f, l, i)
	}
	c.names(&b, f)
	faint(&b, (chartLeft+chartWidth-chartRight)/2, chartHeight-chartBottom+36, "middle", 12, c.Along)
	if c.Note != "" {
		faint(&b, 24, chartHeight-12, "start", 10, c.Note)
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// grid draws the axes: every measured size, and round figures.
func (c *Chart) grid(b *strings.Builder, f frame) {
	var sizes []float64
	for _, l := range c.Lines {
		for _, p := range l.Points {
			sizes = append(sizes, p.Size)
		}
	}
	slices.Sort(sizes)
	for _, s := range slices.Compact(sizes) {
		faint(b, f.x(s), chartHeight-chartBottom+18, "middle", 12, c.Size(s))
	}
	for _, figure := range f.ticks() {
		y := f.y(figure)
		fmt.Fprintf(b, `<path class="grid" d="M%d %.1f H%d" stroke="#d1d9e0"/>`+"\n", chartLeft, y, chartWidth-chartRight)
		faint(b, chartLeft-8, y+4, "end", 12, Figure(figure, ""))
	}
}

// Size prints a size as the axis does.
func (c *Chart) Size(v float64) string {
	if !c.Bytes {
		return Figure(v, "")
	}
	for _, unit := range []string{"B", "KiB", "MiB"} {
		if v < 1024 || unit == "MiB" {
			return fmt.Sprintf("%g %s", v, unit)
		}
		v /= 1024
	}
	return ""
}

// line draws one figure, with the value at each point: above it where no other line is higher.
func (c *Chart) line(b *strings.Builder, f frame, l Line, at int) {
	n, colour := at%len(colours), colours[at%len(colours)].light
	var path strings.Builder
	for i, p := range l.Points {
		word := "L"
		if i == 0 {
			word = "M"
		}
		fmt.Fprintf(&path, "%s%.1f %.1f ", word, f.x(p.Size), f.y(p.Figure))
	}
	fmt.Fprintf(b, `<path class="line%d" d="%s" fill="none" stroke="%s" stroke-width="2" stroke-linejoin="round"/>`+"\n", n, strings.TrimSpace(path.String()), colour)
	for _, p := range l.Points {
		fmt.Fprintf(b, `<circle class="fill%d" cx="%.1f" cy="%.1f" r="3.5" fill="%s"/>`+"\n", n, f.x(p.Size), f.y(p.Figure), colour)
		y := f.y(p.Figure) + 18
		if c.highest(p) {
			y = f.y(p.Figure) - 9
		}
		faint(b, f.x(p.Size), y, "middle", 11, Figure(p.Figure, ""))
	}
}

// highest says whether no line has more at the point's size.
func (c *Chart) highest(p Point) bool {
	for _, l := range c.Lines {
		if slices.ContainsFunc(l.Points, func(o Point) bool { return o.Size == p.Size && o.Figure > p.Figure }) {
			return false
		}
	}
	return true
}

// names writes each line's name at its end, apart from each other.
func (c *Chart) names(b *strings.Builder, f frame) {
	order := make([]int, 0, len(c.Lines))
	for i, l := range c.Lines {
		if len(l.Points) > 0 {
			order = append(order, i)
		}
	}
	end := func(i int) Point { return c.Lines[i].Points[len(c.Lines[i].Points)-1] }
	slices.SortFunc(order, func(a, b int) int { return int(math.Copysign(1, end(b).Figure-end(a).Figure)) })
	least := math.Inf(-1)
	for _, i := range order {
		y := max(f.y(end(i).Figure)+4, least)
		least = y + nameGap
		fmt.Fprintf(b, `<text class="fill%d" x="%.1f" y="%.1f" font-weight="600" fill="%s">%s</text>`+"\n",
			i%len(colours), f.x(end(i).Size)+20, y, colours[i%len(colours)].light, html.EscapeString(c.Lines[i].Name))
	}
}

// faint writes small print, with an edge of the background that keeps it apart from lines.
func faint(b *strings.Builder, x, y float64, anchor string, size int, s string) {
	fmt.Fprintf(b, `<text class="faint" x="%.1f" y="%.1f" text-anchor="%s" font-size="%d" fill="#59636e" stroke="#ffffff" stroke-width="3" paint-order="stroke">%s</text>`+"\n", x, y, anchor, size, html.EscapeString(s))
}
