package channel

import (
	"errors"

	"github.com/trireme-dev/trireme/fsm/wire"
)

// errRecord says that a saved record names no kind, or is out of order.
var errRecord = errors.New("channel: malformed record")

// Save returns the book as records: of each session its hub and what it subscribes to.
func (b *Book) Save(record func([]byte) error) error {
	for _, h := range b.hubs {
		var w wire.Writer
		w.Uvarint(h.session)
		w.Uvarint(h.id)
		refs := b.of(h.session)
		w.Uvarint(uint64(len(refs)))
		for _, r := range refs {
			n, _ := b.shares.Get(share{h.session, r})
			w.Put(&r)
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
		r.Get(&ref)
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

// Fields codes the value in its wire format.
func (r *Ref) Fields(c *wire.Codec) {
	c.String(&r.DB)
	wire.Enum(c, &r.Kind, kinds)
	c.String(&r.Name)
}
