package command

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/channel"
	"github.com/trireme-dev/trireme/fsm/env"
)

// Events is a set of classes of keyspace events, and of the channels they go to: what
// notify-keyspace-events holds. The zero value is none.
type Events uint16

// The classes, by the letters of notify-keyspace-events in this order, and the two
// kinds of channels.
const (
	GenericEvent  Events = 1 << iota // g: commands on keys of any type
	StringEvent                      // $
	ListEvent                        // l
	SetEvent                         // s
	HashEvent                        // h
	SortedEvent                      // z
	ExpiredEvent                     // x: a key's deadline has passed
	EvictedEvent                     // e: a key had to make room
	StreamEvent                      // t
	ModuleEvent                      // d: JSON documents, vector indexes, arrays
	KeyspaceEvent                    // K: to the channel of the key
	KeyeventEvent                    // E: to the channel of the event
	MissEvent                        // m: a read found no key; not in A
	NewEvent                         // n: there is a key that was not; not in A

	allEvents = GenericEvent | StringEvent | ListEvent | SetEvent | HashEvent | SortedEvent | ExpiredEvent | EvictedEvent | StreamEvent | ModuleEvent
	// watched are the classes that the keyspace itself has to tell.
	watched = GenericEvent | HashEvent | ExpiredEvent | MissEvent | NewEvent
)

// eventLetters are the letters of the classes in the order of their bits.
const eventLetters = "g$lshzxetdKEmn"

// ParseEvents reads the letters of notify-keyspace-events; ok is false if one of them
// is not known.
func ParseEvents(letters string) (set Events, ok bool) {
	for i := range len(letters) {
		c := letters[i]
		at := strings.IndexByte(eventLetters, c)
		switch {
		case c == 'A':
			set |= allEvents
		case at < 0:
			return 0, false
		default:
			set |= 1 << at
		}
	}
	return set, true
}

// String is the set in letters, with A for all classes that A stands for.
func (e Events) String() (letters string) {
	if e&allEvents == allEvents {
		letters, e = "A", e&^allEvents
	}
	for i := range len(eventLetters) {
		if e&(1<<i) != 0 {
			letters += eventLetters[i : i+1]
		}
	}
	return letters
}

// Event tells those who subscribe to keyspace events that something of a class has
// happened to key. A handler calls it for every change it has made, after it was made,
// in the order and by the names of Redis. Without subscribers and triggers it costs two comparisons.
//
// Events are notes of the apply (see env.Note): each node gives them to its own
// subscribers when it applies the entry, and a change that is undone takes its notes
// with it by cutting tx.Notes to their length of before.
func (tx *Tx) Event(class Events, name string, key []byte) {
	if tx.Config != nil && tx.Config.Notify&class != 0 {
		tx.tell(name, string(key))
	}
	if len(tx.Triggers) > 0 && class&(MissEvent|NewEvent) == 0 {
		tx.changed(name, key)
	}
}

// removed is the event of a key that lost its last element.
func (tx *Tx) removed(key []byte) { tx.Event(GenericEvent, "del", key) }

// remove deletes key and tells it, if it was there.
func (tx *Tx) remove(key []byte) bool {
	had := tx.DB.Remove(tx.Env, key)
	if had {
		tx.removed(key)
	}
	return had
}

// The channels of events. There is one database, by Redis's numbers.
const (
	keyspaceChannel = "__keyspace@0__:"
	keyeventChannel = "__keyevent@0__:"
)

func (tx *Tx) tell(name, key string) {
	if tx.Config.Notify&KeyspaceEvent != 0 {
		tx.post(keyspaceChannel+key, name)
	}
	if tx.Config.Notify&KeyeventEvent != 0 {
		tx.post(keyeventChannel+name, key)
	}
}

func (tx *Tx) post(to, message string) {
	if tx.Channels.Receivers(channel.Plain, to) > 0 {
		tx.Notifications = append(tx.Notifications, env.Notification{Kind: env.Message, DB: tx.Channels.DB(), Channel: to, Message: message})
	}
}

// Arm lets the keyspace notify tx of its own changes, if there are subscribers to them: keys
// that expire, that come to be, and that are missed. It is called again when
// notify-keyspace-events changes.
func (tx *Tx) Arm() {
	tx.Watch = nil
	if (tx.Config != nil && tx.Config.Notify&watched != 0 || len(tx.Triggers) > 0) && !tx.ReadOnly {
		tx.Watch = tx.saw
	}
}

// saw turns what the keyspace tells into events.
func (tx *Tx) saw(sight env.KeyEvent, key string) {
	switch sight {
	case env.Created:
		tx.Event(NewEvent, "new", []byte(key))
	case env.Expired:
		tx.Event(ExpiredEvent, "expired", []byte(key))
	case env.FieldsExpired:
		tx.Event(HashEvent, "hexpired", []byte(key))
	case env.FieldsGone:
		tx.Event(HashEvent, "hexpired", []byte(key))
		tx.removed([]byte(key))
	case env.Missed:
		if tx.row != nil && tx.row.tellsMiss() {
			tx.missed([]byte(key))
		}
	}
}

// missed is the event of a key that the command looked for as a read does.
func (tx *Tx) missed(key []byte) { tx.Event(MissEvent, "keymiss", key) }

// tellsMiss reports whether a key that the command doesn't find is a miss, as in Redis. Only
// what runs in an entry is told: a read that the log never sees, no other node sees either.
func (c *Command) tellsMiss() bool {
	return c.Flags&(ReadOnly|HidesMiss) == ReadOnly || c.Flags&ReportsMiss != 0
}
