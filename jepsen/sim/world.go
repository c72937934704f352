package sim

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"github.com/trireme-dev/trireme/cluster/clock"
)

// nodes is the size of the cluster.
const nodes = 3

// began is the time at which histories begin. Its value has no meaning.
var began = time.UnixMilli(1_790_000_000_000)

// world is one history under way.
type world struct {
	chance  *rand.Rand // seeds of entries: the only draws that no step makes
	elapsed time.Duration
	moment  int // counts steps, so that an operation knows what was before it

	log       []entry // entry i has index i+1
	committed uint64
	term      uint64
	leader    int // the leader by raft's state, -1 without one
	nodes     [nodes]*node
	packets   []*packet

	wallModel
	setBack int64 // the most by which clocks that were set back were behind cluster time, in milliseconds

	clients
	messageModel
	runs
	broken *Violation
}

// Violation is an invariant that a history has broken.
type Violation struct {
	Rule string
	Text string
}

func (v *Violation) Error() string { return v.Rule + ": " + v.Text }

// fail notes the first violation.
func (w *world) fail(rule, format string, args ...any) {
	if w.broken == nil {
		w.broken = &Violation{rule, fmt.Sprintf(format, args...)}
	}
}

func (w *world) now() time.Time { return began.Add(w.elapsed) }

func newWorld(seed uint64) *world {
	w := &world{chance: rand.New(rand.NewPCG(seed, 1)), leader: -1}
	w.messageModel.init()
	w.runs.init()
	for i := range w.nodes {
		w.nodes[i] = &node{w: w, id: i}
		w.nodes[i].start()
	}
	return w
}

// Run simulates a history and returns what it has shown that must not be, nil if nothing.
func Run(h History) (v *Violation) {
	defer func() {
		if p := recover(); p != nil {
			v = &Violation{"panic", fmt.Sprintf("%v\n%s", p, debug.Stack())}
		}
	}()
	w := newWorld(h.Seed)
	w.elect(0, 0, true)
	w.flow()
	for _, s := range h.Steps {
		w.moment++
		w.step(s)
		w.collect()
		if w.broken != nil {
			return w.broken
		}
	}
	w.settle()
	if w.broken == nil {
		w.judge()
	}
	return w.broken
}

// step performs one step.
func (w *world) step(s Step) {
	n := w.nodes[int(s.A)%nodes]
	b, c := int(s.B), int(s.C)
	w.passWall()
	switch s.Kind {
	case Push, PushOnce, Count, SetUntil, Keep, Publish, PublishOnce, Enqueue, CancelMessage, Schedule, StartRun, Await, Notify, CancelRun, Revive, Again:
		w.ask(n, s.Kind, b, c)
	case Read:
		w.read(n, "")
	case ReadUntil:
		w.readUntil(n, b)
	case Send:
		n.send()
	case Receive:
		w.receive(int(s.A), b)
	case Form:
		n.form()
	case Propose:
		n.propose()
	case Commit:
		w.commit(1 + b%4)
	case Apply:
		n.apply(1 + b%8)
	case Elect:
		w.elect(int(s.A), b, c%3 == 0)
	case Learn:
		n.learn()
	case Crash:
		n.crash()
	case Restart:
		n.start()
	case Snapshot:
		n.snapshot()
	case Install:
		n.install(w.nodes[b%nodes])
	case Pass:
		w.pass(passes[b%len(passes)])
	case Claim:
		if l := w.known(); l != nil && c%4 != 0 {
			n = l
		}
		n.claim()
	case Renew:
		n.renew()
	case Answer:
		w.answer(int(s.A), b)
	case HandIn:
		n.flushResults()
	case Sweep:
		n.sweep()
	case Reboot:
		n.snapshot()
		n.snapshot()
		n.crash()
		n.start()
	case Register:
		n.registerLate()
	case Flow:
		w.flow()
	case Work:
		w.work()
	case Gather:
		w.gather()
	case Linger:
		w.pass(time.Duration(1+b%150) * time.Millisecond)
	case Outlast:
		w.pass(time.Duration(11_000+b%4_000) * time.Millisecond)
	case Lag:
		w.lag(n, b%2 == 0)
	case Cut:
		w.isolate(n)
	case Mend:
		w.mend()
	case SetWall:
		if c%4 == 3 {
			w.setWalls(b)
		} else {
			w.setWall(n, b)
		}
	}
}

