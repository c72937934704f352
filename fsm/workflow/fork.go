package workflow

import (
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/sealed"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// A fork is a run of its own that begins with the log of another one, up to the result of a step. That one goes on, or stays over, and
// nothing of it changes. An apply does not open volumes, so whoever asks for the fork of a run that is in one brings its records.

// ForkSource names the run that another one is a fork of.
type ForkSource struct {
	RunID   string
	Created int64
	// Step is the step whose result is the last one that the fork has taken over, 0 if it has the payload alone.
	Step uint32
}

// forkCost is the logical overhead of a ForkSource in bytes.
const forkCost = 64

// Fields codes the value in its wire format.
func (fs *ForkSource) Fields(c *wire.Codec) {
	c.Text(&fs.RunID)
	c.Varint(&fs.Created)
	wire.Uint(c, &fs.Step)
}

// Forking is the argument of the operation ForkRun.
type Forking struct {
	// Of is the run, and No its number.
	Of ForkSource
	No uint64
	// Entries is the length of the part of its log that is taken over; see ForkPoint. That part never changes.
	Entries uint32
	// Data is what the steps in that part have said of the run.
	Data *Data
	// RunID is the id of the fork; one without gets one. URL replaces that of the run, unless it is empty.
	RunID, URL string
	// Options replace those of the run that they name.
	Options queue.Options
	// Record is the run and Log are its entries, as AppendRun gives them, of a run that is not in the trees of this database.
	Record []byte
	Log    [][]byte
}

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (f *Forking) Fields(c *wire.Codec) {
	f.Of.Fields(c)
	c.Uvarint(&f.No)
	wire.Uint(c, &f.Entries)
	wire.Optional(c, &f.Data)
	c.Text(&f.RunID)
	c.Text(&f.URL)
	c.Record(f.Options.Fields)
	c.Bytes(&f.Record)
	wire.Each(c, &f.Log, (*wire.Codec).Bytes)
}

// ForkPoint returns how many entries of a run's log there are up to the result of a step, and with it. Of step 0 that is the payload, and
// without a step all of them; then last is the step with the last result. It reports whether the step has a result.
func (s *Store) ForkPoint(r *Run, step *uint32) (entries, last uint32, ok bool) {
	if step != nil {
		if *step == 0 {
			return 1, 0, true
		}
		pos, done := s.marks.Get(mark{r.No, markResult, *step})
		return uint32(pos) + 1, *step, done
	}
	s.Log(r.No, func(pos uint32, e *Entry) bool {
		if e.IsResult() {
			last = e.Step.ID
		}
		return true
	})
	return r.Entries, last, true
}

// IsResult reports whether the entry is the result of a step.
func (e *Entry) IsResult() bool {
	return e.Kind == StepEntry && !e.plan() && e.Type != Initial && e.State != Unfinished
}

// ForkLog returns the entries that a fork takes over which begins with so many. Those of waits that a cancellation has ended are not among
// them. The answer to a call of which the log has the body in the step's result alone comes with that result.
func (s *Store) ForkLog(run uint64, entries uint32) (list []*Entry) {
	s.Log(run, func(pos uint32, e *Entry) bool {
		if pos < entries && e.State != Unfinished {
			list = append(list, e)
		}
		return pos < entries
	})
	for _, e := range list {
		if e.Kind != AnswerEntry || !e.Answer.Superseded {
			continue
		}
		if pos, done := s.marks.Get(mark{run, markResult, e.Number()}); done && uint32(pos) >= entries {
			result, _ := s.entries.Get(place{run, uint32(pos)})
			list = append(list, result)
		}
	}
	return list
}

// InVolume reports whether a run that a reader has found is in a volume.
func (s *Store) InVolume(r *Run) (in bool) {
	s.past.Ascend(0, func(v *sealed.Volume) bool {
		in = v.Sets[setRuns].Has(r.No)
		return !in
	})
	return in
}

// AppendRun adds to a fork of a run what it needs where the run is not in the trees.
func (s *Store) AppendRun(n *Forking, r *Run) {
	n.Record = wire.Marshal(&Run{No: r.No, ID: r.ID, Created: r.Created, Config: r.Config, Entries: r.Entries, Deployment: r.Deployment, Moves: r.Moves})
	for _, e := range s.ForkLog(r.No, n.Entries) {
		n.Log = append(n.Log, wire.Marshal(e))
	}
}

// forkOf returns the run that is forked and the entries that the fork takes over. What was brought is copied.
func (s *Store) forkOf(n *Forking) (old *Run, list []*Entry, err *queue.Error) {
	if len(n.Record) == 0 {
		old, found := s.runs.Get(n.No)
		if !found || old.ID != n.Of.RunID || old.Created != n.Of.Created || n.Entries == 0 {
			return nil, nil, notFound("workflow run %s not found", n.Of.RunID)
		}
		return old, s.ForkLog(n.No, n.Entries), nil
	}
	old = &Run{}
	bad := old.read(wire.NewReader(owned(n.Record)))
	for i := 0; i < len(n.Log) && bad == nil; i++ {
		e := &Entry{}
		bad = e.read(wire.NewReader(owned(n.Log[i])))
		list = append(list, e)
	}
	if bad != nil || len(list) == 0 {
		return nil, nil, invalid("the records of workflow run %s can't be read", n.Of.RunID)
	}
	return old, list, nil
}

// forked are the options of a run that a fork may replace.
const forked = revivable | queue.GivenCommit

// config returns the configuration of the fork: that of the run, but for what ties it to others. Whoever starts it has to name anew the
// user of its commands.
func (f *Forking) config(old *Run) *Config {
	c := *old.Config
	c.CommitAs, c.Gather, c.Given = "", nil, c.Given&^(queue.GivenCommit|queue.GivenGather)
	c.Options = pickOptions(&f.Options, forked).Over(c.Options)
	c.Invoker = nil
	if f.URL == "" {
		return &c
	}
	if to := c.Failure; to != nil && isEndpoint(old, to.URL) {
		moved := *to
		moved.URL = f.URL
		c.Failure = &moved
	}
	c.URL = f.URL
	return &c
}

// isEndpoint reports whether a URL is that of the endpoint of a run, be it in another deployment.
func isEndpoint(r *Run, url string) bool { return url == r.URL || elsewhere(r, url) == "" }

// run returns the fork of a run, without a number. One with a URL of its own is on no deployment.
func (f *Forking) run(old *Run) *Run {
	r := &Run{ID: f.RunID, Config: f.config(old), ForkOf: detached(&f.Of)}
	if f.URL == "" {
		r.Deployment, r.Moves = ownedText(old.Deployment), old.Moves
	}
	return r
}

// entry returns an entry of the run as the fork takes it over. Whether a call is made once more is decided by what the log has of it.
func (f *Forking) entry(old *Run, e *Entry) *Entry {
	c := *e
	c.Reserved = 0
	if c.Kind == CallEntry {
		c.State = Delivered
	}
	if f.URL == "" {
		return &c
	}
	if c.Kind != CallEntry && isEndpoint(old, c.URL) {
		c.URL = ""
	}
	if c.Kind == CallEntry && c.Own.Callback != nil && isEndpoint(old, c.Own.Callback.URL) {
		o, back := *c.Own, *c.Own.Callback
		back.URL = f.URL
		o.Callback, c.Own = &back, &o
	}
	return &c
}

// wantedOf says which entries of its log a fork has delivered: those of which the log has nothing of what they bring about. Of the results
// of a block that nothing follows it is the last one, and those that the endpoint has not taken yet. One entry is wanted at least, so that
// the fork goes on.
func wantedOf(list []*Entry) []bool {
	happened, last := map[mark]bool{}, len(list)-1
	for i, e := range list {
		if m, ok := markOf(0, e); ok {
			happened[m] = true
		}
		if e.IsResult() {
			last = i
		}
	}
	done := func(c class, step uint32) bool { return happened[mark{0, c, step}] }
	wanted, any, passed := make([]bool, len(list)), false, passedBlocks(list)
	for i, e := range list {
		switch {
		case e.IsResult() && e.Concurrent > 1:
			wanted[i] = !passed(e) && (i == last || e.State != Delivered)
		default:
			wanted[i] = !e.settled(done)
		}
		any = any || wanted[i]
	}
	wanted[last] = wanted[last] || !any
	return wanted
}

// ForkRun starts a run with a part of the log of another one, which stays as it is. What was delivered of that part is not delivered again,
// as long as what followed is in it, too.
//
// The errors are ErrNotFound for a run that is not in the trees, and ErrConflict for an id that is in use.
func (s *Store) ForkRun(e *env.Env, q *queue.Store, n Forking) (RunRef, error) {
	if err := q.CheckPublication(&queue.Publication{URL: "-", Options: n.Options}, e.Now); err != nil {
		return RunRef{}, err
	}
	if taken := s.Find(n.RunID, 0); n.RunID != "" && taken != nil && !s.mayReuseID(taken) {
		return RunRef{}, refusal(ErrConflict, "workflow run id %s is already in use", n.RunID)
	}
	old, list, err := s.forkOf(&n)
	if err != nil {
		return RunRef{}, err
	}
	for i := range list {
		list[i] = n.entry(old, list[i])
		if len(n.Record) > 0 {
			list[i].compact(s)
		}
	}
	again := n.run(old)
	if _, found := s.deployments.byName.Get(again.Deployment); again.Deployment != "" && !found {
		return RunRef{}, refusal(ErrConflict, "deployment %s of workflow run %s is not there any more: name a url, or make it again", again.Deployment, old.ID)
	}
	k := s.begin(e, q, again)
	if n.Data != nil {
		k.change(func(d *Data) { *d = *detached(n.Data) })
	}
	k.take(list)
	wanted := wantedOf(list)
	k.redeliver(&n.Options, func(pos uint32, _ *Entry) bool { return wanted[pos] })
	k.store()
	s.trim(e, q)
	return RunRef{ownedText(k.r.ID), k.r.Created, k.r.State}, nil
}

// ForkRunPrice returns the price of ForkRun.
func (s *Store) ForkRunPrice(_ *env.Env, n *Forking) env.Price {
	old, list, err := s.forkOf(n)
	if err != nil {
		return env.Price{Work: operation}
	}
	again := n.run(old)
	c := again.Config
	again.Data, again.Reserved = n.Data, c.reserve()
	p := env.Price{Work: entryWork + indexWork*int64(len(c.Keep)) + bytesWork(int64(len(n.Record))), Growth: again.size() + idSize}
	sent, first := pickOptions(&c.Options, messageOptions), pickOptions(&n.Options, queue.GivenDelay|queue.GivenNotBefore)
	wanted, message := wantedOf(list), queue.MessageGrowth(&sent, s.target(again), c.CallerIP)+optionsSize(&first)
	for i, e := range list {
		e = n.entry(old, e)
		p.Work += entryWork / 2
		p.Growth += e.size() - e.Body.Uncounted()
		if !wanted[i] {
			continue
		}
		p.Work, p.Growth = p.Work+entryWork, p.Growth+message+optionsSize(e.Own)
		if e.Kind == CallEntry {
			p.Growth += reserveOfCall(e.Own)
		}
	}
	return p
}
