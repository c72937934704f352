package queue

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// A message that gathers waits for other publications of its key. It leaves that state with the claim of its first attempt, or when it is
// cancelled: from then on it is a message like any other.

// gathering is the record of a message that gathers publications. A stored one is never modified: a change replaces it.
type gathering struct {
	// first is the time of its first publication, in unix milliseconds.
	first int64
	// count is the number of publications that it has taken in; those that were taken out of a batch again do not count.
	count int
	// bytes is the length of a batch's body. full: it takes no more.
	bytes int64
	full  bool
	// header and labels are those that all publications of a batch have alike.
	header []Field
	labels []string
}

// gatheringCost is the logical overhead of a message that gathers, in bytes.
const gatheringCost = 200

func (ga *gathering) size() int64 {
	return gatheringCost + headerSize(ga.header) + textsSize(ga.labels...)
}

// Fields codes the value in its wire format.
func (ga *gathering) Fields(c *wire.Codec) {
	c.Varint(&ga.first)
	c.Int(&ga.count)
	c.Varint(&ga.bytes)
	c.Bool(&ga.full)
	wire.List(c, &ga.header, 2)
	c.Texts(&ga.labels)
}

// gatherTable holds what gathers, the keys by which publications find it, and the publications of batches.
type gatherTable struct {
	// keys are derived: the message that takes in publications of a key, or the queue of a singleton's key.
	keys *cow.BTree[dedupKey, uint64]
	open *cow.BTree[uint64, *gathering] // by message
	// parts are the publications of batches by their numbers, for as long as the message of the batch is kept; members are derived: the
	// parts of each batch.
	parts   *cow.BTree[uint64, *part]
	members *cow.BTree[member, struct{}]
}

func newGatherTable() gatherTable {
	return gatherTable{
		keys: cow.NewBTree[dedupKey, uint64](func(k dedupKey) uint64 { return binary.BigEndian.Uint64(k[:]) }, compareDedups),
		open: byNumber[*gathering](), parts: byNumber[*part](), members: byMember(),
	}
}

func (gt *gatherTable) fork() gatherTable {
	return gatherTable{keys: gt.keys.Snapshot(), open: gt.open.Snapshot(), parts: gt.parts.Snapshot(), members: gt.members.Snapshot()}
}

// admitPublication makes a message of c, or has it join one that is there.
func (s *Store) admitPublication(e *env.Env, c *Content, shared *body) Published {
	switch g := c.Gather; {
	case g.batches():
		return s.addToBatch(e, c)
	case g.waits():
		return s.debounce(e, c, shared)
	case g.isSingleton():
		if live, done := s.singleton(e, c); done {
			return live
		}
	}
	return Published{ID: s.create(e, c, shared).ID}
}

// setGathering stores what is known of a message that gathers, nil if it gathers no more.
func (s *Store) setGathering(seq uint64, n *gathering) {
	if old, had := s.gathered.open.Get(seq); had {
		s.memory.live -= old.size()
	}
	if n == nil {
		s.gathered.open.Delete(seq)
		return
	}
	s.memory.live += n.size()
	s.gathered.open.Set(seq, n)
}

// debounce replaces the content of the message that waits, and moves its time, or makes one that waits.
func (s *Store) debounce(e *env.Env, c *Content, shared *body) Published {
	key := c.gatherKey()
	seq, waits := s.gathered.keys.Get(key)
	if !waits {
		m := s.create(e, c, shared)
		s.gathered.keys.Set(key, m.Seq)
		s.setGathering(m.Seq, &gathering{first: e.Now, count: 1})
		return Published{ID: m.ID}
	}
	old, _ := s.messages.Get(seq)
	n, _ := s.gathered.open.Get(seq)
	again := *n
	again.count++
	s.setGathering(seq, &again)
	s.replaceContent(e, old, c, shared, n.first)
	return Published{ID: old.ID, Debounced: true}
}

