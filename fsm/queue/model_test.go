package queue

import (
	"fmt"
	"github.com/trireme-dev/trireme/fsm/env"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm/wire"
)

// model drives a store, and a second one in step, and remembers what was promised.
type model struct {
	*world
	r       *rapid.T
	twin    *world
	running []Attempt
	made    map[ID]Publication
	order   []ID       // as published
	attempt map[ID]int // claimed so far
	lost    map[ID]int // attempts given up
	dedups  map[string]Published
	known   map[string]int64         // when a deduplication id was first published
	ran     map[AttemptRef]int64     // until when senders may run attempts of the queue fifo, of which there is no result
	newest  uint64                   // the number given last before the Advance that is judged
	windows map[string]map[int64]int // claims by flow key and window
}

const (
	fifo  = "fifo"  // a queue of parallelism 1 that is never changed
	rated = "rated" // a flow key of rate 3 in 1 s, and parallelism 2, that is never changed
)

func newModel(r *rapid.T) *model {
	m := &model{world: newWorld(r), r: r, twin: newWorld(r), made: map[ID]Publication{}, attempt: map[ID]int{},
		lost: map[ID]int{}, dedups: map[string]Published{}, known: map[string]int64{}, windows: map[string]map[int64]int{}, ran: map[AttemptRef]int64{}}
	n := DefaultSettings()
	n.DedupWindow = 5_000
	if rapid.Bool().Draw(r, "small") {
		n.EventBytes, n.DeadBytes, n.EventAge, n.DeadAge = 20_000, 20_000, 60_000, 60_000
	}
	n.GlobalParallelism = rapid.SampledFrom([]int{0, 3}).Draw(r, "global")
	do(m, func(w *world) Settings { out, _ := w.s.Configure(w.env(), n); return out })
	return m
}

// do applies an operation to both stores; the outcomes must be equal.
func do[R any](m *model, f func(*world) R) R {
	m.twin.now, m.twin.term = m.now, m.term
	out, twin := f(m.world), f(m.twin)
	if a, b := show(out), show(twin); a != b {
		m.r.Fatalf("outcomes differ:\n%s\n%s", a, b)
	}
	return out
}

func show(v any) string {
	if list, ok := v.([]Attempt); ok {
		var w wire.Writer
		for _, a := range list {
			w.Put(&a)
		}
		return fmt.Sprintf("%q", w.B)
	}
	return fmt.Sprintf("%+v", v)
}

func (m *model) draw() Publication {
	r := m.r
	p := Publication{URL: "http://" + rapid.SampledFrom([]string{"a.example", "b.example"}).Draw(r, "host") + "/x"}
	p.Given = GivenRetries | GivenQueue
	p.Retries = rapid.IntRange(0, 2).Draw(r, "retries")
	p.Queue = rapid.SampledFrom([]string{"", "", fifo, fifo, "wide"}).Draw(r, "queue")
	if rapid.Bool().Draw(r, "delayed") {
		p.Given |= GivenDelay
		p.Delay = rapid.Int64Range(0, 5_000).Draw(r, "delay")
	}
	switch rapid.IntRange(0, 5).Draw(r, "flow") {
	case 0, 1:
		p.Flow = &FlowControl{Key: rated, Parallelism: 2, Rate: 3, Period: 1000}
	case 2:
		p.Flow = &FlowControl{Key: "loose", Parallelism: rapid.IntRange(0, 3).Draw(r, "parallelism"), Rate: rapid.IntRange(1, 4).Draw(r, "rate"), Period: 700}
	}
	if rapid.IntRange(0, 3).Draw(r, "callback") == 0 {
		p.Callback = &Callback{URL: "http://c.example/cb", Options: Options{Given: GivenRetries}}
	}
	if rapid.IntRange(0, 3).Draw(r, "failure") == 0 {
		p.Failure = &Callback{URL: "http://c.example/failed", Options: Options{Given: GivenRetries}}
	}
	if rapid.IntRange(0, 4).Draw(r, "dedup") == 0 {
		p.DedupID = rapid.SampledFrom([]string{"x", "y"}).Draw(r, "id")
	}
	return p
}

