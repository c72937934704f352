package command

import (
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// Triggers are set off by keyspace events, in the entry that makes the change; docs/design/triggers.md has the reasons. What a command
// has changed is gathered while it runs, and fired when it has ended and stays: so a trigger never sees a command half done, and one that
// is undone fires nothing.

// Triggering is what a transaction knows of the triggers of its database.
type Triggering struct {
	// Triggers are those of the database.
	Triggers []*queue.Trigger
	// Hops is the number of triggers that led to what runs here: 0 unless it commits with what one of them made.
	Hops uint8

	pending []occurrence
	former  *keyspace.DB // the keys before the command, if a trigger looks back
	looped  bool         // a trigger was not fired, because too many had led to it
}

// occurrence is a keyspace event that triggers are held against.
type occurrence struct{ event, key string }

var errLoop = reply.Error("LOOP these commands would set off a trigger behind 16 others that led to them")

// changed gathers an event.
func (tx *Tx) changed(event string, key []byte) {
	if tx.ReadOnly || tx.DB == nil {
		return
	}
	tx.pending = append(tx.pending, occurrence{event, string(key)})
}

// lookBack keeps the keys as they are before a command.
func (tx *Tx) lookBack() {
	if tx.ReadOnly || tx.DB == nil {
		return
	}
	for _, t := range tx.Triggers {
		if t.LooksBack() {
			tx.former = tx.DB.Fork()
			return
		}
	}
}

// Witness fires the triggers of what do changes without a command: keys that are evicted, or whose time is over.
func (tx *Tx) Witness(do func()) {
	if len(tx.Triggers) > 0 {
		tx.lookBack()
	}
	do()
	tx.fire()
}

// Slower is the number of keys of limit that may go at once where each may set off triggers.
func (tx *Tx) Slower(limit int) int {
	if len(tx.Triggers) == 0 {
		return limit
	}
	return max(1, limit/(4*len(tx.Triggers)))
}

// fire has the changes so far set off triggers.
func (tx *Tx) fire() {
	if len(tx.pending) == 0 {
		tx.former = nil
		return
	}
	list := tx.pending
	tx.pending = nil // what triggers change sets off none
	for _, c := range list {
		for _, t := range tx.Triggers {
			tx.set(t, c)
		}
	}
	tx.pending, tx.former = list[:0], nil
}

// set sets a trigger off by a change, if it matches.
func (tx *Tx) set(t *queue.Trigger, c occurrence) {
	if t.Target == queue.ToStream && t.Stream == c.key || !t.Matches(c.event, c.key, tx.kindOf(t, c.key)) {
		return
	}
	if tx.Hops >= queue.MaxHops {
		tx.looped = true
		return
	}
	if tx.run != nil {
		tx.run.mark(messagesPart)
		tx.run.mark(keysPart)
	}
	s := tx.messages()
	if s == nil {
		return
	}
	if !tx.triggerMay(t) {
		s.CountFired(tx.Env, t.Name, errTriggerRights)
		return
	}
	f := fired{tx: tx, t: t, occurrence: c, no: s.NextFired(t.Name)}
	switch t.Target {
	case queue.ToStream:
		s.CountFired(tx.Env, t.Name, f.append())
	case queue.ToRun:
		s.CountFired(tx.Env, t.Name, f.start())
	default:
		s.FireMessage(tx.Env, t, []byte(c.key), f.json(), tx.Hops+1)
	}
}

var errTriggerRights = &queue.Error{Code: queue.ErrForbidden.Code, Text: "the user of the trigger is not there, or may not read these keys any more"}

// triggerMay reports whether the user who has set a trigger may still read what it tells.
func (tx *Tx) triggerMay(t *queue.Trigger) bool {
	u := tx.Users.User(t.User)
	return u != nil && u.Enabled() && tx.readsAll(u, t.Prefix)
}

// readsAll reports whether a user may read all keys that begin with prefix.
func (tx *Tx) readsAll(u *acl.User, prefix string) bool {
	get := tx.Table.Find([][]byte{[]byte("GET")})
	return u.Free() || u.ReadsPrefix(&acl.Call{Command: get.number}, prefix)
}

// kindOf is the type of a key's value after the change, or before it if there is none any more. It is looked up only for those who ask.
func (tx *Tx) kindOf(t *queue.Trigger, key string) string {
	if len(t.Types) == 0 {
		return ""
	}
	if o := tx.DB.Peek(tx.Env, []byte(key)); o != nil || tx.former == nil {
		return o.Type().String()
	}
	return tx.former.Last(tx.Env, []byte(key)).Type().String()
}

// start starts the run of a change.
func (f *fired) start() *queue.Error {
	tx, p := f.tx, &f.t.Publish
	n := workflow.Submission{Kind: workflow.InitSubmission, URL: p.URL, Body: f.json(), Options: p.Options, Origin: workflow.FromREST}
	n.Options.Hops = tx.Hops + 1
	workflow.CompleteStart(&n)
	out, err := tx.workflows().Submit(tx.Env, tx.messages(), workflow.Submissions{Items: []workflow.Submission{n}})
	if err != nil {
		return &queue.Error{Code: queue.ErrInvalid.Code, Text: err.Error()}
	}
	return out.Items[0].Refused
}

// needsRoom reports whether a command may only run where memory is left: it grows, or sets off a trigger that does.
func (tx *Tx) needsRoom(c *Command, argv [][]byte) bool {
	if c.Flags&DenyOOM != 0 {
		return true
	}
	return len(tx.Triggers) > 0 && c.Flags&Write != 0 && tx.sets(c, argv)
}

// sets reports whether a key that a call names is one of a trigger.
func (tx *Tx) sets(c *Command, argv [][]byte) bool {
	for _, at := range c.Keys.Positions(argv) {
		for _, t := range tx.Triggers {
			if len(argv[at]) >= len(t.Prefix) && string(argv[at][:len(t.Prefix)]) == t.Prefix {
				return true
			}
		}
	}
	return false
}

// triggerWork is the work of what the keys that a call names may set off. It stops where that is more than the row may use.
func (tx *Tx) triggerWork(c *Command, argv [][]byte) (steps int64) {
	s, most := tx.messages(), max(tx.allowed(), 0)
	if s == nil {
		return 0
	}
	words := int64(0)
	for _, w := range argv {
		words += int64(len(w))
	}
	for _, at := range c.Keys.Positions(argv) {
		for _, t := range tx.Triggers {
			steps++
			if key := argv[at]; len(key) >= len(t.Prefix) && string(key[:len(t.Prefix)]) == t.Prefix {
				steps += eventsOfKey * s.FirePrice(t, tx.toldBytes(t, key, words)).Work
			}
		}
		if steps > most {
			return steps
		}
	}
	return steps
}

// toldBytes is about how many bytes a trigger tells of the value of a key.
func (tx *Tx) toldBytes(t *queue.Trigger, key []byte, words int64) (n int64) {
	if !t.Old && !t.New {
		return 0
	}
	n = tx.DB.Peek(tx.Env, key).Size()
	if t.Old && t.New {
		n *= 2
	}
	return min(n+words, 2*maxTold)
}
