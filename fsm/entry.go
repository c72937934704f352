package fsm

import (
	"errors"
	"fmt"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/queue"

	"github.com/trireme-dev/trireme/fsm/wire"
)

const (
	// entryVersion is the first byte of an entry that has all its requests; see also entryFragment.
	entryVersion = 1
	// entryHeld, entryLeapt and entrySetBack are added to the first byte of an entry with Held, Leapt or SetBack.
	entryHeld    = 0x80
	entryLeapt   = 0x40
	entrySetBack = 0x20
	entryFlags   = entryHeld | entryLeapt | entrySetBack
)

// ErrEntry says that a log entry can't be decoded. The node must stop.
var ErrEntry = errors.New("fsm: malformed log entry")

// Request is one operation asked for by one node. (Session, Seq) is its identity:
// it is applied at most once however often it is proposed. Session 0 is for
// operations that may be repeated without harm.
type Request struct {
	Session, Seq uint64
	Code         uint16
	Body         []byte
}

// LowWater says that the node of a session awaits no sequence below Below any more.
type LowWater struct{ Session, Below uint64 }

// Entry is the content of one log entry: many requests, committed together.
type Entry struct {
	// Stamp is the leader's cluster time in unix milliseconds.
	Stamp int64
	// Held is how many milliseconds wall time is behind Stamp: see env.Time. It is 0 below the level env.Files.
	Held int64
	// SetBack is how many milliseconds the wall clocks are behind wall time; see env.Env. It is 0 below the level env.Files.
	SetBack int64
	// Leapt says that cluster time went far at once, while those who measure a lease saw little time pass. No entry below
	// the level env.Files has it.
	Leapt bool
	// Epoch and Term are those of the leader that stamped the entry. An entry whose
	// Term is not the log's is refused whole, and its requests may come again.
	Epoch, Term uint64
	// Seed feeds the generators of the applies.
	Seed      [16]byte
	LowWaters []LowWater
	Requests  []Request
}

// Encode is the entry in the form of the log.
func (e *Entry) Encode() []byte {
	w := wire.Writer{B: make([]byte, 0, e.headSize()+RequestsSize(e.Requests))}
	e.head(&w, entryVersion)
	EncodeRequests(&w, e.Requests)
	return w.B
}

// headSize is about how many bytes head writes.
func (e *Entry) headSize() int { return 64 + 16*len(e.LowWaters) }

// head writes what comes before the requests.
func (e *Entry) head(w *wire.Writer, version byte) {
	if e.Held != 0 {
		version |= entryHeld
	}
	if e.Leapt {
		version |= entryLeapt
	}
	if e.SetBack != 0 {
		version |= entrySetBack
	}
	w.Fixed([]byte{version})
	w.Varint(e.Stamp)
	if e.Held != 0 {
		w.Uvarint(uint64(e.Held))
	}
	if e.SetBack != 0 {
		w.Uvarint(uint64(e.SetBack))
	}
	w.Uvarint(e.Epoch)
	w.Uvarint(e.Term)
	w.Fixed(e.Seed[:])
	w.Uvarint(uint64(len(e.LowWaters)))
	for _, m := range e.LowWaters {
		w.Uvarint(m.Session)
		w.Uvarint(m.Below)
	}
}

// readHead reads what head wrote.
func (e *Entry) readHead(r *wire.Reader) {
	version := byte(0)
	if b := r.Fixed(1); len(b) > 0 {
		version = b[0]
	}
	e.Stamp, e.Leapt = r.Varint(), version&entryLeapt != 0
	if version&entryHeld != 0 {
		e.Held = int64(r.Uvarint())
	}
	if version&entrySetBack != 0 {
		e.SetBack = int64(r.Uvarint())
	}
	e.Epoch, e.Term = r.Uvarint(), r.Uvarint()
	copy(e.Seed[:], r.Fixed(len(e.Seed)))
	e.LowWaters = make([]LowWater, r.Count(2))
	for i := range e.LowWaters {
		e.LowWaters[i] = LowWater{r.Uvarint(), r.Uvarint()}
	}
}

