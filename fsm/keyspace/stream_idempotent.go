package keyspace

import (
	"cmp"
	"math"
	"strings"

	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// What a stream remembers of idempotent additions unless XCFGSET says otherwise, and the
// greatest settings.
const (
	DefaultIdempotenceSeconds = 100
	DefaultIdempotenceIDs     = 100
	MaxIdempotenceSeconds     = 86_400
	MaxIdempotenceIDs         = 10_000
)

// additionCost is the logical overhead of a remembered addition in bytes.
const additionCost = 160

// StreamIdempotence remembers the entry of each addition that carried an id of its
// producer's.
type StreamIdempotence struct {
	// Seconds is the time that an addition is remembered, IDs the number remembered of one producer.
	Seconds, IDs int64
	// Added and Duplicates count additions that were made, and that were not because they had
	// been made before.
	Added, Duplicates int64

	next   uint64 // sequence number of the next addition
	byID   *cow.BTree[additionID, addition]
	oldest *cow.BTree[uint64, additionID]     // by sequence number
	recent *cow.BTree[additionNumber, string] // a producer's ids by sequence number
	pids   int                                // producers in recent
}

type additionID struct{ producer, id string }

type additionNumber struct {
	producer string
	number   uint64
}

type addition struct {
	number uint64
	entry  StreamID
	at     int64 // unix milliseconds
}

func newIdempotence() *StreamIdempotence {
	m := &StreamIdempotence{Seconds: DefaultIdempotenceSeconds, IDs: DefaultIdempotenceIDs}
	m.clear()
	return m
}

func (si *StreamIdempotence) clear() {
	si.byID = cow.NewBTree[additionID, addition](func(k additionID) uint64 { return headOfText(k.producer) }, func(a, b additionID) int {
		return cmp.Or(strings.Compare(a.producer, b.producer), strings.Compare(a.id, b.id))
	})
	si.oldest = cow.NewBTree[uint64, additionID](func(n uint64) uint64 { return n }, cmp.Compare[uint64])
	si.recent = cow.NewBTree[additionNumber, string](func(k additionNumber) uint64 { return headOfText(k.producer) }, func(a, b additionNumber) int {
		return cmp.Or(strings.Compare(a.producer, b.producer), cmp.Compare(a.number, b.number))
	})
	si.pids = 0
}

// headOfText orders texts by their first eight bytes.
func headOfText(s string) (head uint64) {
	for i := range 8 {
		head <<= 8
		if i < len(s) {
			head |= uint64(s[i])
		}
	}
	return head
}

func (si *StreamIdempotence) clone() *StreamIdempotence {
	c := *si
	c.byID, c.oldest, c.recent = si.byID.Snapshot(), si.oldest.Snapshot(), si.recent.Snapshot()
	return &c
}

// Producers counts the producers with remembered additions, Remembered the remembered
// additions. Those past their time may be among them until the next addition.
func (si *StreamIdempotence) Producers() int { return si.pids }

// Remembered is the number of additions; see Producers.
func (si *StreamIdempotence) Remembered() int { return si.byID.Len() }

// ends reports whether an addition's time has passed at now.
func (si *StreamIdempotence) ends(a addition, now int64) bool { return now-a.at >= 1000*si.Seconds }

// Idempotence returns the additions that the stream remembers, nil if it was never asked to remember any.
func (sl *StreamLog) Idempotence() *StreamIdempotence { return sl.idempotence }

// OwnIdempotence is Idempotence of a stream that may be changed, made if there is none.
func (sl *StreamLog) OwnIdempotence() *StreamIdempotence {
	if sl.idempotence == nil {
		sl.idempotence = newIdempotence()
	}
	return sl.idempotence
}

// AddedBefore is the entry that an addition has made before now.
func (sl *StreamLog) AddedBefore(producer, id string, now int64) (entry StreamID, ok bool) {
	if sl == nil || sl.idempotence == nil {
		return entry, false
	}
	a, ok := sl.idempotence.byID.Get(additionID{producer, id})
	if !ok || sl.idempotence.ends(a, now) {
		return entry, false
	}
	return a.entry, true
}

// maxForgotten is the largest number of expired additions that a new one removes.
const maxForgotten = 64

// Remember records what an addition has made at now. Names are copied.
func (sl *StreamLog) Remember(producer, id string, entry StreamID, now int64) {
	m := sl.OwnIdempotence()
	for range maxForgotten {
		_, k, ok := m.oldest.Min()
		if !ok {
			break
		}
		if a, _ := m.byID.Get(k); !m.ends(a, now) {
			break
		}
		sl.forgetAddition(k)
	}
	sl.forgetAddition(additionID{producer, id})
	if n := m.ofProducer(producer); int64(n) >= m.IDs {
		first, _ := m.recent.At(m.before(producer))
		old, _ := m.recent.Get(first)
		sl.forgetAddition(additionID{producer, old})
	}
	sl.remember(additionID{strings.Clone(producer), strings.Clone(id)}, addition{number: m.next, entry: entry, at: now})
	m.Added++
}

func (sl *StreamLog) remember(k additionID, a addition) {
	m := sl.idempotence
	if m.ofProducer(k.producer) == 0 {
		m.pids++
	}
	m.next = a.number + 1
	m.byID.Set(k, a)
	m.oldest.Set(a.number, k)
	m.recent.Set(additionNumber{k.producer, a.number}, k.id)
	sl.version.size += k.size()
}

func (ai additionID) size() int64 { return additionCost + int64(len(ai.producer)+len(ai.id)) }

// before is the place of a producer's first addition in recent.
func (si *StreamIdempotence) before(producer string) int {
	i, _ := si.recent.Rank(additionNumber{producer: producer})
	return i
}

// ofProducer returns the number of a producer's additions that are remembered.
func (si *StreamIdempotence) ofProducer(producer string) int {
	end, _ := si.recent.Rank(additionNumber{producer, math.MaxUint64})
	return end - si.before(producer)
}

func (sl *StreamLog) forgetAddition(k additionID) {
	m := sl.idempotence
	a, had := m.byID.Remove(k)
	if !had {
		return
	}
	m.oldest.Delete(a.number)
	m.recent.Delete(additionNumber{k.producer, a.number})
	if m.ofProducer(k.producer) == 0 {
		m.pids--
	}
	sl.version.size -= k.size()
}

// Configure sets how long additions are remembered and how many of a producer; other values
// than before clear what is remembered.
func (sl *StreamLog) Configure(seconds, ids int64) {
	m := sl.OwnIdempotence()
	if m.Seconds == seconds && m.IDs == ids {
		return
	}
	m.byID.All(func(k additionID, _ addition) bool {
		sl.version.size -= k.size()
		return true
	})
	m.clear()
	m.Seconds, m.IDs = seconds, ids
}

// encode writes the settings, the counters, and the additions from the oldest to the newest.
func (si *StreamIdempotence) encode(w *wire.Writer) {
	w.Uvarint(uint64(si.Seconds))
	w.Uvarint(uint64(si.IDs))
	w.Uvarint(uint64(si.Added))
	w.Uvarint(uint64(si.Duplicates))
	w.Uvarint(uint64(si.oldest.Len()))
	si.oldest.All(func(_ uint64, k additionID) bool {
		a, _ := si.byID.Get(k)
		w.String(k.producer)
		w.String(k.id)
		writeID(w, StreamID{}, a.entry)
		w.Varint(a.at)
		return true
	})
	w.Bool(true)
}

func (sl *StreamLog) readIdempotence(r *wire.Reader) bool {
	m := newIdempotence()
	sl.idempotence = m
	m.Seconds, m.IDs = int64(r.Uvarint()), int64(r.Uvarint())
	m.Added, m.Duplicates = int64(r.Uvarint()), int64(r.Uvarint())
	if m.Seconds < 1 || m.Seconds > MaxIdempotenceSeconds || m.IDs < 1 || m.IDs > MaxIdempotenceIDs || m.Added < 0 || m.Duplicates < 0 {
		return false
	}
	for range r.Count(5) {
		k := additionID{r.String(), r.String()}
		a := addition{number: m.next, entry: readID(r, StreamID{}), at: r.Varint()}
		if _, twice := m.byID.Get(k); twice || r.Err() != nil || int64(m.ofProducer(k.producer)) >= m.IDs {
			return false
		}
		sl.remember(k, a)
	}
	return r.Bool() && r.Err() == nil
}
