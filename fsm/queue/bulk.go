package queue

import (
	"bytes"
	"crypto/sha256"

	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// A bulk action cancels whatever matched a filter when it was accepted. It is a record of the state with a cursor: the node
// that was asked may take its steps, and Sweep takes them otherwise, so that it goes on whoever leads.

const (
	// MaxBulkOpen is the most bulk actions that may be in progress (the reference's limit).
	MaxBulkOpen = 1000
	// maxBulkKept is the most that are remembered; beyond it the oldest that has ended is forgotten early.
	maxBulkKept = 10_000
	// bulkAge is the time that a bulk action is remembered from its creation on, in milliseconds.
	bulkAge = 7 * day
	// bulkScan is the most records that a step looks at, countScan the most that one reading looks at to count what a filter chooses.
	bulkScan  = 500
	countScan = 2_000
	// bulkCost is the logical overhead of a bulk action, in bytes.
	bulkCost = 300
)

// BulkAction is a bulk action. A stored one is never modified: a change replaces it.
type BulkAction struct {
	// No is its place in the order of all.
	No uint64
	ID string
	// Filter chooses the records that it applies to: a Filter of its package, coded.
	Filter []byte
	// Total counts the records that matched when it was accepted, Processed those of them that it has changed or passed.
	Total, Processed int
	// Created is the time at which it was accepted, Completed that of its end (0 = in progress), in unix milliseconds.
	Created, Completed int64
	// After is the cursor: the last record that was looked at. Until bounds the records by their numbers: later ones are
	// not meant.
	After, Until uint64
}

// Done reports whether it has ended.
func (ba *BulkAction) Done() bool { return ba.Completed != 0 }

func (ba *BulkAction) size() int64 { return bulkCost + int64(len(ba.Filter)+2*len(ba.ID)) }

// filter decodes Filter as one of messages.
func (ba *BulkAction) filter() (f Filter) {
	wire.NewReader(ba.Filter).Get(&f)
	return f
}

// Fields codes the value in its wire format. A decoded Filter aliases the input.
func (ba *BulkAction) Fields(c *wire.Codec) {
	c.Uvarint(&ba.No)
	c.String(&ba.ID)
	c.Bytes(&ba.Filter)
	c.Int(&ba.Total)
	c.Int(&ba.Processed)
	c.Varint(&ba.Created)
	c.Varint(&ba.Completed)
	c.Uvarint(&ba.After)
	c.Uvarint(&ba.Until)
}

// BulkAct says what is asked of a bulk action.
type BulkAct uint8

// What may be asked.
const (
	// BulkStart makes one; if one of the same filter is in progress, that is the answer.
	BulkStart BulkAct = iota
	// BulkStep has one go on.
	BulkStep
	// BulkStop ends one where it is.
	BulkStop
	bulkActs
)

// BulkRequest is the argument of the operation BulkCancel, and what that of runs is made of.
type BulkRequest struct {
	Act BulkAct
	// ID names the bulk action, but for BulkStart.
	ID string
	// Matched counts the records that matched at the request, by the count of the node that received it.
	Matched int
}

// Fields codes the value in its wire format.
func (br *BulkRequest) Fields(c *wire.Codec) {
	wire.Enum(c, &br.Act, bulkActs)
	c.String(&br.ID)
	c.Int(&br.Matched)
}

// BulkCancellation is the argument of the operation BulkCancel.
type BulkCancellation struct {
	BulkRequest
	Filter Filter
}

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (bc *BulkCancellation) Fields(c *wire.Codec) {
	c.Record(bc.BulkRequest.Fields)
	c.Record(bc.Filter.Fields)
}

// BulkTable holds bulk actions. Make one with NewBulkTable.
type BulkTable struct {
	all  *cow.BTree[uint64, *BulkAction]
	open *cow.BTree[uint64, struct{}] // those in progress
	ids  *cow.BTree[string, uint64]
	// filters are hashes of the filters of those in progress, of which there is at most one of each.
	filters *cow.BTree[string, uint64]
	bytes   int64
}

// NewBulkTable is a table without bulk actions.
func NewBulkTable() BulkTable {
	return BulkTable{all: byNumber[*BulkAction](), open: byNumber[struct{}](), ids: byName[uint64](), filters: byName[uint64]()}
}

// Fork is the table as it is now, in constant time.
func (t *BulkTable) Fork() BulkTable {
	return BulkTable{all: t.all.Snapshot(), open: t.open.Snapshot(), ids: t.ids.Snapshot(), filters: t.filters.Snapshot(), bytes: t.bytes}
}

// Used is the logical memory of the table, in bytes.
func (t *BulkTable) Used() int64 { return t.bytes }

// Find is the bulk action of an id, nil if there is none.
func (t *BulkTable) Find(id string) *BulkAction {
	no, ok := t.ids.Get(id)
	if !ok {
		return nil
	}
	b, _ := t.all.Get(no)
	return b
}

// List returns bulk actions, the newest first, below a number (0 = from the newest on). Cursor is the number of the last one
// if there are more, else 0.
func (t *BulkTable) List(below uint64, limit int) (list []*BulkAction, cursor uint64) {
	i := t.all.Len()
	if below != 0 {
		i, _ = t.all.Rank(below)
	}
	for i--; i >= 0; i-- {
		if len(list) == limit {
			return list, list[limit-1].No
		}
		_, b := t.all.At(i)
		list = append(list, b)
	}
	return list, 0
}

// Records returns all in their order, for a snapshot.
func (t *BulkTable) Records() *cow.BTree[uint64, *BulkAction] { return t.all }

// Put stores a bulk action in place of its older form. The table keeps it: it must not alias the log.
func (t *BulkTable) Put(b *BulkAction) {
	if old, ok := t.all.Get(b.No); ok {
		t.bytes -= old.size()
	}
	t.bytes += b.size()
	t.all.Set(b.No, b)
	t.ids.Set(b.ID, b.No)
	if !b.Done() {
		t.open.Set(b.No, struct{}{})
		t.filters.Set(filterKey(b.Filter), b.No)
	} else if t.open.Delete(b.No) {
		t.filters.Delete(filterKey(b.Filter))
	}
}

// filterKey returns the key of a filter among those in progress.
func filterKey(filter []byte) string {
	sum := sha256.Sum256(filter)
	return string(sum[:])
}

func (t *BulkTable) drop(b *BulkAction) {
	t.bytes -= b.size()
	t.all.Delete(b.No)
	t.ids.Delete(b.ID)
}

// Start makes a bulk action under a number that is greater than those before, or returns the one of the same filter that is
// in progress.
func (t *BulkTable) Start(e *env.Env, no, until uint64, filter []byte, matched int) (b *BulkAction, refused error) {
	same, found := t.filters.Get(filterKey(filter))
	switch {
	case found:
		b, _ = t.all.Get(same)
		return b, nil
	case t.open.Len() >= MaxBulkOpen:
		return nil, quota("maxBulkActions")
	}
	b = &BulkAction{No: no, ID: e.NewID("bulk"), Filter: bytes.Clone(filter), Total: max(matched, 0), Created: e.Now, Until: until}
	t.Put(b)
	return b, nil
}

// Progress stores what a step has done: count records were dealt with, the last that was looked at is after, and more says
// whether others are left. When none is, whatever matched has been dealt with, by the action or by its own end.
func (t *BulkTable) Progress(e *env.Env, b *BulkAction, count int, after uint64, more bool) *BulkAction {
	n := *b
	n.Processed, n.After = n.Processed+count, after
	n.Total = max(n.Total, n.Processed)
	if !more {
		n.Completed = e.Now
		if b.After == 0 { // all of it in one entry: the number is exact
			n.Total = n.Processed
		}
		n.Processed = n.Total
	}
	t.Put(&n)
	return &n
}

// Stop ends a bulk action where it is.
func (t *BulkTable) Stop(e *env.Env, b *BulkAction) *BulkAction {
	if b.Done() {
		return b
	}
	n := *b
	n.Completed = e.Now
	t.Put(&n)
	return &n
}

// Oldest returns the action in progress that was accepted first, nil if there is none.
func (t *BulkTable) Oldest() *BulkAction {
	no, _, ok := t.open.Min()
	if !ok {
		return nil
	}
	b, _ := t.all.Get(no)
	return b
}

// Forget removes what need not be remembered, at most limit.
func (t *BulkTable) Forget(now int64, limit int) (done int) {
	for ; done < limit; done++ {
		_, b, ok := t.all.Min()
		if !ok || !b.Done() || t.end(b) > now && t.all.Len() <= maxBulkKept {
			break
		}
		t.drop(b)
	}
	return done
}

func (t *BulkTable) end(b *BulkAction) int64 { return roundUp(addTime(b.Created, bulkAge)) }

// NextSweep returns the time at which the next step is due or the next action is to be forgotten, in unix milliseconds.
func (t *BulkTable) NextSweep() (unixms int64, ok bool) {
	if t.open.Len() > 0 {
		return 0, true
	}
	_, b, ok := t.all.Min()
	if !ok {
		return 0, false
	}
	return t.end(b), true
}

// BulkCancel starts, continues or stops the cancellation of the messages that a filter chooses. The errors are ErrQuota
// when too many are in progress, and ErrNotFound for an id of none.
func (s *Store) BulkCancel(e *env.Env, n BulkCancellation) (BulkAction, error) {
	var b *BulkAction
	switch n.Act {
	case BulkStart:
		var err error
		n.Filter.IDs, n.Filter.States, n.Filter.Statuses = nil, nil, nil
		until := s.next()
		if b, err = s.bulk.Start(e, until, until, wire.Marshal(&n.Filter), n.Matched); err != nil {
			return BulkAction{}, err
		}
	default:
		if b = s.bulk.Find(n.ID); b == nil {
			return BulkAction{}, notFound("bulk action %s not found", n.ID)
		}
	}
	if n.Act == BulkStop {
		b = s.bulk.Stop(e, b)
	} else if !b.Done() {
		b, _ = s.bulkStep(e, b, maxCancel)
	}
	s.trim(e)
	return *b, nil
}

// bulkStep has a bulk action go on: limit messages are cancelled at most.
func (s *Store) bulkStep(e *env.Env, b *BulkAction, limit int) (*BulkAction, int) {
	f := b.filter()
	out := s.cancelSome(e, &f, b.After, b.Until, bulkScan, limit)
	return s.bulk.Progress(e, b, out.Count, max(out.Last, b.After), out.More), out.Count
}

// sweepBulk takes a step of the oldest bulk action and forgets old ones. While one is left to do, it counts as limit.
func (s *Store) sweepBulk(e *env.Env, limit int) (done int) {
	if limit <= 0 {
		return 0
	}
	if b := s.bulk.Oldest(); b != nil {
		if s.bulkStep(e, b, limit); s.bulk.Oldest() != nil {
			return limit
		}
		done++
	}
	return done + s.bulk.Forget(e.Now, limit-done)
}

// CountMatching counts messages that a cancellation by a filter would cancel, of those behind after and at most
// countScan that it looks at; more says that others are left behind last.
func (s *Store) CountMatching(f *Filter, after uint64) (n int, last uint64, more bool) {
	looked, filter := 0, f.chooser()
	s.messages.Ascend(after+1, func(seq uint64, m *Message) bool {
		if more = looked == countScan; more {
			return false
		}
		looked, last = looked+1, seq
		if s.cancellable(m, filter) {
			n++
		}
		return true
	})
	return n, last, more
}

// cancellable reports whether a cancellation by a filter means m.
func (s *Store) cancellable(m *Message, f *chooser) bool {
	if m.place == placeDone || m.stopping || m.run {
		return false
	}
	c := m.envelope()
	return f.within(c.Created) && f.match(m.ID, c)
}

// Bulk are the bulk actions of messages, for reading.
func (s *Store) Bulk() *BulkTable { return &s.bulk }
