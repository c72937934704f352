package command

import (
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// findStream is the stream of a subcommand of XINFO, which needs one.
func findStream(tx *Tx, key []byte) (s *keyspace.StreamLog, refusal *reply.Value) {
	o, s, ok := find[*keyspace.StreamLog](tx, key)
	switch {
	case !ok:
		return nil, &ErrWrongType
	case o == nil:
		return nil, &ErrNoKey
	}
	return s, nil
}

// infoCount is the number of elements that XINFO STREAM FULL shows of each list without COUNT.
const infoCount = 10

func xInfoStream(tx *Tx, a *Args) reply.Value {
	s, refusal := findStream(tx, a.Bytes())
	if refusal != nil {
		return *refusal
	}
	full, count := false, int64(infoCount)
	if n := a.Left(); n > 0 {
		if full = a.Word("FULL"); !full || n != 1 && (n != 3 || !a.Word("COUNT")) {
			return a.badSubcommand()
		}
		if n == 3 {
			count = a.Int()
		}
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	if count < 0 {
		count = infoCount
	}
	if full {
		return reply.Map(append(streamHead(s), streamFull(tx, s, count)...)...)
	}
	return reply.Map(append(streamHead(s), streamBrief(s)...)...)
}

// nodeEntries is the number of entries in a node of a stream in Redis by default. Our trees
// have other nodes; clients see the numbers that a stream of small entries would have there.
const nodeEntries = 100

// streamHead returns the fields that both forms begin with, and the remembered additions if the
// stream was ever asked to remember any.
func streamHead(s *keyspace.StreamLog) []reply.Value {
	nodes := int64(s.Len()+nodeEntries-1) / nodeEntries
	head := []reply.Value{
		reply.Bulk("length"), reply.Int(int64(s.Len())),
		reply.Bulk("radix-tree-keys"), reply.Int(nodes),
		reply.Bulk("radix-tree-nodes"), reply.Int(nodes + 1),
		reply.Bulk("last-generated-id"), shownID(s.Last()),
		reply.Bulk("max-deleted-entry-id"), shownID(s.MaxDeleted()),
		reply.Bulk("entries-added"), reply.Int(s.Added()),
		reply.Bulk("recorded-first-entry-id"), shownID(s.First()),
	}
	m := s.Idempotence()
	if m == nil {
		return head
	}
	return append(head,
		reply.Bulk("idmp-duration"), reply.Int(m.Seconds),
		reply.Bulk("idmp-maxsize"), reply.Int(m.IDs),
		reply.Bulk("pids-tracked"), reply.Int(int64(m.Producers())),
		reply.Bulk("iids-tracked"), reply.Int(int64(m.Remembered())),
		reply.Bulk("iids-added"), reply.Int(m.Added),
		reply.Bulk("iids-duplicates"), reply.Int(m.Duplicates))
}

func streamBrief(s *keyspace.StreamLog) []reply.Value {
	first, last := reply.Nil(), reply.Nil()
	if n := s.Len(); n > 0 {
		first, last = shownEntry(s.At(0)), shownEntry(s.At(n-1))
	}
	return []reply.Value{reply.Bulk("groups"), reply.Int(int64(s.Groups())), reply.Bulk("first-entry"), first, reply.Bulk("last-entry"), last}
}

func streamFull(tx *Tx, s *keyspace.StreamLog, count int64) []reply.Value {
	var groups []reply.Value
	s.EachGroup(func(g *keyspace.StreamGroup) bool {
		groups = append(groups, groupFull(tx, s, g, count))
		return true
	})
	entries := between(tx, s, keyspace.StreamID{}, keyspace.MaxStreamID, count, false)
	return []reply.Value{reply.Bulk("entries"), reply.Array(entries...), reply.Bulk("groups"), reply.Array(groups...)}
}

// progress returns the number of entries that a group has read and its lag, null for an unknown one.
func progress(s *keyspace.StreamLog, g *keyspace.StreamGroup) []reply.Value {
	read, lag := reply.Nil(), reply.Nil()
	if g.Read != keyspace.UnknownRead {
		read = reply.Int(g.Read)
	}
	if n, ok := s.Lag(g); ok {
		lag = reply.Int(n)
	}
	return []reply.Value{reply.Bulk("last-delivered-id"), shownID(g.Last), reply.Bulk("entries-read"), read, reply.Bulk("lag"), lag}
}

func groupFull(tx *Tx, s *keyspace.StreamLog, g *keyspace.StreamGroup, count int64) reply.Value {
	var pending, consumers []reply.Value
	g.EachPending(keyspace.StreamID{}, func(p keyspace.StreamPending) bool {
		pending = append(pending, reply.Array(shownID(p.ID), reply.Bulk(p.Consumer), reply.Int(p.Delivered), reply.Int(p.Count)))
		return int64(len(pending)) != count && !tx.lookAt(1)
	})
	g.EachConsumer(func(c *keyspace.StreamConsumer) bool {
		consumers = append(consumers, consumerFull(tx, g, c, count))
		return true
	})
	values := append([]reply.Value{reply.Bulk("name"), reply.Bulk(g.Name)}, progress(s, g)...)
	return reply.Map(append(values,
		reply.Bulk("pel-count"), reply.Int(int64(g.Pending())), reply.Bulk("pending"), reply.Array(pending...),
		reply.Bulk("consumers"), reply.Array(consumers...))...)
}

func consumerFull(tx *Tx, g *keyspace.StreamGroup, c *keyspace.StreamConsumer, count int64) reply.Value {
	var pending []reply.Value
	g.EachPendingOf(c, keyspace.StreamID{}, func(p keyspace.StreamPending) bool {
		pending = append(pending, reply.Array(shownID(p.ID), reply.Int(p.Delivered), reply.Int(p.Count)))
		return int64(len(pending)) != count && !tx.lookAt(1)
	})
	return reply.Map(
		reply.Bulk("name"), reply.Bulk(c.Name), reply.Bulk("seen-time"), reply.Int(c.Seen), reply.Bulk("active-time"), reply.Int(c.Active),
		reply.Bulk("pel-count"), reply.Int(int64(c.Pending())), reply.Bulk("pending"), reply.Array(pending...))
}

func xInfoGroups(tx *Tx, a *Args) reply.Value {
	s, refusal := findStream(tx, a.Bytes())
	if refusal != nil {
		return *refusal
	}
	var groups []reply.Value
	s.EachGroup(func(g *keyspace.StreamGroup) bool {
		groups = append(groups, reply.Map(append([]reply.Value{
			reply.Bulk("name"), reply.Bulk(g.Name), reply.Bulk("consumers"), reply.Int(int64(g.Consumers())),
			reply.Bulk("pending"), reply.Int(int64(g.Pending()))}, progress(s, g)...)...))
		return true
	})
	return reply.Array(groups...)
}

// xInfoConsumers tells of each consumer since when it has not asked for anything, and
// since when it was given nothing, -1 for never.
func xInfoConsumers(tx *Tx, a *Args) reply.Value {
	key, group := a.Bytes(), a.Bytes()
	s, refusal := findStream(tx, key)
	if refusal != nil {
		return *refusal
	}
	g := s.Group(keyspace.Alias(group))
	switch {
	case g == nil && tx.dialect().groupless:
		return reply.Array()
	case g == nil:
		return errNoGroupOf(group, key)
	}
	var consumers []reply.Value
	g.EachConsumer(func(c *keyspace.StreamConsumer) bool {
		inactive := int64(-1)
		if c.Active >= 0 {
			inactive = max(tx.Now-c.Active, 0)
		}
		consumers = append(consumers, reply.Map(reply.Bulk("name"), reply.Bulk(c.Name), reply.Bulk("pending"), reply.Int(int64(c.Pending())),
			reply.Bulk("idle"), reply.Int(max(tx.Now-c.Seen, 0)), reply.Bulk("inactive"), reply.Int(inactive)))
		return true
	})
	return reply.Array(consumers...)
}

func xInfoHelp(*Tx, *Args) reply.Value {
	return helpLines(
		"XINFO subcommands:",
		"CONSUMERS key group", "    The consumers of a group.",
		"GROUPS key", "    The groups of a stream.",
		"STREAM key [FULL [COUNT count]]", "    A stream; FULL shows entries, groups, consumers and what is pending too.",
		"HELP", "    These lines.",
	)
}
