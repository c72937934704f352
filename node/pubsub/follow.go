package pubsub

import (
	"sync/atomic"

	"github.com/trireme-dev/trireme/fsm/env"
)

// Follower waits for changes of one key. It is told that there may be one, and looks itself: changes that come fast are one.
type Follower struct {
	h    *Hub
	key  followed
	wake chan struct{}
	why  atomic.Pointer[error]
}

// followed is a key of a database.
type followed struct{ db, key string }

// follows are the followers of a node, by key.
type follows struct {
	count atomic.Int64
	byKey map[followed]map[*Follower]struct{} // guarded by the hub
}

// Following reports whether a key is followed: then applies tell which keys they change (see fsm.Hooks).
func (h *Hub) Following() bool { return h.follows.count.Load() > 0 }

// Follow waits for changes of a key from now on. Close ends it.
func (h *Hub) Follow(db, key string) *Follower {
	f := &Follower{h: h, key: followed{db, key}, wake: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		f.end(ErrClosed)
		return f
	}
	if h.follows.byKey == nil {
		h.follows.byKey = map[followed]map[*Follower]struct{}{}
	}
	if h.follows.byKey[f.key] == nil {
		h.follows.byKey[f.key] = map[*Follower]struct{}{}
	}
	h.follows.byKey[f.key][f] = struct{}{}
	h.follows.count.Add(1)
	return f
}

// Close ends the waiting.
func (f *Follower) Close() {
	f.h.mu.Lock()
	defer f.h.mu.Unlock()
	of := f.h.follows.byKey[f.key]
	if _, is := of[f]; !is {
		return
	}
	if delete(of, f); len(of) == 0 {
		delete(f.h.follows.byKey, f.key)
	}
	f.h.follows.count.Add(-1)
}

// Wake is ready when the key may have changed, or Err has something to say.
func (f *Follower) Wake() <-chan struct{} { return f.wake }

// Again makes Wake ready once more, for a follower that has not looked at everything.
func (f *Follower) Again() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Err says why nothing more comes, nil while something may: ErrDeleted, ErrClosed.
func (f *Follower) Err() error {
	if why := f.why.Load(); why != nil {
		return *why
	}
	return nil
}

func (f *Follower) end(why error) {
	f.why.CompareAndSwap(nil, &why)
	f.Again()
}

// tell wakes the followers that a notification is about; the hub is locked.
func (fo *follows) tell(n *env.Notification) {
	switch n.Kind {
	case env.KeyTouched:
		for f := range fo.byKey[followed{n.DB, n.Channel}] { // unordered: each is treated alike
			f.Again()
		}
	case env.Flushed:
		fo.each(func(f *Follower) {
			if f.key.db == n.DB {
				f.Again()
			}
		})
	case env.Deleted:
		fo.each(func(f *Follower) {
			if f.key.db == n.DB {
				f.end(ErrDeleted)
			}
		})
	}
}

func (fo *follows) each(do func(*Follower)) {
	for _, of := range fo.byKey { // unordered: each is treated alike
		for f := range of {
			do(f)
		}
	}
}
