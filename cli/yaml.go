package cli

import (
	"bytes"
	"encoding/json"
	"io"

	"go.yaml.in/yaml/v3"
)

// writeYAML prints a JSON document as YAML, members in their order.
func writeYAML(w io.Writer, doc []byte) error {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	node, err := yamlNode(d)
	if err != nil {
		return errorf(ExitUnreachable, "the answer is not JSON: is it a Trireme node?")
	}
	e := yaml.NewEncoder(w)
	e.SetIndent(2)
	if err := e.Encode(node); err != nil {
		return err
	}
	return e.Close()
}

// yamlNode reads one value.
func yamlNode(d *json.Decoder) (*yaml.Node, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	n := &yaml.Node{}
	switch t := t.(type) {
	case json.Delim:
		n.Kind = yaml.SequenceNode
		if t == '{' {
			n.Kind = yaml.MappingNode
		}
		for d.More() { // names and values alike are tokens
			child, err := yamlNode(d)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, child)
		}
		if len(n.Content) == 0 {
			n.Style = yaml.FlowStyle
		}
		_, err = d.Token()
		return n, err
	case json.Number:
		n.Kind, n.Value, n.Tag = yaml.ScalarNode, t.String(), "!!int"
		if _, err := t.Int64(); err != nil {
			n.Tag = "!!float"
		}
		return n, nil
	}
	return n, n.Encode(t)
}