// passes are the steps by which time advances.
var passes = []time.Duration{
	time.Millisecond, 7 * time.Millisecond, 60 * time.Millisecond, 130 * time.Millisecond, 250 * time.Millisecond, 900 * time.Millisecond,
	2500 * time.Millisecond, 4 * time.Second, 11 * time.Second, 40 * time.Second,
}

// watch is the interval at which a process checks its deadlines and leases.
const watch = 250 * time.Millisecond

// pass lets time pass; what processes do by the clock is done on the way.
func (w *world) pass(d time.Duration) {
	for d > 0 {
		some := min(d, watch)
		d -= some
		w.elapsed += some
		for _, n := range w.nodes {
			n.tick()
		}
	}
}

// flow lets everything that is on its way arrive.
func (w *world) flow() {
	for range 6 {
		w.round(nil)
		w.collect()
	}
}

// round has everything go one stage further. One node, if any, applies nothing.
func (w *world) round(lags *node) {
	for _, n := range w.nodes {
		n.send()
		n.flushResults()
	}
	for len(w.packets) > 0 {
		w.receive(0, 1)
	}
	for _, n := range w.nodes {
		n.form()
		n.propose()
	}
	w.commit(len(w.log))
	for _, n := range w.nodes {
		if n != lags {
			n.apply(len(w.log))
		}
	}
}

// lag has everything that is under way get into the log, and the others apply it. deaf says that the answers for the node
// that lags get lost.
func (w *world) lag(n *node, deaf bool) {
	w.round(n)
	for i := 0; i < len(w.packets); {
		if k := w.packets[i]; k.of != nil && k.of.from.n == n && deaf {
			w.receive(i, 6)
			continue
		}
		i++
	}
	for len(w.packets) > 0 {
		w.receive(0, 1)
	}
}

// seed draws the seed of an entry.
func (w *world) seed() (s [16]byte) {
	a, b := w.chance.Uint64(), w.chance.Uint64()
	for i := range 8 {
		s[i], s[8+i] = byte(a>>(8*i)), byte(b>>(8*i))
	}
	return s
}

// entry is one entry of the log.
type entry struct {
	term uint64
	data []byte
	of   *flight // as long as its leader waits for it
}

// commit has a majority hold the next entries.
func (w *world) commit(count int) {
	if w.leader < 0 || w.nodes[w.leader].cut {
		return
	}
	w.committed = min(w.committed+uint64(count), uint64(len(w.log)))
}

// elect has a node lead the next term. Of what is not committed it keeps a beginning. The
// leader before it learns of it at once, or goes on for a while.
func (w *world) elect(who, keeps int, told bool) {
	n := w.nodes[who%nodes]
	up := 0
	for _, o := range w.nodes {
		if o.life != nil && !o.cut {
			up++
		}
	}
	if n.life == nil || n.cut || up < 2 {
		return
	}
	open := len(w.log) - int(w.committed)
	if w.leader != n.id {
		w.log = w.log[:int(w.committed)+keeps%(open+1)]
	}
	w.term++
	was := w.leader
	w.leader = n.id
	if was >= 0 && (told && !w.nodes[was].cut || was == n.id) {
		w.nodes[was].learn()
	}
	if n.life.leads != 0 {
		n.life.follow() // it led an earlier term and has not learned of its end
	}
	n.life.lead(w.term, keeps%3 != 0)
}