// replaceContent has a message that has not begun its first attempt deliver another content after the time that this one waits.
func (s *Store) replaceContent(e *env.Env, old *Message, c *Content, shared *body, first int64) {
	c.Created, c.FirstAt = first, addTime(e.Now, c.Gather.Wait)
	if most := c.Gather.MaxWait; most > 0 {
		c.FirstAt = max(min(c.FirstAt, addTime(first, most)), e.Now)
	}
	m := copyOf(old)
	if m.scheduled {
		s.supersede(m, c.Schedule)
	}
	s.dequeue(m, e.Now)
	s.leaveShares(m, e.Now)
	if m.flow != 0 {
		s.leaveFlowKey(m, e.Now)
		m.flow = 0
	}
	s.memory.live -= m.size() + m.reserved()
	s.memory.uncounted -= m.uncounted()
	s.release(m)
	s.complete(e, c)
	s.fill(m, c, shared)
	s.enterCounts(m, c, e.Now)
	p := placeDue
	if old.place == placeBacklog {
		p = placeBacklog
	}
	s.enter(m, p, c.FirstAt, e.Now)
	s.store(m)
}

// supersede tells the schedule whose message delivers something else from now on.
func (s *Store) supersede(m *Message, by string) {
	if of := m.envelope().Schedule; of != by {
		gone := copyOf(m)
		gone.state = Canceled
		s.produced(of, gone)
	}
}

// beginGathered ends the gathering of m, which is in no index and about to be attempted first, and returns what it delivers. It returns
// also how many publications that took.
func (s *Store) beginGathered(m *Message, c *Content) (*Content, int) {
	n, gathers := s.gathered.open.Get(m.Seq)
	if !gathers {
		return c, 0
	}
	if !n.full {
		s.gathered.keys.Delete(c.gatherKey())
	}
	s.setGathering(m.Seq, nil)
	if !c.Gather.batches() {
		return c, 1
	}
	s.memory.live -= m.size() + m.reserved()
	s.memory.uncounted -= m.uncounted()
	c.Body = s.takeLines(m.Seq, int(n.bytes))
	c.Header = append([]Field{{"Content-Type", batchType}}, n.header...)
	c.Labels = n.labels
	m.setContent(c, nil, s.keeper)
	s.memory.live += m.size() + m.reserved()
	s.memory.uncounted += m.uncounted()
	return m.envelope(), n.count
}

// stopGathering ends the gathering of m, which is over before its first attempt.
func (s *Store) stopGathering(m *Message) {
	n, gathers := s.gathered.open.Get(m.Seq)
	if !gathers {
		return
	}
	c := m.envelope()
	if !n.full {
		s.gathered.keys.Delete(c.gatherKey())
	}
	s.setGathering(m.Seq, nil)
	if c.Gather.batches() {
		s.takeLines(m.Seq, 0)
	}
}

// loadGathering takes in what was saved of a message that gathers.
func (s *Store) loadGathering(r *wire.Reader) error {
	seq, n := r.Uvarint(), &gathering{}
	r.Get(n)
	if err := r.Done(); err != nil {
		return err
	}
	m, found := s.messages.Get(seq)
	if !found || m.place == placeDone || m.calls&gathers == 0 {
		return errRecord
	}
	n.header, n.labels = ownFields(n.header), ownTexts(n.labels)
	s.setGathering(seq, n)
	if !n.full {
		s.gathered.keys.Set(m.envelope().gatherKey(), seq)
	}
	return nil
}

func ownFields(list []Field) []Field {
	out := make([]Field, 0, len(list))
	for _, f := range list {
		out = append(out, Field{strings.Clone(f.Name), strings.Clone(f.Value)})
	}
	return out
}

func ownTexts(list []string) []string {
	out := slices.Clone(list)
	for i := range out {
		out[i] = strings.Clone(out[i])
	}
	return out
}
