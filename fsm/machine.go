package fsm

import (
	"sync"
	"sync/atomic"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/script"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// bytesPerStep is the number of bytes of a reply that cost a read one step.
const bytesPerStep = 16

// Hooks are callbacks to the owner of a Machine. Apply calls them in log order, without holding the lock.
type Hooks struct {
	// Digest is called with the state as it was at a TakeDigest entry. WantsDigest, if set, reports whether it is to be, by the
	// entry's index; it is called with the lock held.
	Digest      func(*Frozen)
	WantsDigest func(index uint64) bool
	// Verdict is called with the result of comparing digests.
	Verdict func(DigestVerdict)
	// Notifications is called with the notifications of an entry, for subscribers.
	Notifications func([]env.Notification)
	// Monitored, if set, reports whether Notifications receives the calls of scripts.
	Monitored func() bool
	// Followed, if set, reports whether Notifications receives the keys that change, as while somebody tracks them.
	Followed func() bool
	// Random fills bytes with secrets for reads that draw passwords and tokens. Without it
	// they come from the seed of the read.
	Random func([]byte)
	// Restored is called when a snapshot or a restored backup has replaced the state: the
	// notifications of the skipped entries are lost.
	Restored func()
	// Applied is called with every entry that was applied and its outcomes, which must not be changed. Their texts and
	// bytes alias the entry and the state.
	Applied func(*Entry, []Outcome)
	// Yield, if set, lets other goroutines run. Reads on a fork call it now and then, without holding the lock.
	Yield func()
	// Large, if set, is called by a read on a fork that is about to allocate megabytes.
	Large func()
	// Locked is called when an entry or a fork has taken the state's lock, and Unlocking before it is released. Both are
	// called with the lock held.
	Locked, Unlocking func()
}

// Machine is the state machine of one node. Apply is called by one goroutine;
// everything else by any.
type Machine struct {
	Hooks Hooks

	table      *command.Table
	keeper     payload.Keeper
	mu         sync.RWMutex
	state      *State
	index      uint64 // the last entry applied
	term       uint64
	sinceYield int // commands since the lock was taken

	applied   atomic.Uint64 // index, readable without a lock
	clock     atomic.Int64  // the state's time, readable without a lock
	level     atomic.Uint32 // the feature level, readable without a lock
	databases atomic.Int64  // how many there are, readable without a lock
	pressure

	host     atomic.Pointer[command.Host]
	search   atomic.Pointer[Search]
	trackers atomic.Int32                    // how many want notifications of changed keys
	engines  sync.Pool                       // of *script.Engine, for reads
	lend     func() (*script.Engine, func()) // borrow, made once

	notify sync.Mutex
	next   chan struct{}
}

// NewMachine is an empty machine.
func NewMachine() *Machine { return NewMachineWith(command.NewTable()) }

// NewMachineWith is an empty machine that shares a table of commands with others: making a table
// takes longer than making the rest of a machine.
func NewMachineWith(table *command.Table) *Machine {
	m := &Machine{table: table, next: make(chan struct{})}
	m.state = newState(m.table, nil)
	m.databases.Store(1)
	m.state.applier.yield, m.state.applier.charge = m.yield, m.charge
	m.lend = m.borrow
	return m
}

// KeepPayloads has k hold the large payloads of messages and runs. It must be called before anything is applied or
// restored: then there is no database but default.
func (m *Machine) KeepPayloads(k payload.Keeper) {
	m.keeper, m.state.keeper = k, k
	if d := m.state.home; d.messages != nil {
		d.messages.UseKeeper(k)
		d.workflows.UseKeeper(k)
	}
}

// Skip moves past an entry of raft itself, such as a configuration.
func (m *Machine) Skip(index, term uint64) {
	m.mu.Lock()
	m.index, m.term = index, term
	m.notifySearch(index, nil, false)
	m.mu.Unlock()
	m.advance(index)
}

// advance wakes the goroutines that wait for index.
func (m *Machine) advance(index uint64) {
	m.notify.Lock()
	m.applied.Store(index)
	if m.next != nil {
		close(m.next)
		m.next = nil
	}
	m.notify.Unlock()
}

// Applied is the index of the last entry applied and a channel that closes at the
// next one.
func (m *Machine) Applied() (index uint64, next <-chan struct{}) {
	m.notify.Lock()
	defer m.notify.Unlock()
	if m.next == nil {
		m.next = make(chan struct{})
	}
	return m.applied.Load(), m.next
}

// Reached reports whether the entry at index has been applied.
func (m *Machine) Reached(index uint64) bool { return m.applied.Load() >= index }

// Clock is cluster time of the last entry applied, in unix milliseconds.
func (m *Machine) Clock() int64 { return m.clock.Load() }

// Time is the moment of the last entry applied.
func (m *Machine) Time() env.Time {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.state.time()
}

// Level is the feature level in force.
func (m *Machine) Level() env.Level { return env.Level(m.level.Load()) }

// Awaits reports whether a request of a session may still be applied: false if it
// was, or never will be. A node asks it after a snapshot jumped over entries.
func (m *Machine) Awaits(session, seq uint64) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	c := m.state.sessions.find(session)
	return c != nil && seq >= c.lowWater && !c.has(seq)
}