// RequestsSize is about how many bytes EncodeRequests writes.
func RequestsSize(requests []Request) (size int) {
	for i := range requests {
		size += 24 + len(requests[i].Body)
	}
	return size
}

// EncodeRequests writes requests as entries and packs between nodes hold them.
func EncodeRequests(w *wire.Writer, requests []Request) {
	w.Uvarint(uint64(len(requests)))
	for i := range requests {
		q := &requests[i]
		w.Uvarint(q.Session)
		w.Uvarint(q.Seq)
		w.Uvarint(uint64(q.Code))
		w.Bytes(q.Body)
	}
}

// DecodeRequests reads what EncodeRequests wrote; bodies alias the input.
func DecodeRequests(r *wire.Reader) []Request {
	requests := make([]Request, r.Count(4))
	for i := range requests {
		q := &requests[i]
		q.Session, q.Seq = r.Uvarint(), r.Uvarint()
		code := r.Uvarint()
		if code > 1<<16-1 {
			code = 0 // no operation has it
		}
		q.Code = uint16(code)
		q.Body = r.Bytes()
	}
	return requests
}

// DecodeEntry reads an entry; bodies alias data.
func DecodeEntry(data []byte) (*Entry, error) {
	r := wire.NewReader(data)
	if len(data) == 0 || data[0]&^entryFlags != entryVersion {
		return nil, fmt.Errorf("%w: unknown version", ErrEntry)
	}
	n := &Entry{}
	n.readHead(r)
	n.Requests = DecodeRequests(r)
	if err := r.Done(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEntry, err)
	}
	return n, nil
}

// apply does what Apply says.
func (m *Machine) apply(index, term uint64, data []byte) ([]Outcome, error) {
	if IsFragment(data) {
		return nil, m.takeFragment(index, term, data)
	}
	n, err := m.decode(term, data)
	if err != nil {
		return nil, err
	}
	if n == nil {
		m.Skip(index, term)
		return nil, nil
	}
	if n.Term != term {
		m.Skip(index, term)
		return refuse(n), nil
	}
	outcomes := make([]Outcome, len(n.Requests))
	var frozen *Frozen
	e := env.Env{Node: local{m}}
	m.lock()
	s := m.state
	m.sinceYield = 0
	s.clock = max(s.clock, n.Stamp)
	s.wall = max(s.wall, n.Stamp-n.Held)
	e.Reset(index, s.time(), s.level, n.Seed, 0)
	if n.Leapt {
		s.extendLeases(&e)
	}
	s.begin(&e, n)
	for i := range n.Requests {
		if i > 0 {
			m.yield()
		}
		if i%keyspace.WarmGroup == 0 && len(n.Requests)-i > 1 {
			s.warmRequests(n.Requests[i:])
		}
		e.Reset(index, s.time(), s.level, n.Seed, i)
		e.SetBack = n.SetBack
		outcomes[i], err = s.run(&e, &n.Requests[i])
		s.close()
		if err != nil {
			m.unlock()
			return nil, err
		}
		if n.Requests[i].Code == TakeDigest.Code && outcomes[i].Status == Applied && m.wantsDigest(index) {
			m.index, m.term = index, term
			frozen = m.freeze()
		}
	}
	s.applier.progress.Request, s.applier.progress.Database = 0, 0
	m.index, m.term = index, term
	m.clock.Store(s.clock)
	m.level.Store(uint32(s.level))
	m.databases.Store(int64(s.databases.Len()))
	m.notePressure()
	m.notifySearch(index, e.Notifications, Replaced(outcomes))
	m.unlock()
	m.advance(index)
	if Replaced(outcomes) && m.Hooks.Restored != nil {
		m.Hooks.Restored()
	}
	m.notifyHooks(frozen, outcomes, e.Notifications)
	if m.Hooks.Applied != nil {
		m.Hooks.Applied(n, outcomes)
	}
	return outcomes, nil
}

func (m *Machine) wantsDigest(index uint64) bool {
	return m.Hooks.Digest != nil && (m.Hooks.WantsDigest == nil || m.Hooks.WantsDigest(index))
}

