package env

import (
	"crypto/sha256"
	"encoding/binary"
)

// Level is a feature level: a number in the replicated state that says which
// operations, commands and results are switched on. It never falls.
type Level uint32

const (
	// Base is the lowest level that this source reads: that of version 0.2.0 (docs/upgrading.md).
	Base Level = 2
	// Files is the level from which on old events and ended runs are sealed into payloads, and snapshots name payloads by digest.
	Files Level = 3
	// Latest is the highest level that this source knows.
	Latest = Files
)

// Time is a moment of both times, in unix milliseconds. Now is cluster time, which runs on whatever wall clocks do, and decides what
// lasts: a TTL, a delay, a lease.
// Wall is wall time, which is at most that: while the wall clocks of a majority show less, it waits for them. What was
// given as a time of day, such as the time of EXPIREAT, does not come before Wall has reached it. Neither goes back.
type Time struct{ Now, Wall int64 }

// At is the moment at which both times are unixms.
func At(unixms int64) Time { return Time{unixms, unixms} }

// lookAgain is the longest wait, in milliseconds, until it is looked again whether wall time has come: clocks that were set back are
// put right sooner than they come up by themselves.
const lookAgain = 60_000

// Reaches returns the moment of cluster time from which on it is worth looking whether wall time has come to unixms: that
// moment itself while wall time is not behind. Otherwise nobody knows when the wall clocks will have come up: it is at most a second
// late if they run on as they do, and a minute if they are set.
func (t Time) Reaches(unixms int64) int64 {
	behind := t.Now - t.Wall
	if behind <= 0 || unixms <= t.Wall {
		return unixms
	}
	left := min(unixms-t.Wall, lookAgain)
	return max(unixms, t.Now+max(left*9/10, min(max(behind/2, 20), 1000)))
}

// Env is the world as one request sees it. A read sees the same, with ReadOnly
// set and the time that the leader handed out.
type Env struct {
	// Index is the log index being applied; for a read, the index read at.
	Index uint64
	// Time is the moment of the request.
	Time
	// SetBack is how many milliseconds the clocks of a majority are behind Wall, which does not go back with them.
	SetBack int64
	// Level is the feature level in force.
	Level Level
	// ReadOnly marks a read: whatever writes refuses or panics under it.
	ReadOnly bool
	Bound
	// NoTouch has look-ups not count as uses of keys; Looked says that one has found its key. Both are about what this
	// node knows of the use of keys, never about the state.
	NoTouch, Looked bool
	// Counting has look-ups count how often keys are used too.
	Counting bool
	// Session is the session of the node that proposed this request, 0 if none is named.
	Session uint64
	// Notifications are the messages of this apply for subscribers.
	Notifications []Notification
	// Watch, if set, is called for what the keyspace does by itself, as it does it. It depends on
	// nothing but the replicated state, and changes none.
	Watch func(KeyEvent, string)
	// Database names the database that the request works on.
	Database string
	// Row is the place of the command among those of its request.
	Row int
	// Scripted says that the row is a script, on a node that wants to be told of scripts.
	Scripted bool
	// Node is the node that runs the request, nil for none. Nothing else here differs between the nodes that apply it, but
	// for Scripted and the Notifications that Node has asked for.
	Node Node

	seed  [16]byte
	place uint32
	block uint32
	words [4]uint64
	left  int
	cost  int64
	total int64 // what a read on a fork has looked at, in the steps of Charge
}

// Bound limits a read that keeps writes waiting.
type Bound struct {
	// Bounded marks a read that keeps writes waiting. Charge counts what it looks at; above
	// MaxInlineCost, OverBudget is set and its replies are discarded, because it is run once
	// more on a fork, where no write waits for it.
	Bounded, OverBudget bool
	// Lacks are the payloads, on the disk, that a bounded read needs. It must not wait for the disk: its replies are discarded,
	// and it is run again once they are in memory.
	Lacks []Lack
}

// Lack is a payload on the disk.
type Lack interface {
	// Hold has the bytes be in memory for a while, and returns them.
	Hold() []byte
}

// MaxInlineCost is the largest cost of a bounded read, in the steps of Charge: some tenths of a
// millisecond.
const MaxInlineCost = 20_000

// Charge counts steps of a read, each about the work for a few bytes of an element, and reports
// whether a bounded read is over its budget. The caller may stop there and answer anything.
func (e *Env) Charge(steps int64) (over bool) {
	if !e.Bounded {
		e.CountSteps(steps)
		return false
	}
	e.cost += min(steps, 2*MaxInlineCost)
	e.OverBudget = e.OverBudget || e.cost > MaxInlineCost
	return e.OverBudget
}

// yieldCost is the cost after which a read on a fork yields the processor, in the steps of Charge: about a tenth of a
// millisecond.
const yieldCost = MaxInlineCost / 2

// largeCost is from when on a read on a fork is a large one, in the steps of Charge: its reply takes megabytes.
const largeCost = 50 * MaxInlineCost

// CountSteps counts steps of a read, so that one on a fork yields to other goroutines now and then. It changes no
// result, and does nothing in applies and bounded reads.
func (e *Env) CountSteps(steps int64) {
	if e.Paced() {
		e.pace(steps)
	}
}

func (e *Env) pace(steps int64) {
	before := e.total
	if e.total += steps; e.total >= largeCost && before < largeCost {
		e.Node.Large()
	}
	if e.cost += steps; e.cost >= yieldCost {
		e.cost = 0
		e.Node.Yield()
	}
}

