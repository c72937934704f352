package queue

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"github.com/trireme-dev/trireme/fsm/cow"
)

// dedupKey is a hash of what may be published once: an id, or a content.
type dedupKey [16]byte

// dedup remembers a publication until a time: its message, or the schedule that it made.
type dedup struct {
	id       ID
	schedule string
	end      int64
}

// dedupEnd is a place in the order in which publications are forgotten.
type dedupEnd struct {
	at  int64 // rounded up
	key dedupKey
}

func compareDedups(a, b dedupKey) int { return bytes.Compare(a[:], b[:]) }

func compareDedupEnds(a, b dedupEnd) int {
	return cmp.Or(cmp.Compare(a.at, b.at), compareDedups(a.key, b.key))
}

// dedupCost is the logical memory of one remembered publication in bytes.
const dedupCost = 160

// dedupOf is the key under which the message of one target is published once; false if it may be published again. An
// explicit id wins over the content. In a URL group each endpoint counts by itself.
//
// sum is the result of contentSum.
func dedupOf(p *Publication, o *Options, t target, sum *[sha256.Size]byte) (key dedupKey, wanted bool) {
	if p.DedupID == "" && !p.ContentDedup {
		return key, false
	}
	h := sha256.New()
	if len(p.Run) > 0 { // runs are apart from messages
		put(h, "run")
	}
	if p.DedupID != "" {
		put(h, "id", p.DedupID, t.group)
		if t.group != "" {
			put(h, t.url)
		}
	} else if sum != nil {
		put(h, "sum", t.url, t.group, string(sum[:]))
	} else {
		put(h, "content", t.url, t.group, string(p.Body))
		for _, f := range o.Header {
			put(h, f.Name, f.Value)
		}
	}
	var all [sha256.Size]byte
	h.Sum(all[:0])
	return dedupKey(all[:len(key)]), true
}

// contentSum is a hash of the body and the header of a publication to a group that is made once by its content: they are read
// once, not for each endpoint. It is nil for others.
func contentSum(p *Publication, o *Options) *[sha256.Size]byte {
	if p.Group == "" || !p.ContentDedup || p.DedupID != "" {
		return nil
	}
	h := sha256.New()
	put(h, string(p.Body))
	for _, f := range o.Header {
		put(h, f.Name, f.Value)
	}
	var sum [sha256.Size]byte
	h.Sum(sum[:0])
	return &sum
}

// put hashes texts so that their borders count.
func put(h hash.Hash, texts ...string) {
	var n [8]byte
	for _, t := range texts {
		binary.BigEndian.PutUint64(n[:], uint64(len(t)))
		h.Write(n[:])
		h.Write([]byte(t))
	}
}

// dedupTable remembers publications that may be made once, by their keys and in the order in which they are forgotten.
type dedupTable struct {
	byKey *cow.BTree[dedupKey, dedup]
	ends  *cow.BTree[dedupEnd, struct{}]
}

func newDedupTable() dedupTable {
	return dedupTable{
		byKey: cow.NewBTree[dedupKey, dedup](func(k dedupKey) uint64 { return binary.BigEndian.Uint64(k[:]) }, compareDedups),
		ends:  cow.NewBTree[dedupEnd, struct{}](func(d dedupEnd) uint64 { return uint64(d.at) }, compareDedupEnds),
	}
}

func (dt *dedupTable) fork() dedupTable {
	return dedupTable{byKey: dt.byKey.Snapshot(), ends: dt.ends.Snapshot()}
}

// published returns the publication under a key within the window, if there is one.
func (dt *dedupTable) published(key dedupKey, now int64) (dedup, bool) {
	d, ok := dt.byKey.Get(key)
	return d, ok && d.end > now
}

// put stores a key that is not there.
func (dt *dedupTable) put(key dedupKey, d dedup) {
	dt.byKey.Set(key, d)
	dt.ends.Set(dedupEnd{roundUp(d.end), key}, struct{}{})
}

// remove removes a key and reports whether it was there.
func (dt *dedupTable) remove(key dedupKey) (had bool) {
	d, had := dt.byKey.Remove(key)
	if had {
		dt.ends.Delete(dedupEnd{roundUp(d.end), key})
	}
	return had
}

// remember has a key name what was published for the window from now on.
func (s *Store) remember(key dedupKey, d dedup, now int64) {
	s.forget(key)
	window := s.settings.DedupWindow
	if window <= 0 {
		return
	}
	d.end = addTime(now, window)
	s.storeDedup(key, d)
}

func (s *Store) storeDedup(key dedupKey, d dedup) {
	s.dedups.put(key, d)
	s.memory.fixed += dedupCost
}

func (s *Store) forget(key dedupKey) {
	if s.dedups.remove(key) {
		s.memory.fixed -= dedupCost
	}
}

// forgetDedups forgets keys whose window is over.
func (s *Store) forgetDedups(now int64, limit int) (done int) {
	for ; done < limit; done++ {
		d, _, ok := s.dedups.ends.Min()
		if !ok || d.at > now {
			break
		}
		s.forget(d.key)
	}
	return done
}
