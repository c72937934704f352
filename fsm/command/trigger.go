package command

import (
	"bytes"
	"math"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// Triggers are set off by keyspace events, in the entry that makes the change; docs/design/triggers.md has the reasons. What a command
// has changed is gathered while it runs, and fired when it has ended and stays: so a trigger never sees a command half done, and one that
// is undone fires nothing.

// Triggering holds the triggers of the database of a transaction.
type Triggering struct {
	// Triggers are those of the database.
	Triggers []*queue.Trigger
	// Hops is the number of triggers that led to what runs here: 0 unless it commits with what one of them made.
	Hops uint8

	pending []occurrence
	former  *keyspace.DB // the keys before the command, if a trigger looks back
	looped  bool         // a trigger was not fired, because too many had led to it
	witness bool         // no command has changed what is told; see Witness
}

// occurrence is a keyspace event that triggers are held against. A flush has no key and concerns every prefix.
type occurrence struct{ event, key string }

// flushEvent is the event of all keys being deleted at once, of which keyspace notifications tell nothing.
const flushEvent = "flushdb"

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

// Witness fires the triggers of what do changes without a command: keys that are evicted, or whose time is over. Nothing can refuse
// such a change, so where memory is beyond its limit, nothing is made of it.
func (tx *Tx) Witness(do func()) {
	if len(tx.Triggers) > 0 {
		tx.lookBack()
	}
	do()
	tx.witness = true
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
	tx.measure()
}

// measure counts anew the memory that is used outside the keys, after messages were made.
func (tx *Tx) measure() {
	if tx.limited() && tx.Stores != nil {
		tx.Stores.Measure(tx)
	}
}

// set sets a trigger off by a change, if it matches.
func (tx *Tx) set(t *queue.Trigger, c occurrence) {
	if t.Target == queue.ToStream && t.Stream == c.key || !tx.setsOff(t, c) {
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
	switch {
	case !tx.triggerMay(t):
		s.CountFired(tx.Env, t.Name, errTriggerRights)
		return
	case tx.witness && tx.limited() && tx.headroom() < tx.firePrice(t, 2*maxTold).Growth:
		s.CountFired(tx.Env, t.Name, errTriggerMemory)
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

// The reasons for which nothing is made of a change.
var (
	errTriggerRights = &queue.Error{Code: queue.ErrForbidden.Code, Text: "the user of the trigger does not exist any more, or may no longer read these keys or use its target"}
	errTriggerMemory = &queue.Error{Code: queue.ErrMemory.Code, Text: "there was no memory for what the trigger makes of a key that was evicted or expired"}
)

// setsOff reports whether a change sets a trigger off.
func (tx *Tx) setsOff(t *queue.Trigger, c occurrence) bool {
	if c.event == flushEvent {
		return t.MatchesFlush(flushEvent)
	}
	return t.Matches(c.event, c.key, tx.kindOf(t, c.key))
}

// triggerMay reports whether the user who has set a trigger may still read what it tells, and use its target.
func (tx *Tx) triggerMay(t *queue.Trigger) bool {
	u := tx.Users.User(t.User)
	if u == nil || !u.Enabled() || !tx.readsAll(u, t.Prefix) {
		return false
	}
	if u.Free() {
		return true
	}
	call := aimCall(t)
	denied, _ := u.Permit(tx.call(tx.Table.Find(call), call))
	return denied == acl.Permitted
}

// readsAll reports whether a user may read all keys that begin with prefix.
func (tx *Tx) readsAll(u *acl.User, prefix string) bool {
	get := tx.Table.Find([][]byte{[]byte("GET")})
	return u.Free() || u.ReadsPrefix(&acl.Call{Command: get.number}, prefix)
}

// aimCall returns the command that uses the target of a trigger.
func aimCall(t *queue.Trigger) [][]byte {
	switch t.Target {
	case queue.ToRun:
		return [][]byte{[]byte("WF.TRIGGER"), []byte(t.Publish.URL), {}}
	case queue.ToStream:
		return [][]byte{[]byte("XADD"), []byte(t.Stream), []byte("*"), []byte("f"), []byte("v")}
	}
	return [][]byte{[]byte("MSG.PUBLISH"), []byte(t.Publish.URL), {}}
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
	n := runOf(f.t, f.json())
	n.Options.Hops = f.tx.Hops + 1
	out, err := f.tx.workflows().Submit(f.tx.Env, f.tx.messages(), workflow.Submissions{Items: []workflow.Submission{n}})
	if err != nil {
		return &queue.Error{Code: queue.ErrInvalid.Code, Text: err.Error()}
	}
	return out.Items[0].Refused
}

// runOf returns the start of a trigger's run with an input.
func runOf(t *queue.Trigger, input []byte) workflow.Submission {
	n := workflow.Submission{Kind: workflow.InitSubmission, URL: t.Publish.URL, Body: input, Options: t.Publish.Options, Origin: workflow.FromREST}
	workflow.CompleteStart(&n)
	return n
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
			if concerns(t, argv[at]) {
				return true
			}
		}
	}
	return false
}

func concerns(t *queue.Trigger, key []byte) bool { return bytes.HasPrefix(key, []byte(t.Prefix)) }

// triggerPrice is the price of what a call may set off: by the keys that it names, or by a flush. It stops where that is more than the row
// may use.
func (tx *Tx) triggerPrice(c *Command, argv [][]byte) (p env.Price) {
	most := max(tx.allowed(), 0)
	if c.Name == "flushall" || c.Name == "flushdb" {
		for _, t := range tx.Triggers {
			p.Add(tx.firePrice(t, 0))
		}
		return p
	}
	words := int64(0)
	for _, w := range argv {
		words += int64(len(w))
	}
	for _, at := range c.Keys.Positions(argv) {
		for _, t := range tx.Triggers {
			p.Work++
			if concerns(t, argv[at]) {
				p.Add(tx.firePrice(t, tx.toldBytes(t, argv[at], words)).Times(eventsOfKey))
			}
		}
		if p.Work > most {
			return p
		}
	}
	return p
}

// blankInput has the length of the longest input of a run.
var blankInput [2*maxTold + 1024]byte

// firePrice is the price of setting a trigger off by a change that tells values of so many bytes.
func (tx *Tx) firePrice(t *queue.Trigger, values int64) (p env.Price) {
	switch s := tx.messages(); {
	case s == nil:
		return p
	case t.Target == queue.ToRun:
		input := blankInput[:min(values+512, int64(len(blankInput)))]
		p = tx.workflows().SubmitPrice(tx.Env, &workflow.Submissions{Items: []workflow.Submission{runOf(t, input)}}, math.MaxInt64)
	default:
		p = s.FirePrice(t, values)
	}
	if u := tx.Users.User(t.User); u != nil {
		p.Work += u.CheckWork(2, len(t.Prefix)+len(t.Stream)+len(t.Publish.URL))
	}
	return p
}

// refuseTriggers is the refusal of a call for whose triggers there is no memory left, nil for any other.
func (tx *Tx) refuseTriggers(c *Command, argv [][]byte) *reply.Value {
	if len(tx.Triggers) == 0 || c.Flags&Write == 0 || !tx.limited() || tx.ReadOnly || c.Keys.First == 0 && c.Keys.Find == nil {
		return nil
	}
	growth := tx.triggerPrice(c, argv).Growth
	if growth <= tx.headroom() || growth == 0 {
		return nil
	}
	return ptr(tx.overMemoryBy(growth))
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
