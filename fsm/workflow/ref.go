package workflow

import "github.com/trireme-dev/trireme/fsm/wire"

// RefKind says what a message of a run delivers. Numbers are in snapshots.
type RefKind uint8

// The kinds of deliveries.
const (
	// DeliverEntry: an entry of the log, to the endpoint or, of a call, to the third party.
	DeliverEntry RefKind = iota + 1
	// DeliverFailure: the failure callback of the run.
	DeliverFailure
)

// Ref says in the Content of a message what the message delivers.
type Ref struct {
	Kind RefKind
	// Run is the run's number, Pos the place of the entry.
	Run uint64
	Pos uint32
}

// Bytes is its form in Content.Run.
func (r Ref) Bytes() []byte {
	var w wire.Writer
	w.Uvarint(uint64(r.Kind))
	w.Uvarint(r.Run)
	w.Uvarint(uint64(r.Pos))
	return w.B
}

// ParseRef reads what Bytes wrote; false for anything else.
func ParseRef(b []byte) (Ref, bool) {
	r := wire.NewReader(b)
	n := Ref{RefKind(r.Uvarint()), r.Uvarint(), uint32(r.Uvarint())}
	return n, r.Done() == nil && (n.Kind == DeliverEntry || n.Kind == DeliverFailure)
}
