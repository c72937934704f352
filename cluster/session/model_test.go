package session

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// trial is one tracker, the state machine of a leader that its batches go to, and the machine of its own node, which lags.
type trial struct {
	t       *rapid.T
	tracker *Tracker
	at      time.Time
	known   bool // there is a leader

	leader, own *fsm.Machine
	log         [][]byte
	applied     int // entries that the own machine has
	boot        uint64

	way   []*transit
	asked []*request
}

// transit is a batch on its way: before it arrives, or when its answer is on the way back.
type transit struct {
	batch    *Batch
	attached bool
	finished bool // Finish was called
	arrived  bool
	outcomes []fsm.Outcome
}

// request is a client's request to append an element to a list, and its result.
type request struct {
	call  *Call
	mark  string
	ended bool
	was   Result
}

var table = command.NewTable()

func newTrial(t *rapid.T) *trial {
	m := &trial{t: t, at: time.Unix(1000, 0), known: true, leader: fsm.NewMachineWith(table), own: fsm.NewMachineWith(table)}
	m.tracker = New(func() time.Time { return m.at }, func() {})
	m.tracker.Lead(true)
	return m
}

// TestLedgerAgainstTheMachine: whatever happens to batches and their answers, what a client is told is true. An answer
// means that its request was applied once, with that answer; a refusal means that it was not and never will be. In the end
// every client has been told something.
func TestLedgerAgainstTheMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newTrial(t)
		t.Repeat(map[string]func(*rapid.T){
			"":                       func(*rapid.T) { m.collect() },
			"ask":                    func(*rapid.T) { m.ask() },
			"ask more":               func(*rapid.T) { m.ask(); m.ask() },
			"take":                   func(*rapid.T) { m.take((*Tracker).Take) },
			"go along":               func(*rapid.T) { m.take((*Tracker).TakeMore) },
			"attach":                 func(*rapid.T) { m.attach() },
			"arrive":                 func(*rapid.T) { m.arrive(m.pick(), 0) },
			"displace":               func(*rapid.T) { m.arrive(m.pick(), 1) },
			"answer":                 func(*rapid.T) { m.answer(m.pick()) },
			"break":                  func(*rapid.T) { m.breakOff(m.pick()) },
			"refuse":                 func(*rapid.T) { m.refuse(m.pick()) },
			"follow":                 func(*rapid.T) { m.follow(1) },
			"restart":                func(*rapid.T) { m.leader = m.restored() },
			"restore":                func(*rapid.T) { m.restore() },
			"register":               func(*rapid.T) { m.register() },
			"displaced registration": func(*rapid.T) { m.registration() },
			"give up":                func(t *rapid.T) { m.giveUp() },
			"pass":                   func(t *rapid.T) { m.pass() },
			"elect":                  func(*rapid.T) { m.known = !m.known; m.tracker.Lead(m.known) },
		})
		m.settle()
		m.judge()
	})
}

// put appends an entry and makes the leader's machine apply it. lag is the number of terms by which the log's term is ahead of the entry's.
func (m *trial) put(e *fsm.Entry, lag uint64) []fsm.Outcome {
	e.Term, e.Stamp = 1, m.at.UnixMilli()
	m.log = append(m.log, e.Encode())
	outcomes, err := m.leader.Apply(uint64(len(m.log)), e.Term+lag, m.log[len(m.log)-1])
	if err != nil {
		m.t.Fatal(err)
	}
	if lag > 0 { // for the own machine the same entry is one of another term
		m.log[len(m.log)-1] = nil
	}
	return outcomes
}

func (m *trial) ask() {
	r := &request{mark: strconv.Itoa(len(m.asked))}
	m.asked = append(m.asked, r)
	var err error
	if r.call, err = m.tracker.Add(fsm.Exec.Code, push(r.mark)); err != nil {
		r.ended, r.was = true, Result{Err: err}
	}
}

