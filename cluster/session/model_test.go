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
func (tr *trial) put(e *fsm.Entry, lag uint64) []fsm.Outcome {
	e.Term, e.Stamp = 1, tr.at.UnixMilli()
	tr.log = append(tr.log, e.Encode())
	outcomes, err := tr.leader.Apply(uint64(len(tr.log)), e.Term+lag, tr.log[len(tr.log)-1])
	if err != nil {
		tr.t.Fatal(err)
	}
	if lag > 0 { // for the own machine the same entry is one of another term
		tr.log[len(tr.log)-1] = nil
	}
	return outcomes
}

func (tr *trial) ask() {
	r := &request{mark: strconv.Itoa(len(tr.asked))}
	tr.asked = append(tr.asked, r)
	var err error
	if r.call, err = tr.tracker.Add(fsm.Exec.Code, push(r.mark)); err != nil {
		r.ended, r.was = true, Result{Err: err}
	}
}

func push(mark string) []byte {
	return fsm.Exec.Body(fsm.Batch{As: acl.Trusted(acl.DefaultName), Rows: [][][]byte{{[]byte("RPUSH"), []byte("list"), []byte(mark)}}})
}

func (tr *trial) take(take func(*Tracker) *Batch) {
	if tr.tracker.Session() == 0 {
		return
	}
	k := take(tr.tracker)
	if k == nil {
		return
	}
	seqs := sequences(k)
	if !slices.IsSorted(seqs) || seqs[0] < k.LowWater.Below {
		tr.t.Fatalf("a batch of %v awaits nothing below %d", seqs, k.LowWater.Below)
	}
	for _, r := range tr.asked {
		if r.call != nil && !r.ended && r.call.seq < k.LowWater.Below {
			tr.t.Fatalf("sequence %d is awaited, and the low-water mark is %d", r.call.seq, k.LowWater.Below)
		}
	}
	tr.way = append(tr.way, &transit{batch: k})
}

// attach proposes a piggyback; its batch arrives at once or never.
func (tr *trial) attach() {
	r := &request{mark: strconv.Itoa(len(tr.asked))}
	c, k := tr.tracker.AttachRequest(fsm.Exec.Code, push(r.mark))
	if k == nil {
		return
	}
	r.call = c
	tr.asked = append(tr.asked, r)
	tr.way = append(tr.way, &transit{batch: k, attached: true})
}

// pick draws a transit.
func (tr *trial) pick() *transit {
	if len(tr.way) == 0 {
		tr.t.Skip("nothing is on its way")
	}
	return tr.way[rapid.IntRange(0, len(tr.way)-1).Draw(tr.t, "transit")]
}

// arrive makes an entry of a batch.
func (tr *trial) arrive(v *transit, lag uint64) {
	if v.arrived {
		return
	}
	v.arrived = true
	e := &fsm.Entry{Requests: v.batch.Requests}
	if v.batch.LowWater.Session != 0 {
		e.LowWaters = []fsm.LowWater{v.batch.LowWater}
	}
	v.outcomes = tr.put(e, lag)
}

// answer brings the outcomes back, as they travel between nodes.
func (tr *trial) answer(v *transit) {
	if !v.arrived || v.finished {
		return
	}
	var w wire.Writer
	fsm.EncodeOutcomes(&w, v.outcomes)
	back, err := fsm.DecodeOutcomes(wire.NewReader(w.B), v.batch.Requests[0].Session)
	if err != nil {
		tr.t.Fatal(err)
	}
	tr.tell(v, back, nil, false)
}

// breakOff loses the connection: the batch may still arrive.
func (tr *trial) breakOff(v *transit) { tr.tell(v, nil, errBroken, false) }

// refuse returns a batch from a node that doesn't lead.
func (tr *trial) refuse(v *transit) {
	if !v.arrived && !v.finished {
		v.arrived = true // it never will
		tr.tell(v, nil, errBroken, true)
	}
}

func (tr *trial) tell(v *transit, outcomes []fsm.Outcome, err error, sure bool) {
	if v.finished {
		return
	}
	v.finished = true
	if v.attached {
		tr.tracker.FinishPiggyback(v.batch, outcomes, err, sure)
	} else {
		tr.tracker.Finish(v.batch, outcomes, err, sure)
	}
	tr.collect()
}

// follow makes the node's own machine apply the entries that it lacks.
func (tr *trial) follow(count int) {
	for ; count > 0 && tr.applied < len(tr.log); count-- {
		tr.applied++
		data := tr.log[tr.applied-1]
		if data == nil {
			tr.own.Skip(uint64(tr.applied), 2)
			continue
		}
		outcomes, err := tr.own.Apply(uint64(tr.applied), 1, data)
		if err != nil {
			tr.t.Fatal(err)
		}
		tr.tracker.Resolve(outcomes)
	}
}

