package fsm

import (
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/wire"
)

// session remembers which requests of one node process were applied: below the low-water mark all
// that ever will be, and above it the set.
type session struct {
	id         uint64 // index of the registration
	node, disk string
	boot       uint64
	resp       string // where clients reach its RESP port
	lowWater   uint64
	base       uint64   // first sequence of bits, a multiple of 64
	bits       []uint64 // sequences applied, from base on
}

// maxWindow bounds how far above its low-water mark a session may apply. It is far more than one
// node can have in flight.
const maxWindow = 1 << 26

// has reports whether seq was applied; seq is not below the low-water mark.
func (s *session) has(seq uint64) bool {
	i := (seq - s.base) / 64
	return i < uint64(len(s.bits)) && s.bits[i]&(1<<(seq%64)) != 0
}

// add records seq as applied.
func (s *session) add(seq uint64) {
	i := (seq - s.base) / 64
	for uint64(len(s.bits)) <= i {
		s.bits = append(s.bits, 0)
	}
	s.bits[i] |= 1 << (seq % 64)
}

// raise forgets what is below the new low-water mark.
func (s *session) raise(lowWater uint64) {
	if lowWater <= s.lowWater {
		return
	}
	s.lowWater = lowWater
	base := lowWater &^ 63
	if drop := (base - s.base) / 64; drop < uint64(len(s.bits)) {
		s.bits = s.bits[drop:]
	} else {
		s.bits = nil
	}
	s.base = base
}

// sessions are the sessions of all nodes, in the order of node ids.
type sessions []*session

func (s sessions) find(id uint64) *session {
	for _, c := range s {
		if c.id == id {
			return c
		}
	}
	return nil
}

func (s sessions) place(node string) (int, bool) {
	return slices.BinarySearchFunc(s, node, func(c *session, node string) int { return strings.Compare(c.node, node) })
}

// register opens a session for a node process, in place of the node's older one. A
// registration of an earlier boot of the same disk changes nothing and returns 0: it is
// the late message of a process that has died.
func (s *sessions) register(id uint64, g Registration) uint64 {
	i, found := s.place(g.Node)
	if found && (*s)[i].disk == g.Disk && g.Boot < (*s)[i].boot {
		return 0
	}
	c := &session{id: id, node: g.Node, disk: g.Disk, boot: g.Boot, resp: g.RESP}
	if found {
		(*s)[i] = c
	} else {
		*s = slices.Insert(*s, i, c)
	}
	return id
}

// fork copies the sessions: their size depends on the requests in flight only.
func (s sessions) fork() sessions {
	f := make(sessions, len(s))
	for i, c := range s {
		d := *c
		d.bits = slices.Clone(c.bits)
		f[i] = &d
	}
	return f
}

// Fields codes the value in its wire format.
func (s *session) Fields(c *wire.Codec) {
	c.Uvarint(&s.id)
	c.String(&s.node)
	c.String(&s.disk)
	c.Uvarint(&s.boot)
	c.Uvarint(&s.lowWater)
	bits := s.applied()
	wire.Each(c, &bits, (*wire.Codec).Uvarint)
	if c.Reading() {
		s.base, s.bits = s.lowWater&^63, bits
	}
	c.String(&s.resp)
}

// applied is bits without the zeros at its end, so that equal sessions have equal bytes.
func (s *session) applied() []uint64 {
	bits := s.bits
	for len(bits) > 0 && bits[len(bits)-1] == 0 {
		bits = bits[:len(bits)-1]
	}
	return bits
}
