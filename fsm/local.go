package fsm

import "github.com/trireme-dev/trireme/fsm/env"

// local is a machine's node as its requests see it: what the owner has given as Hooks, and what the machine itself was asked for.
type local struct{ m *Machine }

var _ env.Node = local{}

// Tracking reports whether somebody tracks or follows keys, see Machine.Track and Hooks.
func (l local) Tracking() bool {
	return l.m.trackers.Load() > 0 || l.m.Hooks.Followed != nil && l.m.Hooks.Followed()
}

// Monitored is Hooks.Monitored.
func (l local) Monitored() bool { return l.m.Hooks.Monitored != nil && l.m.Hooks.Monitored() }

// Used remembers the use for TakeUses while uses are noted, see Machine.NoteUses.
func (l local) Used(e *env.Env, key []byte) {
	if l.m.noting.Load() {
		l.m.uses.note(e, key)
	}
}

// Secret is Hooks.Random.
func (l local) Secret(b []byte) bool {
	if l.m.Hooks.Random == nil {
		return false
	}
	l.m.Hooks.Random(b)
	return true
}

// Yield is Hooks.Yield.
func (l local) Yield() {
	if l.m.Hooks.Yield != nil {
		l.m.Hooks.Yield()
	}
}

// Large is Hooks.Large.
func (l local) Large() {
	if l.m.Hooks.Large != nil {
		l.m.Hooks.Large()
	}
}
