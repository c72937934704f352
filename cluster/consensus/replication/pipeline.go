package replication

import (
	"errors"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"github.com/trireme-dev/trireme/cluster/transport"
)

const (
	maxCalls      = 4       // unanswered before raft waits
	maxBytes      = 8 << 20 // of them, except one call
	maxEarlyCalls = 2       // that raft has not asked for yet
	maxEarlyBytes = 1 << 20 // unanswered before nothing is sent early
	chunkBytes    = 1 << 20 // of entries from which a call is split
)

// answerTimeout ends a pipeline whose follower answers nothing for that long.
const answerTimeout = 10 * time.Second

var errClosed = errors.New("cluster: the pipeline is closed")

// caller is a connection that carries calls: transport.Conn.
type caller interface {
	Call(kind transport.Kind, payload []byte, answer func([]byte, error)) bool
	Ended() bool
}

// pipeline is raft's pipeline of appends to one follower.
type pipeline struct {
	kind  transport.Kind
	conn  caller
	end   func() // ends the connection and waits for its reader
	close func() // once
	done  chan raft.AppendFuture
	shut  chan struct{}
	freed chan struct{} // a call was answered
	// answered, if set, is told how long each append with entries took.
	answered func(took time.Duration)

	sending sync.Mutex // held while a call is put on the connection: they leave in the order of the log
	next    uint64     // the index after the last entry sent; 0: not known yet. Under sending

	mu     sync.Mutex
	calls  int // unanswered
	bytes  int // of them
	heard  time.Time
	early  []*call // sent early and not asked for yet, in the order of the log
	closed bool
}

// call is an append on its way.
type call struct {
	term, last uint64
	size       int
	start      time.Time
	entries    bool // it has some
	answered   bool
	response   raft.AppendEntriesResponse
	err        error
	future     *future // nil until raft asks for it
}

// future is the result of an append for raft: Error waits until it is known.
type future struct {
	request  *raft.AppendEntriesRequest
	response *raft.AppendEntriesResponse
	start    time.Time
	err      error
	answered sync.WaitGroup
}

func (f *future) Error() error                          { f.answered.Wait(); return f.err }
func (f *future) Start() time.Time                      { return f.start }
func (f *future) Request() *raft.AppendEntriesRequest   { return f.request }
func (f *future) Response() *raft.AppendEntriesResponse { return f.response }

func newPipeline(kind transport.Kind, conn caller, end func()) *pipeline {
	p := &pipeline{
		kind: kind, conn: conn, end: end,
		done: make(chan raft.AppendFuture, 64), shut: make(chan struct{}), freed: make(chan struct{}, 1),
	}
	p.close = sync.OnceFunc(func() {
		p.mu.Lock()
		p.closed = true
		p.mu.Unlock()
		close(p.shut)
		p.end()
	})
	go p.watch()
	return p
}

// watch ends the connection when its follower answers nothing for too long.
func (p *pipeline) watch() {
	tick := time.NewTicker(answerTimeout / 10)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			p.mu.Lock()
			late := p.calls > 0 && now.Sub(p.heard) > answerTimeout
			p.mu.Unlock()
			if late {
				p.end() // fails the calls, so raft gives the pipeline up
				return
			}
		case <-p.shut:
			return
		}
	}
}

// Consumer returns the channel of answered appends.
func (p *pipeline) Consumer() <-chan raft.AppendFuture { return p.done }

// Close ends the pipeline.
func (p *pipeline) Close() error {
	p.close()
	return nil
}

// AppendEntries sends an append, unless its entries were sent early.
func (p *pipeline) AppendEntries(q *raft.AppendEntriesRequest, a *raft.AppendEntriesResponse) (raft.AppendFuture, error) {
	f := &future{request: q, response: a, start: time.Now()}
	f.answered.Add(1)
	if p.attach(f) {
		return f, nil
	}
	for rest := *q; ; {
		part := chunk(&rest)
		payload, err := AppendRequest(nil, &part)
		if err != nil {
			return nil, err
		}
		if err := p.room(len(payload)); err != nil {
			return nil, err
		}
		c := &call{term: q.Term, size: len(payload), start: f.start, entries: len(part.Entries) > 0}
		if len(rest.Entries) == 0 {
			c.future = f
		}
		p.sending.Lock()
		if n := len(part.Entries); n > 0 {
			p.next = part.Entries[n-1].Index + 1
		} else if p.next == 0 {
			p.next = part.PrevLogEntry + 1
		}
		p.send(c, payload)
		p.sending.Unlock()
		if len(rest.Entries) == 0 {
			return f, nil
		}
	}
}

// chunk removes the first entries of q, about chunkBytes, and returns them in an append: the size of calls is limited.
func chunk(q *raft.AppendEntriesRequest) raft.AppendEntriesRequest {
	part, size := *q, 0
	for i, l := range q.Entries {
		if size += len(l.Data) + len(l.Extensions); size > chunkBytes && i > 0 {
			part.Entries = q.Entries[:i:i]
			q.Entries = q.Entries[i:]
			q.PrevLogEntry, q.PrevLogTerm = part.Entries[i-1].Index, part.Entries[i-1].Term
			return part
		}
	}
	q.Entries = nil
	return part
}

