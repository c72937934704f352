package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/trireme-dev/trireme/fsm/jsondoc"
)

// output holds the flags that select a command's output.
type output struct {
	format string
	quiet  bool
	line   bool          // --json: as --output json, in one line, as the answer came
	path   *jsondoc.Path // of asPath
}

func (o *output) flags(f *pflag.FlagSet) {
	f.StringVarP(&o.format, "output", "o", asTable, "`FORMAT` of the output: table, json, yaml, csv, name or jsonpath=PATH")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print only the names of lists, and nothing for actions")
}

// structured prints the document if the form is one for programs, and reports whether it was.
func (o *output) structured(w io.Writer, doc []byte) (bool, error) {
	switch {
	case o.line:
		_, err := fmt.Fprintf(w, "%s\n", bytes.TrimSpace(doc))
		return true, err
	case o.format == asJSON:
		var out bytes.Buffer
		if err := json.Indent(&out, bytes.TrimSpace(doc), "", "  "); err != nil {
			return true, errorf(ExitUnreachable, "the answer is not JSON: is it a Trireme node?")
		}
		_, err := fmt.Fprintf(w, "%s\n", out.Bytes())
		return true, err
	case o.format == asYAML:
		return true, writeYAML(w, doc)
	case o.path != nil:
		return true, writeMatches(w, doc, o.path)
	}
	return false, nil
}

// A column of a table: a title, the member that it shows, with dots between the levels, and its form.
type column struct {
	title, member string
	form          form
}

// rows prints a list. Quiet prints the first column.
func (o *output) rows(w io.Writer, doc []byte, items []any, columns []column) error {
	if done, err := o.structured(w, doc); done {
		return err
	}
	var lines [][]string
	if o.quiet {
		columns = columns[:1]
	} else {
		titles := make([]string, len(columns))
		for i, c := range columns {
			titles[i] = c.title
		}
		lines = append(lines, titles)
	}
	for _, item := range items {
		cells := make([]string, len(columns))
		for i, c := range columns {
			cells[i] = c.cell(item)
		}
		lines = append(lines, cells)
	}
	return o.lines(w, lines)
}

// raw is the member of an item that a column shows.
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
func (c column) cell(item any) string {
	if c.form == nil {
		return plain(c.raw(item))
	}
	return c.form(c.raw(item))
}

// fields prints one thing, a line for each of its members in their order. Quiet prints the member of that name alone.
func (o *output) fields(w io.Writer, doc []byte, quiet string) error {
	if done, err := o.structured(w, doc); done {
		return err
	}
	members, err := ordered(doc)
	if err != nil {
		return err
	}
	var lines [][]string
	for _, m := range members {
		switch {
		case o.quiet && m.name == quiet:
			lines = append(lines, []string{plain(m.value)})
		case !o.quiet:
			lines = append(lines, []string{spaced(m.name), formOf(m.name)(m.value)})
		}
	}
	return o.lines(w, lines)
}

// done prints what an action did: a sentence, or a document.
func (o *output) done(w io.Writer, doc any, format string, args ...any) error {
	text, err := encode(doc)
	if err != nil {
		return err
	}
	if done, err := o.structured(w, text); done || o.quiet {
		return err
	}
	_, err = fmt.Fprintln(w, printable(fmt.Sprintf(format, args...)))
	return err
}

// encode is JSON as the API writes it: without escapes for HTML.
func encode(doc any) ([]byte, error) {
	if raw, ok := doc.(json.RawMessage); ok {
		return raw, nil
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(doc)
	return bytes.TrimSpace(out.Bytes()), err
}

// decode reads JSON with numbers as they are spelled.
func decode(doc []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, errorf(ExitUnreachable, "the answer is not JSON: is it a Trireme node?")
	}
	return v, nil
}

type member struct {
	name  string
	value any
}

// ordered are the members of a JSON object in their order.
func ordered(doc []byte) ([]member, error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errorf(ExitUnreachable, "the answer is not a JSON object: is it a Trireme node?")
	}
	var all []member
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, err
		}
		value, err := decode(raw)
		if err != nil {
			return nil, err
		}
		all = append(all, member{name.(string), value})
	}
	return all, nil
}
