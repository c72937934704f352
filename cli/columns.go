package cli

import (
	"encoding/csv"
	"io"
	"slices"
	"strings"
	"time"
)

// A column of a table: its title, the member that it shows, with dots between the levels, its form and its place.
type column struct {
	title, member string
	form          *form
	place         place
}

// place says when a column is shown.
type place int

const (
	keep  place = iota // always
	named              // always, and alone with --quiet and --output name
	drops              // not on a terminal that is too narrow for it
	wide               // with --output wide and csv only
)

// raw returns the member of an item that a column shows.
func (c column) raw(item any) any {
	for name := range strings.SplitSeq(c.member, ".") {
		if name == "" {
			break
		}
		m, _ := item.(map[string]any)
		item = m[name]
	}
	return item
}

// cell returns the text of an item in a column.
func (c column) cell(item any) string { return c.form.show(c.raw(item)) }

// short returns the text of an item in a column on a terminal.
func (c column) short(item any, now time.Time) string {
	if c.form == nil || c.form.short == nil {
		return c.cell(item)
	}
	return c.form.short(c.raw(item), now)
}

// data returns an item in a column for a program.
func (c column) data(item any) string { return c.form.value(c.raw(item)) }

// heading returns the title of a column of CSV: it has the unit of its figures.
func (c column) heading() string {
	if c.form != nil && c.form.unit != "" && !strings.HasSuffix(c.title, c.form.unit) {
		return c.title + " " + c.form.unit
	}
	return c.title
}

// nameOf returns the column that --output name prints: the one of that place, or the first.
func nameOf(columns []column) column {
	return columns[max(0, slices.IndexFunc(columns, func(c column) bool { return c.place == named }))]
}

// shown returns the columns that a form of output has, in a terminal of any width.
func (o *output) shown(columns []column) []column {
	if o.format == asWide || o.format == asCSV {
		return columns
	}
	return slices.DeleteFunc(slices.Clone(columns), func(c column) bool { return c.place == wide })
}

// writeCSV prints items as CSV, with one row of titles.
func writeCSV(w io.Writer, items []any, columns []column, titles bool) error {
	var lines [][]string
	if titles {
		line := make([]string, len(columns))
		for i, c := range columns {
			line[i] = c.heading()
		}
		lines = append(lines, line)
	}
	for _, item := range items {
		line := make([]string, len(columns))
		for i, c := range columns {
			line[i] = c.data(item)
		}
		lines = append(lines, line)
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// notFormula returns a text of a user as a cell of CSV. A spreadsheet takes a cell that begins with one of these characters for a
// formula, and runs it; with an apostrophe in front it is a text.
func notFormula(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}
