package keyspace

import (
	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// Document is the container of a JSON document.
type Document struct {
	Owned
	jsondoc.Tree
}

// NewDocument is the container of that value.
func NewDocument(root jsondoc.Value) *Document { return &Document{Tree: jsondoc.NewTree(root)} }

// Type is JSON.
func (*Document) Type() Type { return JSON }

// Clone copies the document in constant time.
func (d *Document) Clone() Container { return &Document{Tree: d.Tree.Clone()} }

// Encode writes the document with its members in order.
func (d *Document) Encode(w *wire.Writer) { jsondoc.Encode(w, d.Root()) }

func decodeDocument(r *wire.Reader) (Container, bool) {
	root, ok := jsondoc.Decode(r)
	if !ok {
		return nil, false
	}
	return NewDocument(root), true
}
