package cli

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/trireme-dev/trireme/fsm/jsondoc"
)

// The forms of --output.
const (
	asTable = "table"
	asJSON  = "json"
	asYAML  = "yaml"
	asCSV   = "csv"
	asName  = "name"
	asPath  = "jsonpath=" // and a path of JSONPath
)

var formats = []string{asTable, asJSON, asYAML, asCSV, asName, asPath}

// check refuses what --output can't be. A form that is the same as another option becomes that.
func (o *output) check() (err error) {
	if text, is := strings.CutPrefix(o.format, asPath); is {
		if o.path, err = jsondoc.ParsePath(text); err != nil {
			return Usagef("--output jsonpath: %v, got %q (such as jsonpath=$.messages[*].messageId)", err, text)
		}
		return nil
	}
	if !slices.Contains(formats, o.format) {
		return Usagef("--output must be %s or jsonpath=PATH, got %q", strings.Join(formats[:len(formats)-1], ", "), o.format)
	}
	if o.format == asName {
		o.format, o.quiet = asTable, true
	}
	return nil
}

// lines prints cells: in columns for people, or as CSV.
func (o *output) lines(w io.Writer, lines [][]string) error {
	if o.format == asCSV {
		return csv.NewWriter(w).WriteAll(lines)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, cells := range lines {
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	return t.Flush()
}

// writeMatches prints what a path leads to in a document, each in a line: a text as it is, but for what could control the terminal.
func writeMatches(w io.Writer, doc []byte, path *jsondoc.Path) error {
	root, err := jsondoc.Parse(doc)
	if err != nil {
		return errorf(ExitUnreachable, "the answer is not JSON: is it a Trireme node?")
	}
	found, err := jsondoc.Find(root, path, jsondoc.NewWork())
	if err != nil {
		return fmt.Errorf("--output jsonpath: %w", err)
	}
	for _, m := range found {
		text := ""
		if s, is := m.Value.(jsondoc.String); is {
			text = string(s)
		} else if text, err = jsondoc.Text(m.Value); err != nil {
			return fmt.Errorf("--output jsonpath: %w", err)
		}
		if _, err := fmt.Fprintln(w, printable(text)); err != nil {
			return err
		}
	}
	return nil
}