// View is the state as one read sees it. It is valid during the call of View that
// made it.
type View struct {
	s      *State
	e      env.Env
	host   *command.Host
	m      *Machine
	own    *database // the database whose messages and workflows are read, nil for default; see In
	done   <-chan struct{}
	stop   func() bool // see Interruptible
	barred bool        // see Barred
	// thawing is what Workflows gives of a database on a fork.
	thawing struct {
		of   *database
		runs *workflow.Store
	}
	// replied is the work of the replies of commands, in steps; counted while no write waits.
	replied int64
	// Of the command that runs, and of the last Checker: views are reused, and a transaction is large.
	tx, checks command.Tx
}

// prepare makes the view's transaction the one in which its next command runs.
func (v *View) prepare(as *acl.Identity, origin command.Origin) *command.Tx {
	v.bar(as.DB)
	v.s.prepare(&v.tx, &v.e, as, origin)
	return &v.tx
}

// View calls fn with the state at time now (or the state's own, if that is later)
// under a shared lock. The seed feeds random reads such as RANDOMKEY. If the commands that fn
// runs exceed env.MaxInlineCost, their replies are discarded, and fn is called once more as by
// ViewFork.
func (m *Machine) View(now int64, seed [16]byte, fn func(*View)) {
	if at := (env.Time{Now: now}); !m.ViewBriefly(at, seed, fn) {
		m.ViewFork(at, seed, fn)
	}
}

// ViewBriefly is View for a caller that calls ViewFork itself: it reports whether the commands stayed within
// env.MaxInlineCost. If not, what fn has seen means nothing.
//
// If they need strings on the disk, these are read without the lock, and fn is called again.
func (m *Machine) ViewBriefly(now env.Time, seed [16]byte, fn func(*View)) bool {
	for range briefViews {
		tooLong, lacks := m.showLocked(now, seed, fn)
		if tooLong || len(lacks) == 0 {
			return !tooLong
		}
		for _, l := range lacks {
			l.Hold()
		}
	}
	return false
}

// briefViews bounds the tries of a bounded view: what it reads from the disk may say what else it needs.
const briefViews = 3

func (m *Machine) showLocked(now env.Time, seed [16]byte, fn func(*View)) (tooLong bool, lacks []env.Lack) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.show(m.state, m.index, now, seed, true, fn)
}

// ViewFork is View for a read that takes long: fn reads a fork of the state, and no lock is held
// while it runs. The fork costs constant time, and some copying by later writes.
func (m *Machine) ViewFork(now env.Time, seed [16]byte, fn func(*View)) {
	f := m.Fork()
	m.show(f.s, f.index, now, seed, false, fn)
}

// show calls fn with a view of s. A time without Wall is one for which no leader has said more than that wall time is what the
// state has, or all of it while that is not behind.
func (m *Machine) show(s *State, index uint64, now env.Time, seed [16]byte, brief bool, fn func(*View)) (tooLong bool, lacks []env.Lack) {
	if now.Wall == 0 && s.wall == s.clock {
		now.Wall = now.Now
	}
	now.Now, now.Wall = max(now.Now, s.clock), max(now.Wall, s.wall)
	v := views.Get().(*View)
	*v = View{s: s, host: m.host.Load(), m: m}
	v.e.Reset(index, now, s.level, seed, 0)
	v.e.ReadOnly, v.e.Bounded, v.e.Node = true, brief, local{m}
	fn(v)
	tooLong, lacks = v.e.OverBudget, v.e.Lacks
	*v = View{}
	views.Put(v)
	return tooLong, lacks
}

