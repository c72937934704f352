package fsm

import (
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// Watch are keys as a client saw them, on which its transaction depends. The apply looks
// at them again, so that nothing can come between. docs/design/watch.md has the argument.
type Watch struct {
	// Epoch and Database tell a state that was restored from a backup, and a database that
	// was made anew, from the one that was seen.
	Epoch, Database uint64
	Keys            []WatchedKey
}

// WatchedKey is a key and what was seen of it.
type WatchedKey struct {
	Key []byte
	keyspace.Mark
}

// Fields codes the value in its wire format.
func (k *WatchedKey) Fields(c *wire.Codec) {
	c.Bytes(&k.Key)
	c.Uvarint(&k.Version)
	c.Uvarint(&k.Seen)
	c.Varint(&k.Now)
}

// Fields codes the value in its wire format.
func (w *Watch) Fields(c *wire.Codec) {
	if !c.More(len(w.Keys) > 0) {
		return
	}
	c.Uvarint(&w.Epoch)
	c.Uvarint(&w.Database)
	wire.List(c, &w.Keys, 1)
}

// Watch adds keys of the identity's database, as they are, to those that are watched
// already; of a key that is watched already nothing changes. The keys are copied. It is
// false if the identity is not valid.
func (v *View) Watch(as acl.Identity, to *Watch, keys [][]byte) bool {
	d, user := v.s.resolve(&as)
	if user == nil {
		return false
	}
	if len(to.Keys) > 0 && (to.Epoch != v.s.epoch || to.Database != d.id) {
		return true // what is watched has changed, and stays so
	}
	to.Epoch, to.Database = v.s.epoch, d.id
	known := make(map[string]bool, len(to.Keys))
	for i := range to.Keys {
		known[string(to.Keys[i].Key)] = true
	}
	for _, key := range keys {
		if !known[string(key)] {
			known[string(key)] = true
			to.Keys = append(to.Keys, WatchedKey{append([]byte(nil), key...), d.keys.Mark(&v.e, key)})
		}
	}
	return true
}

// Unchanged reports whether all watched keys are as they were seen.
func (v *View) Unchanged(as acl.Identity, n *Watch) bool { return v.s.unchanged(&v.e, &as, n) }

func (s *State) unchanged(e *env.Env, as *acl.Identity, n *Watch) bool {
	if len(n.Keys) == 0 {
		return true
	}
	d := s.database(as.DB)
	if d == nil || n.Epoch != s.epoch || n.Database != d.id {
		return false
	}
	for i := range n.Keys {
		if !d.keys.Same(e, n.Keys[i].Key, n.Keys[i].Mark) {
			return false
		}
	}
	return true
}

// Host describes this node and its machine; it is nil until the node has set it.
func (v *View) Host() *command.Host { return v.host }
