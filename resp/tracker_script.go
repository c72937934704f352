package resp

import "github.com/trireme-dev/trireme/fsm/env"

// trackedScript is a script of a tracking connection, from before it is sent to the log until this node has
// applied it and its answer is known. As in Redis, the keys that it declares are tracked from its first
// read on, and a script that only writes tracks none. Whether it reads is known only afterwards, so the
// changes of its keys are recorded meanwhile and replayed then.
type trackedScript struct {
	row      int             // of its request
	keys     map[string]bool // that it declares
	by       origin          // once answered
	answered bool
	lost     bool // its outcome is unknown
	events   []scriptEvent
}

// scriptEvent is a change of a key of a declared script, or a read or the end of a script.
type scriptEvent struct {
	kind     env.NotificationKind
	key      string // touched
	row      int
	by       origin
	reported bool // to its connection, which held the key anyway
}

// maxScriptEvents bounds the events that are kept for one script, and maxDeclared the scripts of a
// connection. Beyond them a script is taken to have read at its begin.
const (
	maxScriptEvents = 10_000
	maxDeclared     = 1_000
)

// trackScript is trackKeys for a script that goes through the log.
func (tr *tracker) trackScript(t *tracked, row int, keys []string) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.becomeBusy(t)
	if len(keys) == 0 {
		return
	}
	d := &trackedScript{row: row, keys: map[string]bool{}}
	for _, key := range keys {
		d.keys[key] = true
	}
	if len(t.scripts) >= maxDeclared {
		tr.assumeRead(t, t.scripts[0])
	}
	t.scripts = append(t.scripts, d)
	tr.scripts++
}

// answered assigns the request by to the scripts of a connection that have no answer yet. If by is zero they
// did not run. lost means that their outcome is unknown.
func (tr *tracker) answered(t *tracked, by origin, lost bool) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if len(t.scripts) == 0 {
		return
	}
	tr.drain()
	for i := 0; i < len(t.scripts); {
		d := t.scripts[i]
		switch {
		case d.answered:
			i++
		case lost:
			tr.assumeRead(t, d)
		case by.index == 0:
			tr.drop(t, d)
		default:
			d.by, d.answered = by, true
			if !tr.finish(t, d) {
				i++
			}
		}
	}
}

// recordForScripts records a notification for the scripts under way that it concerns.
func (tr *tracker) recordForScripts(n *env.Notification) {
	by := origin{n.Index, n.Place}
	for t := range tr.conns { // unordered: each by itself
		if t.db != n.DB {
			continue
		}
		for i := 0; i < len(t.scripts); {
			if d := t.scripts[i]; !tr.record(t, d, n, by) {
				i++
			}
		}
	}
}

// record adds a notification to the events of a script if it concerns the script, and reports whether the script has ended.
func (tr *tracker) record(t *tracked, d *trackedScript, n *env.Notification, by origin) (ended bool) {
	e := scriptEvent{kind: n.Kind, by: by, row: int(n.Serial)}
	switch n.Kind {
	case env.KeyTouched:
		if !d.keys[n.Channel] {
			return false
		}
		e.key = n.Channel
		_, e.reported = tr.keys[dbKey{n.DB, n.Channel}][t]
	case env.ScriptRead, env.ScriptEnded:
		if d.answered && (d.by != by || d.row != e.row) {
			return false
		}
	}
	d.events = append(d.events, e)
	if len(d.events) > maxScriptEvents {
		tr.assumeRead(t, d)
		return true
	}
	return d.answered && n.Kind == env.ScriptEnded && tr.finish(t, d)
}

// finish replays the recorded events if this node has applied the script, and reports whether it
// has.
func (tr *tracker) finish(t *tracked, d *trackedScript) bool {
	tracked := map[string]bool{}
	ended := false
	for _, e := range d.events {
		own := e.by == d.by && e.row == d.row
		switch {
		case e.kind == env.ScriptRead && own:
			for key := range d.keys { // unordered: a set
				tracked[key] = true
			}
		case e.kind == env.ScriptEnded && own:
			ended = true
		case e.kind == env.KeyTouched && tracked[e.key]:
			delete(tracked, e.key)
			if !e.reported && !tr.isOwn(t, e.by) {
				t.pending = append(t.pending, change{key: e.key, by: e.by})
			}
		case e.kind == env.Flushed || e.kind == env.Deleted:
			clear(tracked)
		}
	}
	if !ended {
		return false
	}
	tr.drop(t, d)
	for key := range tracked { // unordered: a set
		tr.hold(dbKey{t.db, key}, t)
	}
	return true
}

// assumeRead ends a script as if it had read its keys at its begin and at its end, so no client keeps an
// old copy.
func (tr *tracker) assumeRead(t *tracked, d *trackedScript) {
	tr.drop(t, d)
	for _, e := range d.events {
		if e.kind == env.KeyTouched && !e.reported {
			t.pending = append(t.pending, change{key: e.key, by: e.by})
		}
	}
	for key := range d.keys { // unordered: a set
		tr.hold(dbKey{t.db, key}, t)
	}
}

// drop ends a script that tracks nothing.
func (tr *tracker) drop(t *tracked, d *trackedScript) {
	for i, other := range t.scripts {
		if other == d {
			t.scripts = append(t.scripts[:i:i], t.scripts[i+1:]...)
			tr.scripts--
			return
		}
	}
}

// forgetScripts ends the scripts of a connection that tracks no more.
func (tr *tracker) forgetScripts(t *tracked) {
	tr.scripts -= len(t.scripts)
	t.scripts = nil
}