// restore gives the node's own machine a snapshot of the leader's.
func (tr *trial) restore() {
	if tr.applied == len(tr.log) {
		return
	}
	tr.own, tr.applied = tr.restored(), len(tr.log)
	tr.tracker.Restored(tr.own.Awaits)
}

// restored returns a machine that has read a snapshot of the leader's.
func (tr *trial) restored() *fsm.Machine {
	var b bytes.Buffer
	if err := tr.leader.Fork().Write(&b); err != nil {
		tr.t.Fatal(err)
	}
	n := fsm.NewMachineWith(table)
	if err := n.Restore(&b); err != nil {
		tr.t.Fatal(err)
	}
	return n
}

// registration puts a registration of this process into the log; the tracker is not told.
func (tr *trial) registration() uint64 {
	g := fsm.Registration{Node: "n1", Disk: "d", Boot: 1}
	out := tr.put(&fsm.Entry{Requests: []fsm.Request{{Code: fsm.Register.Code, Body: fsm.Register.Body(g)}}}, 0)
	return out[0].Value.(fsm.Session).ID
}

func (tr *trial) register() {
	if tr.tracker.Session() == 0 {
		tr.tracker.Register(tr.registration())
	}
}

func (tr *trial) giveUp() {
	open := slices.DeleteFunc(slices.Clone(tr.asked), func(r *request) bool { return r.ended })
	if len(open) > 0 {
		r := open[rapid.IntRange(0, len(open)-1).Draw(tr.t, "request")]
		tr.heard(r, tr.tracker.Cancel(r.call))
	}
}

func (tr *trial) pass() {
	tr.at = tr.at.Add(time.Duration(rapid.IntRange(1, 7000).Draw(tr.t, "ms")) * time.Millisecond)
	tr.tracker.Lead(tr.known)
	tr.tracker.Expire()
	tr.tracker.Overdue(tr.at)
}

// collect takes in outcomes.
func (tr *trial) collect() {
	for _, r := range tr.asked {
		if r.call == nil {
			continue
		}
		select {
		case got := <-r.call.Done():
			if r.ended {
				tr.t.Fatalf("%s got %v, and then %v", r.mark, r.was, got)
			}
			tr.heard(r, got)
		default:
		}
	}
}

func (tr *trial) heard(r *request, got Result) { r.ended, r.was = true, got }

// settle lets a healthy cluster finish everything. Batches that were given up arrive last of all.
func (tr *trial) settle() {
	tr.known = true
	tr.tracker.Lead(true)
	for range 4 {
		tr.register()
		for {
			tr.take((*Tracker).Take)
			if i := slices.IndexFunc(tr.way, func(v *transit) bool { return !v.finished }); i < 0 {
				break
			} else {
				tr.arrive(tr.way[i], 0)
				tr.answer(tr.way[i])
			}
		}
		tr.follow(len(tr.log))
		tr.collect()
	}
	if n := tr.tracker.Pending(); n > 0 || tr.tracker.Waiting() > 0 {
		tr.t.Fatalf("%d requests never hear anything", n)
	}
	for _, v := range tr.way {
		tr.arrive(v, 0)
	}
}

// judge compares the results that clients were given with the state of the leader's machine.
func (tr *trial) judge() {
	place := map[string]int64{}
	tr.leader.View(0, [16]byte{}, func(v *fsm.View) {
		list := v.Exec(acl.Trusted(acl.DefaultName), command.OriginInternal, [][]byte{[]byte("LRANGE"), []byte("list"), []byte("0"), []byte("-1")})
		for i, e := range list.Elems() {
			if _, twice := place[e.Text()]; twice {
				tr.t.Fatalf("%s was applied twice", e.Text())
			}
			place[e.Text()] = int64(i + 1)
		}
	})
	for _, r := range tr.asked {
		at, there := place[r.mark]
		answer, applied := r.was.Value.(fsm.Results)
		switch {
		case !r.ended:
			tr.t.Fatalf("%s got nothing", r.mark)
		case applied && (!there || answer.Values[0].Int() != at):
			tr.t.Fatalf("%s got %v and is at %d", r.mark, answer, at)
		case (errors.Is(r.was.Err, fsm.ErrNoLeader) || errors.Is(r.was.Err, fsm.ErrStopping)) && there:
			tr.t.Fatalf("%s got %v and is at %d", r.mark, r.was.Err, at)
		}
	}
}