func push(mark string) []byte {
	return fsm.Exec.Body(fsm.Batch{As: acl.Trusted(acl.DefaultName), Rows: [][][]byte{{[]byte("RPUSH"), []byte("list"), []byte(mark)}}})
}

func (m *trial) take(take func(*Tracker) *Batch) {
	if m.tracker.Session() == 0 {
		return
	}
	k := take(m.tracker)
	if k == nil {
		return
	}
	seqs := sequences(k)
	if !slices.IsSorted(seqs) || seqs[0] < k.LowWater.Below {
		m.t.Fatalf("a batch of %v awaits nothing below %d", seqs, k.LowWater.Below)
	}
	for _, r := range m.asked {
		if r.call != nil && !r.ended && r.call.seq < k.LowWater.Below {
			m.t.Fatalf("sequence %d is awaited, and the low-water mark is %d", r.call.seq, k.LowWater.Below)
		}
	}
	m.way = append(m.way, &transit{batch: k})
}

// attach proposes a piggyback; its batch arrives at once or never.
func (m *trial) attach() {
	r := &request{mark: strconv.Itoa(len(m.asked))}
	c, k := m.tracker.AttachRequest(fsm.Exec.Code, push(r.mark))
	if k == nil {
		return
	}
	r.call = c
	m.asked = append(m.asked, r)
	m.way = append(m.way, &transit{batch: k, attached: true})
}

// pick draws a transit.
func (m *trial) pick() *transit {
	if len(m.way) == 0 {
		m.t.Skip("nothing is on its way")
	}
	return m.way[rapid.IntRange(0, len(m.way)-1).Draw(m.t, "transit")]
}

// arrive makes an entry of a batch.
func (m *trial) arrive(v *transit, lag uint64) {
	if v.arrived {
		return
	}
	v.arrived = true
	e := &fsm.Entry{Requests: v.batch.Requests}
	if v.batch.LowWater.Session != 0 {
		e.LowWaters = []fsm.LowWater{v.batch.LowWater}
	}
	v.outcomes = m.put(e, lag)
}

// answer brings the outcomes back, as they travel between nodes.
func (m *trial) answer(v *transit) {
	if !v.arrived || v.finished {
		return
	}
	var w wire.Writer
	fsm.EncodeOutcomes(&w, v.outcomes)
	back, err := fsm.DecodeOutcomes(wire.NewReader(w.B), v.batch.Requests[0].Session)
	if err != nil {
		m.t.Fatal(err)
	}
	m.tell(v, back, nil, false)
}

// breakOff loses the connection: the batch may still arrive.
func (m *trial) breakOff(v *transit) { m.tell(v, nil, errBroken, false) }

// refuse returns a batch from a node that doesn't lead.
func (m *trial) refuse(v *transit) {
	if !v.arrived && !v.finished {
		v.arrived = true // it never will
		m.tell(v, nil, errBroken, true)
	}
}

func (m *trial) tell(v *transit, outcomes []fsm.Outcome, err error, sure bool) {
	if v.finished {
		return
	}
	v.finished = true
	if v.attached {
		m.tracker.FinishPiggyback(v.batch, outcomes, err, sure)
	} else {
		m.tracker.Finish(v.batch, outcomes, err, sure)
	}
	m.collect()
}

// follow makes the node's own machine apply the entries that it lacks.
func (m *trial) follow(count int) {
	for ; count > 0 && m.applied < len(m.log); count-- {
		m.applied++
		data := m.log[m.applied-1]
		if data == nil {
			m.own.Skip(uint64(m.applied), 2)
			continue
		}
		outcomes, err := m.own.Apply(uint64(m.applied), 1, data)
		if err != nil {
			m.t.Fatal(err)
		}
		m.tracker.Resolve(outcomes)
	}
}

// restore gives the node's own machine a snapshot of the leader's.
func (m *trial) restore() {
	if m.applied == len(m.log) {
		return
	}
	m.own, m.applied = m.restored(), len(m.log)
	m.tracker.Restored(m.own.Awaits)
}

