package keyspace

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/cow"
)

// StreamGroup is a consumer group of a stream. One that StreamLog.Own gave may be
// changed, until the stream is forked; any other is for reading.
type StreamGroup struct {
	// Name is the group's.
	Name string
	// Last is the ID of the last entry delivered.
	Last StreamID
	// Read counts the entries ever added up to Last, UnknownRead if that number is not
	// known.
	Read int64

	version   *streamVersion
	pending   *cow.Sequence[StreamPending]   // by ID
	consumers *cow.Sequence[*StreamConsumer] // by name
}

// UnknownRead is a group's Read when it is not known.
const UnknownRead = -1

// StreamPending is an entry that was delivered to a consumer and not acknowledged. The
// entry itself may be gone, and the consumer may have given it back.
type StreamPending struct {
	ID       StreamID
	Consumer string
	// Delivered is the time of the last delivery, in unix milliseconds.
	Delivered int64
	// Count is the number of deliveries.
	Count int64
	// Unowned reports whether it was given back and belongs to no consumer.
	Unowned bool
}

// StreamConsumer is a consumer of a group. One that StreamGroup.OwnConsumer gave may be
// changed, until the stream is forked; any other is for reading.
type StreamConsumer struct {
	// Name is the consumer's.
	Name string
	// Seen is the time of its last command, in unix milliseconds.
	Seen int64
	// Active is the time at which it last got an entry to acknowledge, in unix milliseconds,
	// -1 for never.
	Active int64

	version *streamVersion
	pending *cow.Sequence[StreamID]
}

// Groups is the number of groups.
func (sl *StreamLog) Groups() int { return sl.groups.Len() }

// EachGroup calls f for every group in the order of their names, until it returns false.
func (sl *StreamLog) EachGroup(f func(g *StreamGroup) bool) {
	sl.groups.Ascend(0, func(_ int, g *StreamGroup) bool { return f(g) })
}

func (sl *StreamLog) findGroup(name string) (i int, ok bool) {
	i = sl.groups.Search(func(g *StreamGroup) bool { return g.Name < name })
	return i, i < sl.groups.Len() && sl.groups.At(i).Name == name
}

// Group is the group of a name, nil if there is none.
func (sl *StreamLog) Group(name string) *StreamGroup {
	if sl == nil {
		return nil
	}
	if i, ok := sl.findGroup(name); ok {
		return sl.groups.At(i)
	}
	return nil
}

// Own is the group of a name, which is there, for changing it.
func (sl *StreamLog) Own(name string) *StreamGroup {
	i, _ := sl.findGroup(name)
	return sl.own(i)
}

func (sl *StreamLog) own(i int) *StreamGroup {
	g := sl.groups.At(i)
	if g.version == sl.version {
		return g
	}
	c := *g
	c.version, c.pending, c.consumers = sl.version, g.pending.Snapshot(), g.consumers.Snapshot()
	sl.groups.Set(i, &c)
	return &c
}

// AddGroup makes a group, whose name is copied; there must be none of that name.
func (sl *StreamLog) AddGroup(name string, last StreamID, read int64) {
	i, _ := sl.findGroup(name)
	sl.groups.Insert(i, &StreamGroup{Name: strings.Clone(name), Last: last, Read: read, version: sl.version,
		pending: cow.NewSequence[StreamPending](), consumers: cow.NewSequence[*StreamConsumer]()})
	sl.version.size += groupCost + int64(len(name))
}

// DropGroup removes a group with all it knows, and reports whether there was one.
func (sl *StreamLog) DropGroup(name string) bool {
	i, ok := sl.findGroup(name)
	if !ok {
		return false
	}
	sl.version.size -= sl.groups.At(i).size()
	sl.groups.Delete(i)
	return true
}

func (g *StreamGroup) size() int64 {
	size := groupCost + int64(len(g.Name)) + pendingCost*int64(g.pending.Len())
	g.EachConsumer(func(c *StreamConsumer) bool {
		size += c.size()
		return true
	})
	return size
}

func (c *StreamConsumer) size() int64 { return consumerCost + int64(len(c.Name)) }

// Consumers is the number of consumers.
func (g *StreamGroup) Consumers() int { return g.consumers.Len() }

// EachConsumer calls f for every consumer in the order of their names, until it returns
// false.
func (g *StreamGroup) EachConsumer(f func(c *StreamConsumer) bool) {
	g.consumers.Ascend(0, func(_ int, c *StreamConsumer) bool { return f(c) })
}

func (g *StreamGroup) findConsumer(name string) (i int, ok bool) {
	i = g.consumers.Search(func(c *StreamConsumer) bool { return c.Name < name })
	return i, i < g.consumers.Len() && g.consumers.At(i).Name == name
}

// Consumer is the consumer of a name, nil if there is none.
func (g *StreamGroup) Consumer(name string) *StreamConsumer {
	if i, ok := g.findConsumer(name); ok {
		return g.consumers.At(i)
	}
	return nil
}

// OwnConsumer is the consumer of a name for changing it, made at now if there is none,
// when the name is copied.
func (g *StreamGroup) OwnConsumer(name string, now int64) (c *StreamConsumer, created bool) {
	i, ok := g.findConsumer(name)
	if ok {
		return g.ownConsumer(i), false
	}
	c = &StreamConsumer{Name: strings.Clone(name), Seen: now, Active: -1, version: g.version, pending: cow.NewSequence[StreamID]()}
	g.consumers.Insert(i, c)
	g.version.size += c.size()
	return c, true
}

func (g *StreamGroup) ownConsumer(i int) *StreamConsumer {
	c := g.consumers.At(i)
	if c.version == g.version {
		return c
	}
	d := *c
	d.version, d.pending = g.version, c.pending.Snapshot()
	g.consumers.Set(i, &d)
	return &d
}

// DropConsumer removes a consumer, acknowledges what it was given, and says how much that
// was; it is not ok if there is no such consumer.
func (g *StreamGroup) DropConsumer(name string) (pending int, ok bool) {
	i, ok := g.findConsumer(name)
	if !ok {
		return 0, false
	}
	c := g.consumers.Delete(i)
	c.pending.Ascend(0, func(_ int, id StreamID) bool {
		j, _ := g.findPending(id)
		g.pending.Delete(j)
		return true
	})
	g.version.size -= c.size() + pendingCost*int64(c.pending.Len())
	return c.pending.Len(), true
}