// KeyEvent is an event of a key for Watch.
type KeyEvent uint8

// The events of keys.
const (
	// Created: there is a key that was not there.
	Created KeyEvent = iota
	// Expired: a key has gone because its deadline has passed.
	Expired
	// FieldsExpired: a hash has lost fields whose deadline has passed, and keeps others.
	FieldsExpired
	// FieldsGone: a hash has gone because all its fields have expired.
	FieldsGone
	// Missed: a lookup found no key.
	Missed
)

// Notification is the message of an apply to the subscribers of this node: a published message, or
// a change of subscriptions at this place in the log.
type Notification struct {
	Kind NotificationKind
	// DB, Channel and Message are those of a message.
	DB, Channel string
	Message     string
	// Hub and Serial name the node's fan-out and its request.
	Hub, Serial uint64
	// Index and Place name the request that touched a key or ran a script, as its outcome does.
	Index uint64
	Place int
	// Scripted says that a script touched the key.
	Scripted bool
}

// NotificationKind says what a Notification is about.
type NotificationKind uint8

// The kinds of notifications.
const (
	// Message: to the subscribers of Channel and of the patterns that match it.
	Message NotificationKind = iota
	// ShardMessage: to the subscribers of the shard channel.
	ShardMessage
	// Counted: the subscriptions of request Serial of Hub count from here on.
	Counted
	// Dropped: the subscriptions of Hub count no more.
	Dropped
	// Deleted: the database DB is gone.
	Deleted
	// KeyTouched: something was stored under the key that Channel names, or removed from there,
	// for those who wait for it or keep a copy. Only a node with such clients has these
	// notifications.
	KeyTouched
	// Flushed: all keys of DB are gone. Only a node with KeyTouched notifications has these.
	Flushed
	// SearchChanged: the definitions of DB's search indexes have changed.
	SearchChanged
	// ScriptCalled: a script has called the command whose words are in Message. Serial is the row
	// of its request. Only a node with a MONITOR has such notifications.
	ScriptCalled
	// ScriptRead: the script in row Serial of the request has called a command that reads. Only a
	// node with KeyTouched notifications has these.
	ScriptRead
	// ScriptEnded: the script in row Serial of the request has ended, or was refused. Nodes that have
	// ScriptCalled or ScriptRead notifications have these.
	ScriptEnded
)

// New is the environment of request number place of an entry with that seed.
func New(index uint64, now int64, level Level, seed [16]byte, place int) *Env {
	e := &Env{}
	e.Reset(index, At(now), level, seed, place)
	return e
}

// Reset makes e the environment of another request, so that an apply can use one
// Env for all of an entry. The node and the notifications so far stay.
func (e *Env) Reset(index uint64, now Time, level Level, seed [16]byte, place int) {
	*e = Env{Index: index, Time: now, Level: level, seed: seed, place: uint32(place), Notifications: e.Notifications, Node: e.Node}
}

// Until returns the moment of cluster time at which a time of day comes that is given now, and that wall time has passed already
// while the clocks have not: they were set back. ok is false for any other.
func (e *Env) Until(unixms int64) (at int64, ok bool) {
	left := unixms - (e.Wall - e.SetBack)
	return e.Now + left, left > 0 && unixms <= e.Wall
}

// Uint64 is the next number of the apply's generator: SHA-256 in counter mode
// over the entry's seed and the request's place, because keys and passwords are
// drawn from it too.
func (e *Env) Uint64() uint64 {
	if e.left == 0 {
		var in [24]byte
		copy(in[:], e.seed[:])
		binary.LittleEndian.PutUint32(in[16:], e.place)
		binary.LittleEndian.PutUint32(in[20:], e.block)
		sum := sha256.Sum256(in[:])
		for i := range e.words {
			e.words[i] = binary.LittleEndian.Uint64(sum[8*i:])
		}
		e.block++
		e.left = len(e.words)
	}
	e.left--
	return e.words[e.left]
}

// IntN is a number in [0, n) without bias; n must be positive.
func (e *Env) IntN(n int) int {
	bound := uint64(n)
	limit := ^uint64(0) - ^uint64(0)%bound
	for {
		if v := e.Uint64(); v < limit {
			return int(v % bound)
		}
	}
}

// Place is the number of the request in its entry.
func (e *Env) Place() int { return int(e.place) }

const idAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz"

// Touch notes that something was stored under key, or removed, if this node wants to know.
func (e *Env) Touch(key string) {
	if e.Tracks() {
		e.Notifications = append(e.Notifications, Notification{Kind: KeyTouched, DB: e.Database, Channel: key, Index: e.Index, Place: e.Place(), Scripted: e.Scripted})
	}
}

// TouchAll notes that all keys of the database are gone, if this node wants to know.
func (e *Env) TouchAll() {
	if e.Tracks() {
		e.Notifications = append(e.Notifications, Notification{Kind: Flushed, DB: e.Database, Index: e.Index, Place: e.Place()})
	}
}

// NewID draws an identifier: the prefix, an underscore if there is a prefix, and
// 22 characters of 54. It is the only source of ids in the state machine.
func (e *Env) NewID(prefix string) string {
	b := make([]byte, 0, len(prefix)+23)
	if prefix != "" {
		b = append(append(b, prefix...), '_')
	}
	for range 22 {
		b = append(b, idAlphabet[e.IntN(len(idAlphabet))])
	}
	return string(b)
}