func (m *model) publishOne(r *rapid.T) {
	p := m.draw()
	out := do(m, func(w *world) Receipts { out, _ := w.s.Publish(w.env(), Publications{[]Publication{p}}); return out })
	if out.Items[0].Refused != nil {
		r.Fatalf("refused: %v", out.Items[0].Refused)
	}
	got := out.Items[0].Messages[0]
	if p.DedupID != "" {
		at, again := m.known[p.DedupID]
		again = again && m.now < at+5_000
		if got.Deduplicated != again || again && got.ID != m.dedups[p.DedupID].ID {
			r.Fatalf("deduplicated %v, want %v (%s, first %s)", got.Deduplicated, again, got.ID, m.dedups[p.DedupID].ID)
		}
		if again {
			return
		}
		m.dedups[p.DedupID], m.known[p.DedupID] = got, m.now
	}
	m.made[got.ID] = p
	m.order = append(m.order, got.ID)
}

func (m *model) claim(n, share int) {
	ticks := m.plan()
	m.newest = m.s.serial
	d := Demand{Term: m.term, Claims: n, HostShare: share, Ticks: append(ticks, ticks...), KeepSendersFree: n%2 == 0}
	if n == 4 {
		d.Hosts = []HostLimit{{"a.example", 1 + share}, {"nobody.example", 3}}
	}
	list := do(m, func(w *world) []Attempt { return w.s.Advance(w.env(), d) })
	m.judgeTicks(ticks)
	if len(list) > n {
		m.r.Fatalf("%d attempts, asked for %d", len(list), n)
	}
	if g := m.s.settings.GlobalParallelism; g > 0 && m.s.places.leases.Len() > g {
		m.r.Fatalf("%d attempts under way, %d may be", m.s.places.leases.Len(), g)
	}
	for _, a := range list {
		m.attempt[a.ID]++
		m.judgeOrder(a)
		m.judgeFlow(a)
	}
	m.running = append(m.running, list...)
	if share > 0 {
		m.s.hosts.All(func(name string, h *host) bool {
			if h.active > share && n > 0 && len(list) > 0 && slices.ContainsFunc(list, func(a Attempt) bool { return a.Content.Host() == name }) {
				m.r.Fatalf("host %s has %d attempts, its share is %d", name, h.active, share)
			}
			return true
		})
	}
}

