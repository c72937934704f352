package acl

import (
	"fmt"
	"slices"

	"github.com/trireme-dev/trireme/fsm/wire"
)

// Fields are those of the format; of a built-in user only what distinguishes it from those of
// other databases.
func (u *User) Fields(c *wire.Codec) {
	c.String(&u.Name)
	c.Bool(&u.enabled)
	c.Uvarint(&u.noPass)
	wire.List(c, &u.credentials, 33)
	root := u.root
	if u.Builtin() && !c.Reading() {
		root = selector{}
	}
	c.Record(root.Fields)
	if c.Reading() {
		u.root = root
	}
	wire.Records(c, &u.more)
	if c.More(slices.ContainsFunc(u.credentials, func(n credential) bool { return n.salt != Salt{} })) {
		for i := range u.credentials {
			c.Fixed(u.credentials[i].salt[:])
		}
	}
}

// Fields codes the value in its wire format.
func (cr *credential) Fields(c *wire.Codec) {
	c.Fixed(cr.digest[:])
	c.Uvarint(&cr.number)
}

func decodeUser(record []byte) (*User, error) {
	u := &User{}
	if err := wire.Unmarshal(record, u); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUser, err)
	}
	return u, nil
}

// Fields codes the value in its wire format.
func (s *selector) Fields(c *wire.Codec) {
	c.Bool(&s.all)
	wire.Each(c, &s.rules, (*wire.Codec).String)
	c.Bool(&s.allKeys)
	wire.List(c, &s.keys, 2)
	c.Bool(&s.allChannels)
	wire.Each(c, &s.channels, (*wire.Codec).String)
	for _, rule := range s.rules {
		if c.Reading() && (len(rule) < 2 || (rule[0] != '+' && rule[0] != '-')) {
			c.Fail(fmt.Errorf("rule %.40q", rule))
		}
	}
}

// Fields codes the value in its wire format.
func (kp *keyPattern) Fields(c *wire.Codec) {
	c.String(&kp.pattern)
	wire.Uint(c, &kp.access)
}
