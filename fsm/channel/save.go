package channel

import (
	"errors"

	"trireme/fsm/wire"
)

// errRecord says that a saved record names no kind, or is out of order.
var errRecord = errors.New("channel: malformed record")

// Save gives the book as records: of each session its hub and what it subscribes to.
func (b *Book) Save(record func([]byte) error) error {
	for _, h := range b.hubs {
		var w wire.Writer
		w.Uvarint(h.session)
		w.Uvarint(h.id)
		refs := b.of(h.session)
		w.Uvarint(uint64(len(refs)))
		for _, r := range refs {
			n, _ := b.shares.Get(share{h.session, r})
			r.Encode(&w)
			w.Uvarint(uint64(n))
		}
		if err := record(w.B); err != nil {
			return err
		}
	}
	return nil
}

// Load takes in a record of Save. Records come in their order.
func (b *Book) Load(record []byte) error {
	r := wire.NewReader(record)
	h := hub{r.Uvarint(), r.Uvarint()}
	if n := len(b.hubs); n > 0 && b.hubs[n-1].session >= h.session {
		return errRecord
	}
	b.hubs = append(b.hubs, h)
	for range r.Count(4) {
		var ref Ref
		ref.Decode(r)
		n := int64(r.Uvarint())
		if r.Err() != nil {
			return r.Err()
		}
		if !ref.Kind.Valid() || n <= 0 {
			return errRecord
		}
		b.Set(h.session, ref, n)
	}
	return r.Done()
}

// Encode writes the fields.
func (r *Ref) Encode(w *wire.Writer) { w.String(r.DB); w.Uvarint(uint64(r.Kind)); w.String(r.Name) }

// Decode reads the fields. A kind that does not exist decodes to one that is not valid.
func (r *Ref) Decode(d *wire.Reader) {
	r.DB = d.String()
	r.Kind = Kind(min(d.Uvarint(), uint64(kinds)))
	r.Name = d.String()
}
