package dedup

import (
	"errors"

	"github.com/trireme-dev/trireme/fsm/wire"
)

// ErrRecord says that a saved record is damaged.
var ErrRecord = errors.New("dedup: malformed record")

// Save emits every record in the order of their ends; equal tables give equal bytes.
func (t *Table) Save(emit func(record []byte) error) (err error) {
	t.dues.All(func(d due, _ struct{}) bool {
		r, _ := t.records.Get(d.key)
		var w wire.Writer
		w.String(d.key.Scope)
		w.String(d.key.ID)
		w.Varint(r.Expire)
		w.Fixed(r.Hash[:])
		w.Bool(r.Kept)
		w.Bytes(r.Reply)
		err = emit(w.B)
		return err == nil
	})
	return err
}

// Load adds a record that Save emitted; it copies what it keeps.
func (t *Table) Load(record []byte) error {
	in := wire.NewReader(record)
	k := Key{Scope: in.String(), ID: in.String()}
	r := &Record{Expire: in.Varint()}
	copy(r.Hash[:], in.Fixed(len(r.Hash)))
	r.Kept = in.Bool()
	r.Reply = append([]byte(nil), in.Bytes()...)
	if err := in.Done(); err != nil {
		return err
	}
	if _, twice := t.records.Get(k); twice || r.Expire <= 0 {
		return ErrRecord
	}
	t.add(k, r)
	return nil
}
