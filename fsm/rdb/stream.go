package rdb

import (
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/listpack"
)

// The bounds of a node of a stream, those of Redis by default.
const (
	streamNodeEntries = 100
	streamNodeBytes   = 4096
)

// The flags of an entry in a node.
const (
	entryDeleted    = 1
	entrySameFields = 2 // as the node's first entry: only the values follow
)

// stream writes a stream in the form of Redis 7.0, which does not know when a consumer
// was last given something.
func (w *writer) stream(s *keyspace.StreamLog) {
	w.kind(TypeStream2)
	nodes := streamNodes(s)
	w.length(uint64(len(nodes)))
	for _, n := range nodes {
		w.text(string(appendID(nil, n.first)))
		w.text(keyspace.Adopt(n.pack()))
	}
	w.length(uint64(s.Len()))
	w.id(s.Last())
	w.id(s.First())
	w.id(s.MaxDeleted())
	w.length(uint64(s.Added()))
	w.length(uint64(s.Groups()))
	s.EachGroup(func(g *keyspace.StreamGroup) bool {
		w.group(g)
		return true
	})
}

func (w *writer) id(id keyspace.StreamID) {
	w.length(id.Ms)
	w.length(id.Seq)
}

// appendID appends an ID so that the order of bytes is that of IDs.
func appendID(b []byte, id keyspace.StreamID) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, id.Ms), id.Seq)
}

func (w *writer) group(g *keyspace.StreamGroup) {
	w.text(g.Name)
	w.id(g.Last)
	w.length(uint64(g.Read)) // -1 for what is not known
	w.length(uint64(g.Pending()))
	g.EachPending(keyspace.StreamID{}, func(p keyspace.StreamPending) bool {
		w.b = appendID(w.b, p.ID)
		w.millis(p.Delivered)
		w.length(uint64(p.Count))
		return true
	})
	unowned := unownedOf(g)
	if len(unowned) > 0 && g.Consumer("") == nil {
		w.length(uint64(g.Consumers() + 1))
		w.consumer(&keyspace.StreamConsumer{}, nil, unowned)
	} else {
		w.length(uint64(g.Consumers()))
	}
	g.EachConsumer(func(c *keyspace.StreamConsumer) bool {
		var pending []keyspace.StreamID
		g.EachPendingOf(c, keyspace.StreamID{}, func(p keyspace.StreamPending) bool {
			pending = append(pending, p.ID)
			return true
		})
		if c.Name != "" {
			unowned = nil
		}
		w.consumer(c, pending, unowned)
		return true
	})
}

// unownedOf returns the IDs of pending entries without a consumer. The form of Redis 7.0 has no place for
// them: they travel as those of a consumer without a name, with the delivery time 0 that tells
// them from its own.
func unownedOf(g *keyspace.StreamGroup) (ids []keyspace.StreamID) {
	g.EachPending(keyspace.StreamID{}, func(p keyspace.StreamPending) bool {
		if p.Unowned {
			ids = append(ids, p.ID)
		}
		return true
	})
	return ids
}

func (w *writer) consumer(c *keyspace.StreamConsumer, pending, more []keyspace.StreamID) {
	w.text(c.Name)
	w.millis(c.Seen)
	w.length(uint64(len(pending) + len(more)))
	for _, id := range pending {
		w.b = appendID(w.b, id)
	}
	for _, id := range more {
		w.b = appendID(w.b, id)
	}
}

// streamNode is some entries of a stream in one listpack. The fields of the first stand
// at its head.
type streamNode struct {
	first   keyspace.StreamID
	fields  []string
	entries int
	body    [][]string // what the listpack holds of each entry
	bytes   int        // length of the listpack so far
}

// streamNodes cuts a stream into nodes where Redis would.
func streamNodes(s *keyspace.StreamLog) (nodes []*streamNode) {
	s.Ascend(0, func(e keyspace.StreamEntry) bool {
		var words []string
		size := 0
		e.Words(func(word string) {
			words = append(words, word)
			size += len(word)
		})
		if n := len(nodes); n == 0 || nodes[n-1].bytes+size >= streamNodeBytes || nodes[n-1].entries >= streamNodeEntries {
			nodes = append(nodes, newStreamNode(e.ID, words))
		}
		nodes[len(nodes)-1].add(e.ID, words)
		return true
	})
	return nodes
}

func newStreamNode(id keyspace.StreamID, words []string) *streamNode {
	n := &streamNode{first: id, bytes: listpack.EmptySize}
	for i := 0; i < len(words); i += 2 {
		n.fields = append(n.fields, words[i])
		n.bytes += listpack.EntrySize(words[i])
	}
	n.bytes += listpack.EntrySize("1") * 4 // two counts, the number of fields, and a 0
	return n
}

// add puts an entry into the node: flags, the distance to the first ID, the words that
// the head doesn't tell, and how many parts these are, to walk backwards by.
func (n *streamNode) add(id keyspace.StreamID, words []string) {
	fields, values := make([]string, 0, len(words)/2), make([]string, 0, len(words)/2)
	for i := 0; i < len(words); i += 2 {
		fields, values = append(fields, words[i]), append(values, words[i+1])
	}
	flags := "0"
	parts := []string{decimal(int64(len(fields)))}
	if slices.Equal(fields, n.fields) {
		flags, parts = decimal(entrySameFields), values
	} else {
		parts = append(parts, words...)
	}
	entry := append([]string{flags, decimal(int64(id.Ms - n.first.Ms)), decimal(int64(id.Seq - n.first.Seq))}, parts...)
	entry = append(entry, decimal(int64(len(entry))))
	n.entries++
	n.body = append(n.body, entry)
	for _, part := range entry {
		n.bytes += listpack.EntrySize(part)
	}
}

func (n *streamNode) pack() []byte {
	var p listpack.Builder
	p.AddInt(int64(n.entries))
	p.AddInt(0) // none is marked as deleted
	p.AddInt(int64(len(n.fields)))
	for _, f := range n.fields {
		p.Add(f)
	}
	p.AddInt(0)
	for _, entry := range n.body {
		for _, part := range entry {
			p.Add(part)
		}
	}
	return p.Bytes()
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
