package queue

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"hash"
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

// publishedUnder returns the publication under a key within the window, if there is one.
func (s *Store) publishedUnder(key dedupKey, now int64) (dedup, bool) {
	d, ok := s.dedups.Get(key)
	return d, ok && d.end > now
}

// remember has a key name what was published for the window from now on.
func (s *Store) remember(key dedupKey, d dedup, now int64) {
	s.forget(key)
	window := s.settings.DedupWindow
	if window <= 0 {
		return
	}
	d.end = addTime(now, window)
	s.dedups.Set(key, d)
	s.dedupEnds.Set(dedupEnd{roundUp(d.end), key}, struct{}{})
	s.fixedBytes += dedupCost
}

func (s *Store) forget(key dedupKey) {
	if d, had := s.dedups.Remove(key); had {
		s.dedupEnds.Delete(dedupEnd{roundUp(d.end), key})
		s.fixedBytes -= dedupCost
	}
}

// forgetDedups forgets keys whose window is over.
func (s *Store) forgetDedups(now int64, limit int) (done int) {
	for ; done < limit; done++ {
		d, _, ok := s.dedupEnds.Min()
		if !ok || d.at > now {
			break
		}
		s.forget(d.key)
	}
	return done
}
