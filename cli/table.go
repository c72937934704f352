package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// A text is a cell with its style.
type text struct {
	text  string
	style style
}

// minCut is the least width to which a column is cut.
const minCut = 12

// gap is the space between two columns.
const gap = 2

// table prints items in columns. On a terminal times are ages, columns that don't fit are left out by their places, and what is still too
// long is cut; --output wide prints everything.
func (o *output) table(w io.Writer, items []any, columns []column) error {
	fits := o.to.is && o.format != asWide
	lines := make([][]text, len(items)+1)
	for _, c := range columns {
		lines[0] = append(lines[0], text{c.title, bold})
	}
	for i, item := range items {
		for _, c := range columns {
			lines[i+1] = append(lines[i+1], o.cell(c, item, fits))
		}
	}
	if !fits {
		return o.align(w, lines)
	}
	left := o.fit(lines, columns)
	if err := o.align(w, lines); err != nil || len(left) == 0 {
		return err
	}
	_, err := fmt.Fprintln(w, o.to.paint(dim, "not shown: "+strings.Join(left, ", ")+" (-o wide shows all)"))
	return err
}

func (o *output) cell(c column, item any, short bool) text {
	t := text{text: c.cell(item)}
	if short {
		t.text = c.short(item, o.to.now)
	}
	if c.form != nil && c.form.paint != nil {
		t.style = c.form.paint(c.raw(item))
	}
	if c.form == stateForm {
		t.text = o.to.symbol(looksOf(t.text).symbol) + t.text
	}
	if t.text == "-" {
		t.style = dim
	}
	return t
}

// fit makes lines as narrow as the terminal. It leaves out columns that may be dropped, those without values first and then from the right,
// and then cuts the widest. It returns the titles of what it left out.
func (o *output) fit(lines [][]text, columns []column) (left []string) {
	widths := widthsOf(lines)
	total := func() int {
		n := -gap
		for _, w := range widths {
			n += w + gap
		}
		return n
	}
	for _, empty := range []bool{true, false} {
		for i := len(columns) - 1; i >= 0 && total() > o.to.width; i-- {
			if columns[i].place != drops || empty && !isEmpty(lines[1:], i) {
				continue
			}
			if !empty { // nobody misses a column without values
				left = append(left, columns[i].title)
			}
			columns, widths = slices.Delete(slices.Clone(columns), i, i+1), slices.Delete(widths, i, i+1)
			for l := range lines {
				lines[l] = slices.Delete(lines[l], i, i+1)
			}
		}
	}
	for total() > o.to.width {
		widest := slices.Index(widths, slices.Max(widths))
		if widths[widest] <= minCut {
			break
		}
		widths[widest] = max(minCut, widths[widest]-(total()-o.to.width))
		for _, cells := range lines {
			cells[widest].text = cut(cells[widest].text, widths[widest])
		}
	}
	slices.Reverse(left)
	return left
}

func isEmpty(lines [][]text, column int) bool {
	return !slices.ContainsFunc(lines, func(cells []text) bool { return cells[column].text != "-" })
}

// widthsOf returns the width of each column.
func widthsOf(lines [][]text) []int {
	var widths []int
	for _, cells := range lines {
		for i, c := range cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], displayWidth(c.text))
		}
	}
	return widths
}

// align prints cells in columns.
func (o *output) align(w io.Writer, lines [][]text) error {
	widths := widthsOf(lines)
	var b strings.Builder
	for _, cells := range lines {
		last := len(cells) - 1
		for last > 0 && cells[last].text == "" {
			last--
		}
		for i, c := range cells[:last+1] {
			b.WriteString(o.to.paint(c.style, c.text))
			if i < last {
				b.WriteString(strings.Repeat(" ", widths[i]-displayWidth(c.text)+gap))
			}
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// displayWidth returns the number of cells of a terminal that a text takes.
func displayWidth(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// cut shortens a text to a width, with an ellipsis in place of its end.
func cut(s string, most int) string {
	if displayWidth(s) <= most {
		return s
	}
	n := 0
	for i, r := range s {
		if n += runeWidth(r); n > most-1 {
			return s[:i] + "…"
		}
	}
	return s
}
