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
	Powers bool   `json:"powers,omitempty"` // the figures' axis grows by factors too
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
	chartWidth, chartHeight = 640, 360
	chartLeft, chartRight   = 70, 110
	chartTop, chartBottom   = 40, 50
)

// colours of the lines, in turns.
var colours = []string{"#1f5fa8", "#c0392b", "#2d7d46", "#7b4ea3"}

// frame places sizes and figures on the drawing.
type frame struct {
	low, high, most, least float64
	powers                 bool
}

func (c *Chart) frame() frame {
	f := frame{low: math.Inf(1), least: math.Inf(1), powers: c.Powers}
	for _, l := range c.Lines {
		for _, p := range l.Points {
			f.low, f.high = min(f.low, p.Size), max(f.high, p.Size)
			f.least, f.most = min(f.least, p.Figure), max(f.most, p.Figure)
		}
	}
	if !f.powers {
		f.least = 0
	}
	return f
}

func (f frame) x(size float64) float64 {
	part := 0.0
	if f.high > f.low {
		part = math.Log(size/f.low) / math.Log(f.high/f.low)
	}
	return chartLeft + part*(chartWidth-chartLeft-chartRight)
}

func (f frame) y(figure float64) float64 {
	part := 0.0
	switch {
	case f.most <= f.least:
	case f.powers:
		part = math.Log(figure/f.least) / math.Log(f.most/f.least)
	default:
		part = (figure - f.least) / (f.most - f.least)
	}
	return chartHeight - chartBottom - part*(chartHeight-chartTop-chartBottom)
}

// SVG draws the chart. It fails for a chart without figures above zero.
func (c *Chart) SVG(w io.Writer) error {
	f := c.frame()
	if !(f.low > 0) || !(f.most > 0) || (f.powers && !(f.least > 0)) {
		return fmt.Errorf("chart %q has nothing that can be drawn", c.Title)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", chartWidth, chartHeight)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", chartWidth, chartHeight)
	text(&b, chartLeft, 20, "start", c.Title+", "+c.Unit)
	text(&b, (chartLeft+chartWidth-chartRight)/2, chartHeight-10, "middle", c.Along)
	c.grid(&b, f)
	for i, l := range c.Lines {
		c.line(&b, f, l, colours[i%len(colours)])
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// grid draws the axes: every measured size, and five figures.
func (c *Chart) grid(b *strings.Builder, f frame) {
	var sizes []float64
	for _, l := range c.Lines {
		for _, p := range l.Points {
			sizes = append(sizes, p.Size)
		}
	}
	slices.Sort(sizes)
	for _, s := range slices.Compact(sizes) {
		x := f.x(s)
		fmt.Fprintf(b, `<path d="M%.1f %d V%d" stroke="#eee"/>`+"\n", x, chartTop, chartHeight-chartBottom)
		text(b, x, chartHeight-chartBottom+16, "middle", Figure(s, ""))
	}
	for i := range 5 {
		part := float64(i) / 4
		figure := f.least + part*(f.most-f.least)
		if f.powers {
			figure = f.least * math.Pow(f.most/f.least, part)
		}
		y := f.y(figure)
		fmt.Fprintf(b, `<path d="M%d %.1f H%d" stroke="#ccc"/>`+"\n", chartLeft, y, chartWidth-chartRight)
		text(b, chartLeft-6, y+4, "end", Figure(figure, ""))
	}
}

// line draws one figure, with its name at the end.
func (c *Chart) line(b *strings.Builder, f frame, l Line, colour string) {
	var path strings.Builder
	for i, p := range l.Points {
		word := "L"
		if i == 0 {
			word = "M"
		}
		fmt.Fprintf(&path, "%s%.1f %.1f ", word, f.x(p.Size), f.y(p.Figure))
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", f.x(p.Size), f.y(p.Figure), colour)
	}
	fmt.Fprintf(b, `<path d="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.TrimSpace(path.String()), colour)
	if last := l.Points[len(l.Points)-1]; l.Name != "" {
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" fill="%s">%s</text>`+"\n", f.x(last.Size)+8, f.y(last.Figure)+4, colour, html.EscapeString(l.Name))
	}
}

func text(b *strings.Builder, x, y float64, anchor, s string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, html.EscapeString(s))
}