// attach answers raft's append with the early call that covers it. It returns false if there is none.
func (p *pipeline) attach(f *future) bool {
	n := len(f.request.Entries)
	if n == 0 {
		return false
	}
	last := f.request.Entries[n-1].Index
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.early) > 0 && p.early[0].last <= last {
		c := p.early[0]
		p.early = p.early[1:]
		if c.last == last && c.term == f.request.Term && f.request.Entries[n-1].Term == c.term {
			f.start = c.start
			c.future = f
			if c.answered {
				p.deliver(c)
			}
			return true
		}
	}
	return false
}

// room waits until a call of that size may be sent.
func (p *pipeline) room(size int) error {
	for {
		p.mu.Lock()
		closed, ok := p.closed, p.calls < maxCalls && (p.bytes == 0 || p.bytes+size <= maxBytes)
		p.mu.Unlock()
		switch {
		case closed:
			return errClosed
		case ok:
			return nil
		}
		select {
		case <-p.freed:
		case <-p.shut:
			return errClosed
		}
	}
}

// sendEarly sends entries that raft has not asked for yet, if the follower was sent all before them and is not slow.
func (p *pipeline) sendEarly(first, last, term uint64, payload []byte) {
	p.sending.Lock()
	defer p.sending.Unlock()
	if p.next != first || p.conn.Ended() {
		return
	}
	c := &call{term: term, last: last, size: len(payload), start: time.Now(), entries: true}
	p.mu.Lock()
	ok := !p.closed && p.calls < maxCalls && p.bytes <= maxEarlyBytes && len(p.early) < maxEarlyCalls
	if ok {
		p.early = append(p.early, c)
	}
	p.mu.Unlock()
	if ok {
		p.next = last + 1
		p.send(c, payload)
	}
}

// send puts a call on the connection; sending is held. It never waits for the socket. The answer may come before it
// returns, if the connection has ended.
func (p *pipeline) send(c *call, payload []byte) {
	p.mu.Lock()
	if p.calls == 0 {
		p.heard = c.start
	}
	p.calls++
	p.bytes += c.size
	p.mu.Unlock()
	p.conn.Call(p.kind, payload, func(b []byte, err error) { p.answer(c, b, err) })
}

// answer takes a follower's answer. It must not block: it runs on the connection's goroutine.
func (p *pipeline) answer(c *call, b []byte, err error) {
	if err == nil {
		err = DecodeResponse(b, &c.response)
	}
	p.mu.Lock()
	c.answered, c.err = true, err
	p.calls--
	p.bytes -= c.size
	p.heard = time.Now()
	took := p.heard.Sub(c.start)
	if c.future != nil {
		p.deliver(c)
	}
	p.mu.Unlock()
	if p.answered != nil && c.entries && err == nil && c.response.Success {
		p.answered(took)
	}
	select {
	case p.freed <- struct{}{}:
	default:
	}
}

// deliver gives raft the answer to a call; mu is held. raft takes an answer without success as the end of the pipeline.
func (p *pipeline) deliver(c *call) {
	f := c.future
	if f.err = c.err; f.err == nil {
		*f.response = c.response
	}
	f.answered.Done()
	select {
	case p.done <- f:
	default: // raft is far behind with its answers
		go func() {
			select {
			case p.done <- f:
			case <-p.shut:
			}
		}()
	}
}

// Log is a log store that sends a leader's entries to its followers while it stores them.
type Log struct {
	raft.LogStore
	sender *Sender
}

// Log returns store, for raft.
func (s *Sender) Log(store raft.LogStore) Log { return Log{store, s} }

// IsMonotonic reports whether the store is monotonic.
func (l Log) IsMonotonic() bool {
	m, ok := l.LogStore.(raft.MonotonicLogStore)
	return ok && m.IsMonotonic()
}

// StoreLog stores one entry.
func (l Log) StoreLog(e *raft.Log) error { return l.StoreLogs([]*raft.Log{e}) }

// StoreLogs returns when the entries are on this node's disk. Raft's main loop calls it, so raft's role does not change
// meanwhile.
func (l Log) StoreLogs(logs []*raft.Log) error {
	l.sender.early(l.LogStore, logs)
	return l.LogStore.StoreLogs(logs)
}

// early sends entries of this leader to its followers. A change of the servers waits for the disk as before: it decides
// who the followers are.
func (s *Sender) early(store raft.LogStore, logs []*raft.Log) {
	r := s.raft.Load()
	if r == nil || len(logs) == 0 || r.State() != raft.Leader {
		return
	}
	size := 0
	for _, e := range logs {
		if size += len(e.Data); e.Type != raft.LogCommand || e.Term != logs[0].Term || size > maxEarlyBytes {
			return
		}
	}
	pipelines := s.all()
	first, last := logs[0].Index, logs[len(logs)-1].Index
	if len(pipelines) == 0 || first == 1 {
		return
	}
	var previous raft.Log
	if store.GetLog(first-1, &previous) != nil { // a snapshot's, as a rule
		return
	}
	payload, err := AppendRequest(make([]byte, 0, size+64*(len(logs)+2)), &raft.AppendEntriesRequest{
		RPCHeader: s.Header, Term: logs[0].Term, PrevLogEntry: first - 1, PrevLogTerm: previous.Term,
		Entries: logs, LeaderCommitIndex: r.CommitIndex(),
	})
	if err != nil {
		return
	}
	for _, p := range pipelines {
		p.sendEarly(first, last, logs[0].Term, payload)
	}
}
