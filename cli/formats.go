package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/jsondoc"
)

// The forms of --output.
const (
	asTable = "table"
	asWide  = "wide" // a table with all columns and whole texts
	asJSON  = "json"
	asYAML  = "yaml"
	asCSV   = "csv"
	asName  = "name"
	asPath  = "jsonpath=" // and a path of JSONPath
)

var formats = []string{asTable, asWide, asJSON, asYAML, asCSV, asName, asPath}

// check refuses what --output can't be. A form that is the same as another option becomes that.
func (o *output) check() (err error) {
	if text, is := strings.CutPrefix(o.format, asPath); is {
		if o.path, err = jsondoc.ParsePath(text); err != nil {
			return Usagef("--output jsonpath: %v, got %q (such as jsonpath=$.messages[*].messageId)", err, text)
		}
		return nil
	}
	if !slices.Contains(formats[:len(formats)-1], o.format) {
		return Usagef("--output must be %s or jsonpath=PATH, got %q%s", strings.Join(formats[:len(formats)-1], ", "), o.format,
			didYouMean("", nearest(o.format, formats)))
	}
	if o.format == asName {
		o.format, o.quiet, o.byName = asTable, true, true
	}
	if !slices.Contains(colors, o.color) {
		return Usagef("--color must be %s, got %q%s", listed(colors), o.color, didYouMean("", nearest(o.color, colors)))
	}
	return nil
}

// forPeople reports whether the output is a table or a page, and not a form for programs or names alone.
func (o *output) forPeople() bool {
	return (o.format == asTable || o.format == asWide) && !o.line && !o.quiet && o.path == nil
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