// restored returns a machine that has read a snapshot of the leader's.
func (m *trial) restored() *fsm.Machine {
	var b bytes.Buffer
	if err := m.leader.Fork().Write(&b); err != nil {
		m.t.Fatal(err)
	}
	n := fsm.NewMachineWith(table)
	if err := n.Restore(&b); err != nil {
		m.t.Fatal(err)
	}
	return n
}

// registration puts a registration of this process into the log; the tracker is not told.
func (m *trial) registration() uint64 {
	g := fsm.Registration{Node: "n1", Disk: "d", Boot: 1}
	out := m.put(&fsm.Entry{Requests: []fsm.Request{{Code: fsm.Register.Code, Body: fsm.Register.Body(g)}}}, 0)
	return out[0].Value.(fsm.Session).ID
}

func (m *trial) register() {
	if m.tracker.Session() == 0 {
		m.tracker.Register(m.registration())
	}
}

func (m *trial) giveUp() {
	open := slices.DeleteFunc(slices.Clone(m.asked), func(r *request) bool { return r.ended })
	if len(open) > 0 {
		r := open[rapid.IntRange(0, len(open)-1).Draw(m.t, "request")]
		m.heard(r, m.tracker.Cancel(r.call))
	}
}

func (m *trial) pass() {
	m.at = m.at.Add(time.Duration(rapid.IntRange(1, 7000).Draw(m.t, "ms")) * time.Millisecond)
	m.tracker.Lead(m.known)
	m.tracker.Expire()
	m.tracker.Overdue(m.at)
}

// collect takes in outcomes.
func (m *trial) collect() {
	for _, r := range m.asked {
		if r.call == nil {
			continue
		}
		select {
		case got := <-r.call.Done():
			if r.ended {
				m.t.Fatalf("%s got %v, and then %v", r.mark, r.was, got)
			}
			m.heard(r, got)
		default:
		}
	}
}

func (m *trial) heard(r *request, got Result) { r.ended, r.was = true, got }

// settle lets a healthy cluster finish everything. Batches that were given up arrive last of all.
func (m *trial) settle() {
	m.known = true
	m.tracker.Lead(true)
	for range 4 {
		m.register()
		for {
			m.take((*Tracker).Take)
			if i := slices.IndexFunc(m.way, func(v *transit) bool { return !v.finished }); i < 0 {
				break
			} else {
				m.arrive(m.way[i], 0)
				m.answer(m.way[i])
			}
		}
		m.follow(len(m.log))
		m.collect()
	}
	if n := m.tracker.Pending(); n > 0 || m.tracker.Waiting() > 0 {
		m.t.Fatalf("%d requests never hear anything", n)
	}
	for _, v := range m.way {
		m.arrive(v, 0)
	}
}

// judge compares the results that clients were given with the state of the leader's machine.
func (m *trial) judge() {
	place := map[string]int64{}
	m.leader.View(0, [16]byte{}, func(v *fsm.View) {
		list := v.Exec(acl.Trusted(acl.DefaultName), command.OriginInternal, [][]byte{[]byte("LRANGE"), []byte("list"), []byte("0"), []byte("-1")})
		for i, e := range list.Elems() {
			if _, twice := place[e.Text()]; twice {
				m.t.Fatalf("%s was applied twice", e.Text())
			}
			place[e.Text()] = int64(i + 1)
		}
	})
	for _, r := range m.asked {
		at, there := place[r.mark]
		answer, applied := r.was.Value.(fsm.Results)
		switch {
		case !r.ended:
			m.t.Fatalf("%s got nothing", r.mark)
		case applied && (!there || answer.Values[0].Int() != at):
			m.t.Fatalf("%s got %v and is at %d", r.mark, answer, at)
		case (errors.Is(r.was.Err, fsm.ErrNoLeader) || errors.Is(r.was.Err, fsm.ErrStopping)) && there:
			m.t.Fatalf("%s got %v and is at %d", r.mark, r.was.Err, at)
		}
	}
}
