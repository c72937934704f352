package search

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/jsondoc"
)

// Lookup is the value at a dot path of a JSON document, nil if there is none. A member whose whole name is the path goes
// before a path of members.
func Lookup(v jsondoc.Value, path string) jsondoc.Value {
	for {
		o, ok := v.(*jsondoc.Object)
		if !ok {
			return nil
		}
		if found, ok := o.Get(path); ok {
			return found
		}
		head, rest, more := strings.Cut(path, ".")
		if !more {
			return nil
		}
		if v, ok = o.Get(head); !ok {
			return nil
		}
		path = rest
	}
}
