package logstore

import (
	"sync"

	"github.com/hashicorp/raft"
)

const (
	cacheEntries = 1024
	cacheBytes   = 8 << 20
	// cacheNewest is the number of the newest entries that stay whatever their size. Raft asks for the entry before the one
	// that it sends, for its term alone, once for each follower; otherwise large entries would be read from the disk for that.
	cacheNewest = 4
)

// cache keeps the newest entries in memory for replication and apply, above the checks of the Store: what raft and the state machine
// read from it are the very entries that were appended. docs/design/logstore.md says why it is not raft's own.
//
// It shares the entries' bytes with its callers, who may not write to them. It does not share the entries themselves: raft has
// them inside its futures, which would keep every reply of the last thousand entries in memory too.
type cache struct {
	limit int // bytes of data, in addition to the cacheNewest newest entries

	mu        sync.RWMutex
	ring      []raft.Log // by index modulo length
	low, high uint64     // the cached indexes; none if high < low
	bytes     int
}

func newCache(entries, bytes int) *cache {
	return &cache{limit: bytes, ring: make([]raft.Log, entries), low: 1}
}

// get copies the entry at an index to out, and reports whether the cache has it.
func (c *cache) get(index uint64, out *raft.Log) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if index < c.low || index > c.high {
		return false
	}
	*out = c.ring[index%uint64(len(c.ring))]
	return true
}

// put keeps entries that were stored without an error.
func (c *cache) put(logs []*raft.Log) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range logs {
		if l.Index != c.high+1 {
			c.clear(l.Index)
		}
		if c.high-c.low+1 == uint64(len(c.ring)) {
			c.drop(c.low)
			c.low++
		}
		c.high = l.Index
		c.ring[l.Index%uint64(len(c.ring))] = *l
		for c.bytes += sizeOf(l); c.bytes > c.limit && c.low+cacheNewest <= c.high; c.low++ {
			c.drop(c.low)
		}
	}
}

func (c *cache) forget(from, to uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case to < c.low || from > c.high:
	case to >= c.high && from > c.low:
		for ; c.high >= from; c.high-- {
			c.drop(c.high)
		}
	case to < c.high && from <= c.low:
		for ; c.low <= to; c.low++ {
			c.drop(c.low)
		}
	default: // all, or a hole, which raft never makes
		c.clear(c.low)
	}
}

// clear empties the cache; next is the index of the next entry.
func (c *cache) clear(next uint64) {
	clear(c.ring)
	c.low, c.high, c.bytes = next, next-1, 0
}

func (c *cache) drop(index uint64) {
	at := &c.ring[index%uint64(len(c.ring))]
	c.bytes -= sizeOf(at)
	*at = raft.Log{}
}

func sizeOf(l *raft.Log) int { return len(l.Data) + len(l.Extensions) }