// views are reused: none is kept after fn has returned.
var views = sync.Pool{New: func() any { return new(View) }}

// Track starts or stops KeyTouched notifications of every key that changes: a change that a later
// View does not see is notified. Calls are counted.
func (m *Machine) Track(on bool) {
	if on {
		m.trackers.Add(1)
	} else {
		m.trackers.Add(-1)
	}
}

// SetHost sets what INFO and ROLE report about this node.
func (m *Machine) SetHost(h *command.Host) { m.host.Store(h) }

// MarkSaved says that the state as it is goes into a snapshot of this node, which INFO tells.
func (m *Machine) MarkSaved() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state.saves++
	for _, d := range m.state.changing {
		m.state.open(d)
	}
}

// Index is the log index of the state.
func (v *View) Index() uint64 { return v.e.Index }

// Now is the time of the view in unix milliseconds.
func (v *View) Now() int64 { return v.e.Now }

// Time is the time of the view.
func (v *View) Time() env.Time { return v.e.Time }

// Exec runs one command that only reads. After a command has exceeded the cost of a View, later
// ones do nothing: see Machine.View.
func (v *View) Exec(as acl.Identity, origin command.Origin, argv [][]byte) reply.Value {
	tx := v.prepare(&as, origin)
	if v.barred {
		return reply.Error("ERR " + ErrQuarantined.Text)
	}
	tx.Host, tx.Engine, tx.Borrow = v.host, nil, v.m.lend
	tx.Search.Done, tx.Interrupted = v.done, v.stop
	if f := v.m.search.Load(); f != nil {
		tx.Search.Index = *f
	}
	answer := tx.Exec(command.HashSecrets(argv))
	if !v.e.Bounded {
		v.replied += command.ReplyWork(&answer)
	}
	return answer
}

// Replied is the work of the replies so far, in steps, of a view for which no write waits: they are written later.
func (v *View) Replied() int64 { return v.replied }

// LookAt counts bytes of replies that the function of a view looks at one by one, and reports whether the view is over its
// cost: see Exec.
func (v *View) LookAt(bytes int64) (over bool) { return v.e.Charge(bytes / bytesPerStep) }

// OnFork reports whether no write waits for this view, as reads of what may be on the disk want it. If one does, the view is over its
// cost, and is run again on a fork.
func (v *View) OnFork() bool { return !v.e.Charge(env.MaxInlineCost + 1) }

// Bounded reports whether writes wait for this view. The function of one for which none waits lets other goroutines run
// now and then, if it takes long.
func (v *View) Bounded() bool { return v.e.Bounded }

// Called returns what the scripts of the commands that this view has run have called since it was
// asked last.
func (v *View) Called() []env.Notification {
	calls := v.e.Notifications
	v.e.Notifications = nil
	return calls
}

// Interruptible has the scripts of this view end when stop says so. It is asked now and then.
func (v *View) Interruptible(stop func() bool) { v.stop = stop }

// borrow returns a script interpreter for a read, and the function that returns it to the pool.
func (m *Machine) borrow() (*script.Engine, func()) {
	e, ok := m.engines.Get().(*script.Engine)
	if !ok {
		e = script.NewEngine()
	}
	return e, func() { m.engines.Put(e) }
}

// Check returns which command argv calls, or why it may not be called.
func (v *View) Check(as acl.Identity, origin command.Origin, argv [][]byte) (*command.Command, *reply.Value) {
	return v.s.applier.table.Check(v.prepare(&as, origin), argv)
}

// MayActAs returns nil if an identity may have answers act for a user of its database; see command.MayActAs.
func (v *View) MayActAs(as acl.Identity, user string) error {
	return command.MayActAs(v.prepare(&as, command.OriginHTTP), user)
}

// Refuse is the reason to discard a transaction of these rows before any of them runs,
// nil if all can run.
func (v *View) Refuse(as acl.Identity, origin command.Origin, rows [][][]byte) *reply.Value {
	return v.prepare(&as, origin).Refuse(rows)
}

// Table is the command table of this binary.
func (m *Machine) Table() *command.Table { return m.table }
