package command

import (
	"strconv"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// errNoMeaning is the error for $ and +, which name no place in a group.
func errNoMeaning(id string) reply.Value {
	return reply.Error("ERR The " + id + " ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer by specifying a proper ID, or use the > ID to get new messages. The " +
		id + " ID would just return an empty result set.")
}

// newEntries is the ID that > stands for.
var newEntries = keyspace.MaxStreamID

// xReadGroup is a write whatever it finds: the consumer is made, and its idle time starts
// again.
func xReadGroup(tx *Tx, a *Args) reply.Value {
	p := readStreamRead(tx, a, true)
	if err, ok := a.Done(); !ok {
		return err
	}
	from := make([]keyspace.StreamID, len(p.keys))
	for i, key := range p.keys {
		_, s, ok := find[*keyspace.StreamLog](tx, key)
		switch {
		case !ok:
			return ErrWrongType
		case s.Group(keyspace.Alias(p.group)) == nil:
			return errNoGroup(key, p.group, " in XREADGROUP with GROUP option")
		}
		var bad *reply.Value
		if from[i], bad = groupReadAfter(p.ids[i]); bad != nil {
			return *bad
		}
		if refusal := p.overfull(tx, s, i, from[i]); refusal != nil {
			return *refusal
		}
	}
	var found []reply.Value
	for i, key := range p.keys {
		if entries, served := p.serve(tx, key, from[i]); served {
			found = append(found, reply.Bulk(string(key)), reply.Array(entries...))
		}
	}
	return keyed(found)
}

// overfull is the refusal of a read that would give the consumer more than it may have
// pending, in the reference service's words; nil for others.
func (sr *streamRead) overfull(tx *Tx, s *keyspace.StreamLog, i int, from keyspace.StreamID) *reply.Value {
	limit := tx.Limits.MaxPending
	if limit <= 0 || sr.noAck || from != newEntries {
		return nil
	}
	g, has := s.Group(keyspace.Alias(sr.group)), int64(0)
	if c := g.Consumer(keyspace.Alias(sr.consumer)); c != nil {
		has = int64(c.Pending())
	}
	start, _ := g.Last.Next()
	available := int64(s.Len() - s.From(start))
	asked := available
	if sr.count > 0 {
		asked, available = sr.count, min(available, sr.count)
	}
	if available == 0 || has+available <= limit {
		return nil
	}
	return ptr(reply.Error("ERR XReadGroup is cancelled. Pending Entries List limit per consumer is about to be reached. Limit: " + strconv.FormatInt(limit, 10) +
		", Current PEL size: " + strconv.FormatInt(has, 10) + ", Requested Read: " + strconv.FormatInt(asked, 10) +
		", Key: " + shown(string(sr.keys[i])) + ", Group: " + shown(string(sr.group)) + ", Consumer: " + shown(string(sr.consumer)) + ". Setting: max-pending"))
}

func groupReadAfter(word []byte) (id keyspace.StreamID, bad *reply.Value) {
	switch w := string(word); w {
	case ">":
		return newEntries, nil
	case "$", "+":
		return id, ptr(errNoMeaning(w))
	}
	id, _, ok := parseStreamID(word, 0, false)
	if !ok {
		return id, &errStreamID
	}
	return id, nil
}

// servesFrom reports whether a stream is part of the answer to a read of a group: what a consumer
// has pending always is, new entries are if there are some. A waiting call is tried while it is
// true, and comes to nothing while it is false.
func servesFrom(s *keyspace.StreamLog, g *keyspace.StreamGroup, from keyspace.StreamID) bool {
	return from != newEntries || s.Top().Compare(g.Last) > 0
}

// serve reads one stream for the group: entries that were never delivered to it, or the
// consumer's own that it did not acknowledge. The reference service makes no consumer
// for a read without acknowledgements; its clients see that over HTTP.
func (sr *streamRead) serve(tx *Tx, key []byte, from keyspace.StreamID) (entries []reply.Value, served bool) {
	e, _ := look(tx, key, keyspace.NewStreamLog)
	before := e.data.Group(keyspace.Alias(sr.group))
	fresh, ok := from == newEntries, servesFrom(e.data, before, from)
	name := keyspace.Alias(sr.consumer)
	anonymous := sr.noAck && tx.dialect().anonymousReaders && before.Consumer(name) == nil
	if anonymous && (!fresh || !ok) {
		return nil, ok
	}
	s := e.write()
	g := s.Own(before.Name)
	var c *keyspace.StreamConsumer
	made := false
	if !anonymous {
		c, made = g.OwnConsumer(name, tx.Now)
		c.Seen = tx.Now
	}
	switch {
	case fresh && ok:
		entries = sr.deliver(tx, s, g, c)
	case ok:
		entries = sr.history(tx, s, g, c, from)
	}
	e.end(1, StreamEvent, onlyIf(made, consumerMade)...)
	return entries, ok
}

// deliver gives entries behind the group's last one to a consumer.
func (sr *streamRead) deliver(tx *Tx, s *keyspace.StreamLog, g *keyspace.StreamGroup, c *keyspace.StreamConsumer) (entries []reply.Value) {
	start, _ := g.Last.Next()
	s.Ascend(s.From(start), func(e keyspace.StreamEntry) bool {
		entries = append(entries, shownEntry(e))
		s.Deliver(g, e.ID)
		if !sr.noAck {
			g.Assign(c, e.ID, tx.Now, 1)
			c.Active = tx.Now
		}
		return int64(len(entries)) != sr.count
	})
	return entries
}

// history gives what is pending with a consumer behind an ID again. An entry that is
// gone has null in place of its fields.
func (sr *streamRead) history(tx *Tx, s *keyspace.StreamLog, g *keyspace.StreamGroup, c *keyspace.StreamConsumer, from keyspace.StreamID) (entries []reply.Value) {
	var again []keyspace.StreamPending
	start, _ := from.Next()
	g.EachPendingOf(c, start, func(q keyspace.StreamPending) bool {
		if e, ok := s.Get(q.ID); ok {
			again = append(again, q)
			entries = append(entries, shownEntry(e))
		} else {
			entries = append(entries, reply.Array(shownID(q.ID), reply.NilArray()))
		}
		return int64(len(entries)) != sr.count
	})
	for _, q := range again {
		g.Assign(c, q.ID, tx.Now, deliveredAgain(tx, q.Count))
	}
	return entries
}
