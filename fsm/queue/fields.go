package queue

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/wire"
)

// Field is one line of a header. Repeated names keep all their values, in order.
type Field struct{ Name, Value string }

// Fields codes the value in its wire format. Decoded texts alias the input.
func (f *Field) Fields(c *wire.Codec) {
	c.Text(&f.Name)
	c.Text(&f.Value)
}

// Value is the first value of a name in a header, in any case of letters.
func Value(header []Field, name string) string {
	for _, f := range header {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// Values returns all values of a header, in order.
func Values(header []Field, name string) (all []string) {
	for _, f := range header {
		if strings.EqualFold(f.Name, name) {
			all = append(all, f.Value)
		}
	}
	return all
}

func headerSize(header []Field) (n int64) {
	for _, f := range header {
		n += int64(len(f.Name) + len(f.Value) + 32)
	}
	return n
}
