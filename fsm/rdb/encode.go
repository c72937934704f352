package rdb

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/listpack"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// value writes an object behind its type and says which version of the format that
// needs. Forms are those of Redis 7.0 wherever it has one.
func (w *writer) value(o *keyspace.Object, now env.Time) (version uint16, err error) {
	switch c := o.Data().(type) {
	case *keyspace.Elements:
		w.list(c)
	case *keyspace.Members:
		w.set(c)
	case *keyspace.ZSet:
		w.zset(c)
	case *keyspace.Fields:
		first := firstDeadline(c, now)
		w.undated = first != 0 && w.withoutDeadlines
		if first != 0 && !w.withoutDeadlines {
			w.timedHash(c, now, first)
			return timedVersion, nil
		}
		w.hash(c, now, first != 0 || o.Encoding() == "hashtable")
	case *keyspace.StreamLog:
		w.stream(c)
	case *keyspace.Document:
		err = w.document(c)
	case *keyspace.Vectors:
		w.record(c, vectorModule, vectorVersion)
	case *keyspace.SparseArray:
		w.record(c, arrayModule, arrayVersion)
	default:
		w.kind(TypeString)
		w.text(o.Text())
	}
	return plainVersion, err
}

// nodeSize is the size at which a part of a list ends, in bytes.
const nodeSize = 8192

// list writes elements in parts.
func (w *writer) list(c *keyspace.Elements) {
	w.kind(TypeListQuicklist2)
	var nodes []string
	var open listpack.Builder
	c.Ascend(0, func(_ int, v string) bool {
		if open.Len() > 0 && open.Size()+listpack.EntrySize(v) > nodeSize {
			nodes = append(nodes, string(open.Bytes()))
			open = listpack.Builder{}
		}
		open.Add(v)
		return true
	})
	nodes = append(nodes, string(open.Bytes()))
	w.length(uint64(len(nodes)))
	for _, n := range nodes {
		w.length(nodePacked)
		w.text(n)
	}
}

// packed writes a list of entries as one string.
func (w *writer) packed(p *listpack.Builder) { w.text(keyspace.Adopt(p.Bytes())) }

// setInts is the largest number of integers of a set in the form for integers.
const setInts = 512

func (w *writer) set(c *keyspace.Members) {
	if numbers, ok := integers(c); ok {
		w.kind(TypeSetIntset)
		w.intset(numbers)
		return
	}
	w.kind(TypeSet)
	w.length(uint64(c.Len()))
	c.All(func(member string) bool {
		w.text(member)
		return true
	})
}

// integers are the members of a set in ascending order, if all are integers and few.
func integers(c *keyspace.Members) (numbers []int64, ok bool) {
	ok = c.Len() <= setInts
	c.All(func(member string) bool {
		n, isInt := listpack.ParseInt(member)
		ok = ok && isInt
		numbers = append(numbers, n)
		return ok
	})
	slices.Sort(numbers)
	return numbers, ok
}

// intset writes integers in the width that the largest needs.
func (w *writer) intset(numbers []int64) {
	width := 2
	for _, n := range numbers {
		switch {
		case n != int64(int32(n)):
			width = 8
		case n != int64(int16(n)):
			width = max(width, 4)
		}
	}
	b := binary.LittleEndian.AppendUint32(nil, uint32(width))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(numbers)))
	for _, n := range numbers {
		var whole [8]byte
		binary.LittleEndian.PutUint64(whole[:], uint64(n))
		b = append(b, whole[:width]...)
	}
	w.text(keyspace.Adopt(b))
}

func (w *writer) zset(c *keyspace.ZSet) {
	if c.Loose() {
		w.kind(TypeZSet2)
		w.length(uint64(c.Len()))
		c.Each(0, func(s keyspace.Scored) bool {
			w.text(s.Member)
			w.double(s.Score)
			return true
		})
		return
	}
	w.kind(TypeZSetListpack)
	var p listpack.Builder
	c.Each(0, func(s keyspace.Scored) bool {
		p.Add(s.Member)
		p.Add(scoreText(s.Score))
		return true
	})
	w.packed(&p)
}

// scoreText is a score as packed sorted sets hold it.
func scoreText(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return reply.FormatDouble(f + 0) // one zero
	}
	return reply.FormatDouble(f)
}

// firstDeadline is the earliest of the fields, 0 if none has one.
func firstDeadline(c *keyspace.Fields, now env.Time) (first int64) {
	if !c.Timed() {
		return 0
	}
	c.AllTimed(now, func(_, _ string, at keyspace.Deadline) bool {
		if ms := at.Millis(); ms != 0 && (first == 0 || ms < first) {
			first = ms
		}
		return true
	})
	return first
}

func (w *writer) hash(c *keyspace.Fields, now env.Time, loose bool) {
	if loose {
		w.kind(TypeHash)
		w.length(uint64(c.Len(now)))
		c.All(now, func(field, value string) bool {
			w.text(field)
			w.text(value)
			return true
		})
		return
	}
	w.kind(TypeHashListpack)
	var p listpack.Builder
	c.All(now, func(field, value string) bool {
		p.Add(field)
		p.Add(value)
		return true
	})
	w.packed(&p)
}

// timedHash writes fields with deadlines, which count from the first one.
func (w *writer) timedHash(c *keyspace.Fields, now env.Time, first int64) {
	w.kind(TypeHashTimed)
	w.millis(first)
	w.length(uint64(c.Len(now)))
	c.AllTimed(now, func(field, value string, at keyspace.Deadline) bool {
		after := uint64(0)
		if at != 0 {
			after = uint64(at.Millis()-first) + 1
		}
		w.length(after)
		w.text(field)
		w.text(value)
		return true
	})
}

// record writes a container of a type that no other server reads.
func (w *writer) record(c keyspace.Container, module string, version uint64) {
	var record wire.Writer
	c.Encode(&record)
	w.kind(TypeModule2)
	w.length(moduleID(module, version))
	w.length(moduleString)
	w.text(string(record.B))
	w.length(moduleEnd)
}

// document writes a document as the JSON module of Redis does.
func (w *writer) document(c *keyspace.Document) error {
	text, err := jsondoc.Text(c.Root())
	if err != nil {
		return err
	}
	w.kind(TypeModule2)
	w.length(moduleID(jsonModule, jsonVersion))
	w.length(moduleString)
	w.text(text)
	w.length(moduleEnd)
	return nil
}
