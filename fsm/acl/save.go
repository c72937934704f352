package acl

import (
	"fmt"

	"trireme/fsm/wire"
)

// encode writes a user; of a built-in one only what distinguishes it from those of other
// databases. The order of the fields never changes; new ones are appended.
func (u *User) encode(w *wire.Writer) {
	w.String(u.Name)
	w.Bool(u.enabled)
	w.Uvarint(u.noPass)
	w.Uvarint(uint64(len(u.credentials)))
	for i := range u.credentials {
		w.Fixed(u.credentials[i].digest[:])
		w.Uvarint(u.credentials[i].number)
	}
	root := u.root
	if u.Builtin() {
		root = selector{}
	}
	w.Record(root.encode)
	w.Uvarint(uint64(len(u.more)))
	for i := range u.more {
		w.Record(u.more[i].encode)
	}
}

func decodeUser(record []byte) (*User, error) {
	r := wire.NewReader(record)
	u := &User{Name: r.String(), enabled: r.Bool(), noPass: r.Uvarint()}
	u.credentials = make([]credential, r.Count(33))
	for i := range u.credentials {
		copy(u.credentials[i].digest[:], r.Fixed(len(Digest{})))
		u.credentials[i].number = r.Uvarint()
	}
	err := u.root.decode(r.Record())
	u.more = make([]selector, r.Count(1))
	for i := range u.more {
		if e := u.more[i].decode(r.Record()); err == nil {
			err = e
		}
	}
	if err == nil {
		err = r.Done()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUser, err)
	}
	return u, nil
}

func (s *selector) encode(w *wire.Writer) {
	w.Bool(s.all)
	encodeStrings(w, s.rules)
	w.Bool(s.allKeys)
	w.Uvarint(uint64(len(s.keys)))
	for _, k := range s.keys {
		w.String(k.pattern)
		w.Uvarint(uint64(k.access))
	}
	w.Bool(s.allChannels)
	encodeStrings(w, s.channels)
}

func (s *selector) decode(r *wire.Reader) error {
	s.all, s.rules, s.allKeys = r.Bool(), decodeStrings(r), r.Bool()
	s.keys = make([]keyPattern, r.Count(2))
	for i := range s.keys {
		s.keys[i] = keyPattern{r.String(), Access(r.Uvarint())}
	}
	s.allChannels, s.channels = r.Bool(), decodeStrings(r)
	for _, rule := range s.rules {
		if len(rule) < 2 || (rule[0] != '+' && rule[0] != '-') {
			return fmt.Errorf("rule %.40q", rule)
		}
	}
	return r.Done()
}

func encodeStrings(w *wire.Writer, list []string) {
	w.Uvarint(uint64(len(list)))
	for _, s := range list {
		w.String(s)
	}
}

func decodeStrings(r *wire.Reader) []string {
	list := make([]string, r.Count(1))
	for i := range list {
		list[i] = r.String()
	}
	return list
}