// plan computes the ticks of the schedules that are due, as a leader does; all of them are of @every.
func (m *model) plan() (ticks []Tick) {
	for _, c := range m.s.DueSchedules(env.At(m.now), 10) {
		t := Tick{Schedule: c.ID, Version: c.Version, Next: c.Next}
		for t.Next <= m.now && len(t.Nominals) < 20 {
			t.Nominals = append(t.Nominals, t.Next)
			t.Next += c.Every
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// judgeTicks fails if a schedule has fired twice at one time, or keeps a time that has passed.
func (m *model) judgeTicks(ticks []Tick) {
	for _, t := range ticks {
		c, _ := m.s.Schedule(t.Schedule)
		if c.Next != t.Next || c.Last != t.Nominals[len(t.Nominals)-1] {
			m.r.Fatalf("%s: next %d, last %d after %+v", c.ID, c.Next, c.Last, t)
		}
		fresh := 0
		m.s.messages.Ascend(m.newest+1, func(_ uint64, msg *Message) bool {
			if msg.Content().Schedule == c.ID {
				fresh++
			}
			return true
		})
		if want := len(FireOnce.choose(t.Nominals, m.now)); !c.Paused && fresh != want || c.Paused && fresh != 0 {
			m.r.Fatalf("%s made %d messages, want %d (paused %v)", c.ID, fresh, want, c.Paused)
		}
	}
}

// judgeOrder fails if an older message of the queue of parallelism 1 is not done, or its callbacks are not.
func (m *model) judgeOrder(a Attempt) {
	if m.made[a.ID].Queue != fifo {
		return
	}
	for ref, until := range m.ran { // unordered: any of them is a fault
		if m.now < until {
			m.r.Fatalf("%s is attempted while a sender may still run attempt %d of %s", a.ID, ref.Number, ref.ID)
		}
	}
	m.ran[a.Ref()] = a.Lease - LeaseMargin
	for _, id := range m.order {
		if id == a.ID {
			return
		}
		old := m.s.find(id)
		if m.made[id].Queue != fifo || old == nil {
			continue
		}
		if old.place != placeDone || old.state != Canceled && old.open > 0 {
			m.r.Fatalf("%s is attempted while %s is %s with %d callbacks", a.ID, id, old.state, old.open)
		}
	}
}

func (m *model) judgeFlow(a Attempt) {
	f := a.Content.Flow
	if f == nil || f.Key != rated {
		return
	}
	info, _ := m.s.FlowControlKey(rated, m.now)
	if info.Active > 2 {
		m.r.Fatalf("%d attempts under way of a key of parallelism 2", info.Active)
	}
	if m.windows[rated] == nil {
		m.windows[rated] = map[int64]int{}
	}
	if m.windows[rated][info.WindowStart]++; m.windows[rated][info.WindowStart] > 3 {
		m.r.Fatalf("more than 3 claims in the window of %d", info.WindowStart)
	}
	if m.now < info.WindowStart || m.now >= info.WindowStart+1000 {
		m.r.Fatalf("claimed at %d outside of the window from %d", m.now, info.WindowStart)
	}
}

func (m *model) finishOne(r *rapid.T, status int) {
	if len(m.running) == 0 {
		return
	}
	i := rapid.IntRange(0, len(m.running)-1).Draw(r, "attempt")
	a := m.running[i]
	m.running = slices.Delete(m.running, i, i+1)
	m.answer(a, status, rapid.Int64Range(0, 3000).Draw(r, "backoff"))
}

func (m *model) answer(a Attempt, status int, backoff int64) {
	delete(m.ran, a.Ref())
	old := m.s.current(a.Ref())
	f := do(m, func(w *world) Disposition {
		return w.result(Result{AttemptRef: a.Ref(), Response: Response{Status: status, Body: []byte("x")}, RetryDelay: backoff})
	})
	if f.Stale != (old == nil) {
		m.r.Fatalf("stale %v", f.Stale)
	}
	if old != nil && f.State == Failed && m.attempt[a.ID] < int(old.retries)+1 {
		m.r.Fatalf("%s failed after %d of %d attempts", a.ID, m.attempt[a.ID], old.retries+1)
	}
}

// drain delivers everything: nothing may be left behind.
func (m *model) drain() {
	for _, q := range []string{fifo, "wide"} {
		do(m, func(w *world) string {
			_, err := w.s.ChangeQueue(w.env(), QueueChange{Name: q, Act: ActResume})
			return fmt.Sprint(err)
		})
	}
	for _, k := range []string{rated, "loose"} {
		do(m, func(w *world) string {
			_, err := w.s.ChangeFlowControl(w.env(), FlowControlChange{Key: k, Act: ActResume})
			return fmt.Sprint(err)
		})
	}
	for _, c := range m.s.Schedules(NamePage{Limit: 1000}).Elements {
		do(m, func(w *world) ScheduleRef {
			out, _ := w.s.ChangeSchedule(w.env(), ScheduleChange{ID: c.ID, Act: ActDelete})
			return out
		})
	}
	for range 20_000 {
		for _, a := range m.running {
			m.answer(a, 200, 0)
		}
		m.running = nil
		at, ok := m.s.NextDue(env.At(m.now))
		if !ok {
			break
		}
		m.now = max(m.now, at)
		m.claim(10, 3)
	}
	for _, id := range m.order {
		if old := m.s.find(id); old != nil && old.place != placeDone {
			m.r.Fatalf("%s is left behind in place %d, state %s", id, old.place, old.state)
		}
	}
	if n := m.s.places.due.Len() + m.s.places.waiting.Len() + m.s.places.parked.Len() + m.s.places.backlog.Len() + m.s.places.leases.Len() + m.s.places.holding.Len() + m.s.hosts.Len(); n > 0 {
		m.r.Fatalf("%d entries are left in the indices", n)
	}
}

// TestModel draws everything that may happen to messages, and checks after each step that order, rates, parallelism and
// deduplication hold, that derived state follows from the records, and at the end that nothing was lost.
func TestModel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m := newModel(r)
		steps := 0
		acts := map[string]func(*rapid.T){
			"publish":  m.publishOne,
			"publish2": m.publishOne,
			"claim": func(r *rapid.T) {
				m.claim(rapid.IntRange(1, 5).Draw(r, "n"), rapid.SampledFrom([]int{0, 2}).Draw(r, "share"))
			},
			"succeed": func(r *rapid.T) { m.finishOne(r, 200) },
			"fail":    func(r *rapid.T) { m.finishOne(r, 500) },
			"time":    func(r *rapid.T) { m.now += rapid.Int64Range(0, 2_500).Draw(r, "ms") },
			"renew": func(r *rapid.T) {
				var refs []AttemptRef
				for _, a := range m.running {
					refs = append(refs, a.Ref())
				}
				out := do(m, func(w *world) Renewed { out, _ := w.s.Renew(w.env(), Renewal{Running: refs}); return out })
				for _, ref := range refs {
					if _, ok := m.ran[ref]; ok && !slices.Contains(out.Lost, ref) {
						m.ran[ref] = out.Lease - LeaseMargin
					}
				}
			},
			"end": func(r *rapid.T) { // the sender gives an attempt up and says so
				if len(m.running) == 0 {
					return
				}
				a := m.running[0]
				m.running = m.running[1:]
				delete(m.ran, a.Ref())
				do(m, func(w *world) Disposition { return w.result(Result{AttemptRef: a.Ref(), Lost: true}) })
			},
			"restart": func(r *rapid.T) { // the sender has died, and its successor says so
				m.running, m.ran = nil, map[AttemptRef]int64{}
				do(m, func(w *world) string { w.s.ReleaseSession(w.env(), 7); return "" })
			},
			"term": func(r *rapid.T) {
				m.term++
				if rapid.Bool().Draw(r, "forget") {
					m.running = nil // the sender died with the results
				}
				m.claim(0, 0)
			},
			"cancel": func(r *rapid.T) {
				if len(m.order) == 0 {
					return
				}
				id := rapid.SampledFrom(m.order).Draw(r, "id")
				do(m, func(w *world) Cancelled { out, _ := w.s.Cancel(w.env(), Cancellation{IDs: []ID{id}}); return out })
			},
			"run now": func(r *rapid.T) {
				if len(m.order) == 0 {
					return
				}
				id := rapid.SampledFrom(m.order).Draw(r, "id")
				do(m, func(w *world) string { return fmt.Sprint(w.s.RunNow(w.env(), RunNow{id})) })
			},
			"run schedule": func(r *rapid.T) {
				do(m, func(w *world) Receipt { out, _ := w.s.RunSchedule(w.env(), ScheduleRef{"s"}); return out })
			},
			"bulk": func(r *rapid.T) {
				n := BulkCancellation{Filter: Filter{FlowKeys: []string{"loose"}}}
				b := do(m, func(w *world) BulkAction { out, _ := w.s.BulkCancel(w.env(), n); return out })
				n.ID, n.Act = b.ID, rapid.SampledFrom([]BulkAct{BulkStep, BulkStop}).Draw(r, "act")
				do(m, func(w *world) BulkAction { out, _ := w.s.BulkCancel(w.env(), n); return out })
			},
			"cancel some": func(r *rapid.T) {
				f := Filter{FlowKeys: []string{"loose"}, Hosts: []string{"a.example"}}
				do(m, func(w *world) Cancelled { out, _ := w.s.Cancel(w.env(), Cancellation{Filter: f, Limit: 2}); return out })
			},
			"queue": func(r *rapid.T) {
				n := QueueChange{Name: "wide", Act: ActPut, Parallelism: rapid.IntRange(1, 3).Draw(r, "parallelism"), Paused: rapid.Bool().Draw(r, "paused")}
				do(m, func(w *world) Queue { out, _ := w.s.ChangeQueue(w.env(), n); return out })
			},
			"pause": func(r *rapid.T) {
				n := QueueChange{Name: fifo, Act: rapid.SampledFrom([]Act{ActPause, ActResume}).Draw(r, "act")}
				do(m, func(w *world) Queue { out, _ := w.s.ChangeQueue(w.env(), n); return out })
			},
			"delete queue": func(r *rapid.T) {
				do(m, func(w *world) Queue {
					out, _ := w.s.ChangeQueue(w.env(), QueueChange{Name: "wide", Act: ActDelete})
					return out
				})
			},
			"flow": func(r *rapid.T) {
				n := FlowControlChange{Key: "loose", Act: rapid.SampledFrom([]Act{ActPause, ActResume, ActPin, ActUnpin, ActResetRate}).Draw(r, "act"), Parallelism: 1, Rate: 1, Period: 300}
				do(m, func(w *world) FlowControlInfo { out, _ := w.s.ChangeFlowControl(w.env(), n); return out })
			},
			"dead": func(r *rapid.T) {
				n := DeadSelection{Limit: 1}
				if rapid.Bool().Draw(r, "retry") {
					out := do(m, func(w *world) DeadRetried { out, _ := w.s.RetryDead(w.env(), DeadRetry{DeadSelection: n}); return out })
					for _, p := range out.Messages {
						m.order, m.made[p.ID] = append(m.order, p.ID), Publication{Options: Options{Queue: m.s.find(p.ID).Content().Queue}}
					}
					return
				}
				do(m, func(w *world) DeadDeleted { out, _ := w.s.DeleteDead(w.env(), n); return out })
			},
			"schedule": func(r *rapid.T) {
				n := SchedulePut{ID: rapid.SampledFrom([]string{"s", "t"}).Draw(r, "schedule"), Every: rapid.Int64Range(300, 2000).Draw(r, "every"), Publish: Publication{URL: "http://s.example/"}}
				n.Publish.Given = GivenRetries
				do(m, func(w *world) ScheduleRef { out, _ := w.s.PutSchedule(w.env(), n); return out })
			},
			"pause schedule": func(r *rapid.T) {
				n := ScheduleChange{ID: "s", Act: rapid.SampledFrom([]Act{ActPause, ActResume, ActDelete}).Draw(r, "act")}
				do(m, func(w *world) ScheduleRef { out, _ := w.s.ChangeSchedule(w.env(), n); return out })
			},
			"sweep":   func(r *rapid.T) { do(m, func(w *world) int { return w.s.Sweep(w.env(), 5) }) },
			"restore": func(r *rapid.T) { m.twin.s = restored(r, m.twin.s) },
			"fork": func(r *rapid.T) {
				old := m.s
				before := digest(r, old)
				m.s = old.Fork()
				m.publishOne(r)
				if digest(r, old) != before {
					r.Fatal("a change reached the store that was forked")
				}
			},
			"": func(r *rapid.T) {
				if steps++; steps%8 == 0 {
					checkStore(r, m.s)
				}
			},
		}
		r.Repeat(acts)
		checkStore(r, m.s)
		m.drain()
		checkStore(r, m.s)
		if digest(r, m.s) != digest(r, m.twin.s) {
			r.Fatal("the stores differ")
		}
	})
}
