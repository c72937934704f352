package fsm

import (
	"sync/atomic"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// MaxUses is the number of uses of keys that a node remembers for the leader: later ones replace earlier ones.
const MaxUses = 1024

// A Use says that a node has served a read of a key, at a time in unix milliseconds.
type Use struct {
	Database, Key string
	At            int64
}

// Fields codes the value in its wire format.
func (u *Use) Fields(c *wire.Codec) {
	c.String(&u.Database)
	c.String(&u.Key)
	c.Varint(&u.At)
}

// Uses reports one node's reads of keys to the leader.
type Uses struct{ List []Use }

// Fields codes the value in its wire format.
func (u *Uses) Fields(c *wire.Codec) { wire.Records(c, &u.List) }

// uses remembers the last uses without a lock.
type uses struct {
	next  atomic.Uint64
	slots [MaxUses]atomic.Pointer[Use]
}

// pressure holds a machine's memory use and its recent uses of keys. It is read without the machine's lock.
type pressure struct {
	used       atomic.Int64 // logical memory in bytes, while keys may be evicted
	evictAbove atomic.Int64 // the memory limit while keys may be evicted, 0 otherwise
	evictOwn   atomic.Bool  // whether a database evicts keys for a limit of its own
	nearOwn    atomic.Bool  // whether one of these is near it
	uses       uses
	noting     atomic.Bool // whether reads are noted there
}

// note remembers that a read has used a key. Of reads of one key within 64 ms it is called once.
func (u *uses) note(e *env.Env, key []byte) {
	u.slots[u.next.Add(1)%MaxUses].Store(&Use{e.Database, string(key), e.Now})
}

// NoteUses has this node remember which keys its reads use, or not. It is for followers while keys may be evicted.
func (m *Machine) NoteUses(on bool) { m.noting.Store(on) }

// TakeUses returns the uses that were noted since the last call, as far as they were remembered.
func (m *Machine) TakeUses() (n Uses) {
	for i := range m.uses.slots {
		if u := m.uses.slots[i].Swap(nil); u != nil {
			n.List = append(n.List, *u)
		}
	}
	return n
}

// MarkUsed takes the uses that another node has reported, at time now, for Pick. It does not change the state.
func (m *Machine) MarkUsed(n Uses, now int64, seed [16]byte) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	e := env.New(m.index, 0, m.state.level, seed, 0)
	e.ReadOnly = true
	for i := range n.List {
		u := &n.List[i]
		if d := m.state.database(u.Database); d != nil {
			e.Now, e.Counting = min(u.At, now), m.state.policy(d).Counts()
			d.keys.Find(e, []byte(u.Key))
		}
	}
}
