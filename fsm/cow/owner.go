package cow

import "sync/atomic"

// owner marks the nodes that one version of a tree may change in place, until a snapshot of that version is taken. Taking one writes
// nothing but this, so that several goroutines may fork what nobody changes.
type owner struct{ shared atomic.Bool }

// share ends the right to change nodes of that owner, which may be nil.
func (o *owner) share() {
	if o != nil && !o.shared.Load() {
		o.shared.Store(true)
	}
}

// current returns the owner under which a version may change nodes: its own, or a new one if that has ended.
func (o *owner) current() *owner {
	if o == nil || o.shared.Load() {
		return new(owner)
	}
	return o
}
