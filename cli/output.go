package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/trireme-dev/trireme/fsm/jsondoc"
)

// output holds the flags that select a command's output, and where it goes.
type output struct {
	format  string
	quiet   bool
	byName  bool          // --output name
	line    bool          // --json: as --output json, in one line, as the answer came
	path    *jsondoc.Path // of asPath
	color   string
	noPager bool
	to      terminal
}

func (o *output) flags(f *pflag.FlagSet) {
	f.StringVarP(&o.format, "output", "o", asTable, "`FORMAT` of the output: table, wide, json, yaml, csv, name or jsonpath=PATH")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print only the names of lists, and nothing for actions")
	f.StringVar(&o.color, "color", "auto", "colour: `WHEN` is auto (on a terminal), always or never")
	f.BoolVar(&o.noPager, "no-pager", false, "print long output as it is, instead of in TRIREME_PAGER, PAGER or less")
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

// rows prints a list. Quiet prints the names.
func (o *output) rows(w io.Writer, doc []byte, items []any, columns []column) error {
	if done, err := o.structured(w, doc); done {
		return err
	}
	switch {
	case o.quiet:
		return o.names(w, items, nameOf(columns))
	case o.format == asCSV:
		return writeCSV(w, items, o.shown(columns), true)
	}
	return o.table(w, items, o.shown(columns))
}

// names prints the name of each item in a line of its own.
func (o *output) names(w io.Writer, items []any, named column) error {
	for _, item := range items {
		if _, err := fmt.Fprintln(w, named.cell(item)); err != nil {
			return err
		}
	}
	return nil
}

// fields prints one thing, a line for each of its members in their order; in CSV a column for each. Quiet prints the member of that
// name alone.
func (o *output) fields(w io.Writer, doc []byte, quiet string) error {
	if done, err := o.structured(w, doc); done {
		return err
	}
	members, err := ordered(doc)
	if err != nil {
		return err
	}
	columns, item, lines := make([]column, len(members)), map[string]any{}, [][]text{}
	for i, m := range members {
		columns[i] = column{title: spaced(m.name), member: m.name, form: formOf(m.name)}
		item[m.name] = m.value
		lines = append(lines, []text{{columns[i].title, dim}, {columns[i].form.show(m.value), plainStyle}})
	}
	switch {
	case o.quiet && item[quiet] == nil:
		return nil
	case o.quiet:
		_, err = fmt.Fprintln(w, plain(item[quiet]))
		return err
	case o.format == asCSV:
		return writeCSV(w, []any{item}, columns, true)
	}
	return o.align(w, lines)
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
	if o.format == asCSV {
		return o.fields(w, text, "")
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