func refuse(n *Entry) []Outcome {
	outcomes := make([]Outcome, len(n.Requests))
	for i, q := range n.Requests {
		outcomes[i] = Outcome{Session: q.Session, Seq: q.Seq, Code: q.Code, Status: Refused}
	}
	return outcomes
}

func (m *Machine) notifyHooks(frozen *Frozen, outcomes []Outcome, notes []env.Notification) {
	if frozen != nil {
		m.Hooks.Digest(frozen)
	}
	if len(notes) > 0 && m.Hooks.Notifications != nil {
		m.Hooks.Notifications(notes)
	}
	if m.Hooks.Verdict == nil {
		return
	}
	for i := range outcomes {
		if o := &outcomes[i]; o.Code == ReportDigest.Code && o.Status == Applied && o.Err == nil {
			m.Hooks.Verdict(o.Value.(DigestVerdict))
		}
	}
}

// run applies one request that is due.
func (s *State) run(e *env.Env, q *Request) (o Outcome, fatal error) {
	o = Outcome{Session: q.Session, Seq: q.Seq, Code: q.Code}
	e.Session = q.Session
	s.applier.progress.Request, s.applier.progress.Database = uint64(e.Place())+1, 0
	op, err := find(q.Code, s.level)
	if err != nil {
		return o, err
	}
	var owner *session
	if q.Session != 0 {
		owner = s.sessions.find(q.Session)
		switch {
		case owner == nil || q.Seq < owner.lowWater || q.Seq-owner.base > maxWindow:
			o.Status = SessionExpired
			return o, nil
		case owner.has(q.Seq):
			o.Status = Repeated
			return o, nil
		}
	}
	if s.refusesAll(q) {
		if owner != nil {
			owner.add(q.Seq)
		}
		o.Err = ErrQuarantined
		return o, nil
	}
	payer := s.payer(q)
	if payer != nil {
		if o.Database = payer.name; payer.done(e.Index) >= EntryShare {
			o.Status = Deferred
			return o, nil
		}
	}
	if owner != nil {
		owner.add(q.Seq)
	}
	s.applier.worked = 0
	o.Value, o.Err = op.run(s, e, q.Body)
	if payer != nil {
		o.Work = s.chargeShare(e, payer, q)
	}
	if o.Err == nil {
		return o, nil
	}
	o.Err = outcomeError(o.Err)
	if errors.Is(o.Err, ErrUnknownLevel) || errors.Is(o.Err, ErrFormerLevel) {
		return o, o.Err
	}
	return o, nil
}

// outcomeError converts an error to the form that outcomes carry to other nodes.
func outcomeError(err error) error {
	var refusal *queue.Error
	if errors.As(err, &refusal) {
		return &Error{Code: refusal.Code, Text: refusal.Text}
	}
	return err
}

// sweepPerEntry is the number of expired keys, and of kept replies, that every entry removes in addition to its
// requests, so that a steady load needs no entries for it.
const sweepPerEntry = 16

// time is the moment of the last entry.
func (s *State) time() env.Time { return env.Time{Now: s.clock, Wall: s.wall} }

// extendLeases has all leases begin anew: cluster time was set forward, and their senders, which measure them by their own
// clocks, have not failed to renew them.
func (s *State) extendLeases(e *env.Env) {
	claimed := has(hasClaims)
	for d := s.first(claimed); d != nil; d = s.after(d, claimed) {
		s.applier.at(d)
		s.openWork(d).messages.ExtendLeases(e)
		s.close()
	}
}

// begin takes in an entry's marks, and removes some of what has expired.
func (s *State) begin(e *env.Env, n *Entry) {
	s.applier.term = n.Term
	for _, m := range n.LowWaters {
		if c := s.sessions.find(m.Session); c != nil {
			c.raise(m.Below)
		}
	}
	s.stage.expire(e.Now)
	s.expireTokens(e.Now)
	s.sweep(e, sweepPerEntry)
	s.retries.Sweep(e.Now, sweepPerEntry)
	s.sweepMessages(e, sweepPerEntry)
	s.sweepWorkflows(e, sweepPerEntry)
	s.close()
}