// gather delivers all waiting batches to the leader.
func (w *world) gather() {
	for _, n := range w.nodes {
		n.send()
	}
	for len(w.packets) > 0 {
		w.receive(0, 1)
	}
	for _, n := range w.nodes {
		n.form()
	}
}

// work has everything that is due done, as far as it goes.
func (w *world) work() {
	w.flow()
	w.attempt()
	w.flow()
}

// attempt has the leader claim what is due, and every attempt that runs answered.
func (w *world) attempt() {
	for _, n := range w.nodes {
		n.claim()
		n.renew()
	}
	w.flow()
	for i := len(w.running) - 1; i >= 0; i-- {
		if i < len(w.running) {
			w.answer(i, 0)
		}
	}
}

// isolate has nothing reach or leave a node; the others are a majority. It goes on with what it has, and may believe that it
// leads.
func (w *world) isolate(n *node) {
	for _, o := range w.nodes {
		if o.cut {
			return
		}
	}
	n.cut = true
}

// mend lets everybody reach everybody.
func (w *world) mend() {
	for _, n := range w.nodes {
		n.cut = false
	}
}

// settings are the amounts by which a step sets a wall clock, in milliseconds.
var settings = []int64{0, 0, 150, -150, 450, -450, 90_000, -90_000}

// setWall sets a node's wall clock. At most one is far off: of two the cluster would believe a wrong time.
func (w *world) setWall(n *node, which int) {
	n.set = settings[which%len(settings)]
	for _, o := range w.nodes {
		if o != n && (o.set >= clock.SaneOffset || o.set <= -clock.SaneOffset) {
			o.set = 0
		}
	}
}

// shifts are by how much all wall clocks are set, in milliseconds.
var shifts = []int64{-1500, -5000, -60_000, 30_000}

// setWalls sets all wall clocks. A leader that follows them learns of it.
func (w *world) setWalls(which int) {
	for _, n := range w.nodes {
		n.set += shifts[which%len(shifts)]
	}
	for _, n := range w.nodes {
		if l := n.life; l != nil && l.opened && !n.cut {
			l.clock.SetMedian(n.wall(w.now()), w.now(), w.clocksAgree(n))
			w.follow(n, w.clocksAgree(n))
		}
	}
}

// wallModel is the latest that wall time may be, by what leaders have heard of the clocks.
type wallModel struct {
	wall    int64 // in unix milliseconds, at elapsed
	elapsed time.Duration
	heard   bool  // a leader follows the clocks, and otherwise its monotonic clock
	offset  int64 // of the clocks that it follows, in milliseconds
}

// passWall moves the model to now.
func (w *world) passWall() {
	m := &w.wallModel
	if m.heard {
		m.wall = max(m.wall, w.now().UnixMilli()+m.offset)
	} else {
		m.wall += (w.elapsed - m.elapsed).Milliseconds()
	}
	m.elapsed = w.elapsed
}

// follow says whether a leader has heard of the clocks, which agree with its own.
func (w *world) follow(n *node, heard bool) {
	w.passWall()
	w.heard, w.offset = heard, n.wall(w.now())-w.now().UnixMilli()
	if !heard { // its term has begun where the one before may have ended, the first by its own clock
		if w.wall += clock.ReadAhead; w.wall == clock.ReadAhead {
			w.wall = n.wall(w.now())
		}
	}
	w.passWall()
}

// clocksAgree reports whether the clocks of a majority agree with a node's.
func (w *world) clocksAgree(n *node) bool {
	agree := 0
	for _, o := range w.nodes {
		if d := o.wall(w.now()) - n.wall(w.now()); o.life != nil && !o.cut && d > -clock.SaneOffset && d < clock.SaneOffset {
			agree++
		}
	}
	return agree > nodes/2
}

// known returns the leader that a node assumes, or nil. The first batch that it sends shows whether that is still right.
func (w *world) known() *node {
	if w.leader < 0 || w.nodes[w.leader].life == nil {
		return nil
	}
	return w.nodes[w.leader]
}
