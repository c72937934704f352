package queue

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// naiveNext is the message of a line that comes first, found by looking at every record.
func naiveNext(s *Store, of uint64, at place) (best *Message) {
	type of3 struct {
		pass uint64
		no   uint64
		rank int64
		seq  uint64
	}
	var least of3
	before := func(a, b of3) bool {
		return cmp.Or(cmp.Compare(a.pass, b.pass), cmp.Compare(a.no, b.no), cmp.Compare(a.rank, b.rank), cmp.Compare(a.seq, b.seq)) < 0
	}
	l, shared := s.places.shares.lines.Get(of)
	s.messages.All(func(_ uint64, m *Message) bool {
		if m.place != at || at == placeBacklog && m.queue != of || at == placeWaiting && m.flow != of {
			return true
		}
		c := m.Content()
		k := of3{rank: c.Created - int64(c.PriorityOf())*PriorityStep, seq: m.Seq}
		if shared {
			k.pass = l.Pass
			if c.TenantOf() != "" {
				k.no = s.places.shares.of(of, c.TenantOf())
				sh, _ := s.places.shares.byNo.Get(k.no)
				k.pass = sh.Pass
			}
		}
		if best == nil || before(k, least) {
			best, least = m, k
		}
		return true
	})
	return best
}

// checkShares fails unless shares say what the records do, and the next of each line is the one that a look at all records finds.
func checkShares(t tb, s *Store) {
	t.Helper()
	type counts struct{ live, waiting int }
	want, dear, extra, urgent := map[uint64]counts{}, map[uint64]int{}, map[uint64]int{}, 0
	s.messages.All(func(_ uint64, m *Message) bool {
		if m.place == placeDone {
			return true
		}
		c := m.Content()
		if c.CostOf() > 1 && m.flow != 0 {
			dear[m.flow]++
			if m.place == placeActive {
				extra[m.flow] += c.CostOf() - 1
			}
		}
		if c.PriorityOf() > 0 && (m.place == placeBacklog || m.place == placeWaiting || m.place == placeParked) {
			urgent++
		}
		for of, at := range map[uint64]place{m.queue: placeBacklog, m.flow: placeWaiting} {
			if of == 0 || c.TenantOf() == "" {
				continue
			}
			no := s.places.shares.of(of, c.TenantOf())
			n := want[no]
			if n.live++; m.place == at {
				n.waiting++
			}
			want[no] = n
		}
		return true
	})
	s.places.shares.byNo.All(func(no uint64, sh *share) bool {
		if n := want[no]; n.live != sh.live || n.waiting != sh.waiting || (sh.live == 0) != (sh.idle != 0) {
			t.Fatalf("the share %+v counts otherwise than %+v", sh, n)
		}
		return true
	})
	s.flows.byNo.All(func(no uint64, f *FlowKey) bool {
		if f.dear != dear[no] || f.extra != extra[no] {
			t.Fatalf("key %s counts %d dear messages and %d beyond its attempts, there are %d and %d", f.Key, f.dear, f.extra, dear[no], extra[no])
		}
		checkNext(t, s, s.places.waiting, no, placeWaiting)
		return true
	})
	s.queues.byNo.All(func(no uint64, _ *Queue) bool {
		checkNext(t, s, s.places.backlog, no, placeBacklog)
		return true
	})
	if urgent != s.places.urgent {
		t.Fatalf("%d messages with a priority are counted in lines, there are %d", s.places.urgent, urgent)
	}
}

func checkNext(t tb, s *Store, tree *lineTree, of uint64, at place) {
	t.Helper()
	got, ok := s.nextIn(tree, of)
	want := naiveNext(s, of, at)
	if (want != nil) != ok {
		t.Fatalf("line %d: found %v, want %v", of, ok, want != nil)
	}
	if !ok || got.seq == want.Seq {
		return
	}
	// shares behind the line's time are as good as each other
	l, _ := s.places.shares.lines.Get(of)
	pass := func(seq uint64) uint64 {
		m, _ := s.messages.Get(seq)
		if sh, ok := s.places.shares.byNo.Get(s.places.shares.of(of, m.Content().TenantOf())); ok {
			return max(sh.Pass, l.now)
		}
		return max(l.Pass, l.now)
	}
	m, _ := s.messages.Get(got.seq)
	if pass(got.seq) != pass(want.Seq) || m.Content().TenantOf() == want.Content().TenantOf() {
		t.Fatalf("line %d: %d comes first, want %d", of, got.seq, want.Seq)
	}
}

// with is a publication with a precedence.
func with(p Publication, priority int, tenant string, weight, cost int) Publication {
	p.Precedence, p.Given = &Precedence{Priority: priority, Tenant: tenant, Weight: weight, Cost: cost}, p.Given|GivenPrecedence
	if p.Precedence.Given = PartPriority; tenant != "" {
		p.Precedence.Given |= PartTenant
	}
	return p
}

func inFlow(key string, f FlowControl) Publication {
	p := url("x")
	f.Key = key
	p.Flow, p.Given = &f, GivenFlow|GivenRetries
	return p
}

// settle moves everything that is due into the wait list of a key, without a claim.
func (w *world) settle(key string) {
	w.t.Helper()
	for _, act := range []Act{ActPause, ActResume} {
		if act == ActResume {
			for n := -1; n != w.s.places.due.Len()+w.s.places.hurried.all.Len(); {
				n = w.s.places.due.Len() + w.s.places.hurried.all.Len()
				w.none()
			}
		}
		if _, err := w.s.ChangeFlowControl(w.env(), FlowControlChange{Key: key, Act: act}); err != nil {
			w.t.Fatal(err)
		}
	}
}

// TestPriorityOrder publishes with random priorities at random times to a queue and to a key, and expects all of them in the order of
// their ranks, and of their arrival among equals.
func TestPriorityOrder(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(r)
		queued := rapid.Bool().Draw(r, "queue")
		base := inFlow("k", FlowControl{Parallelism: 1})
		if queued {
			base = url("x")
			base.Queue, base.Given = "q", GivenQueue|GivenRetries
			if _, err := w.s.ChangeQueue(w.env(), QueueChange{Name: "q", Act: ActPut, Parallelism: 1, Paused: true}); err != nil {
				r.Fatal(err)
			}
		}
		type rankOf struct {
			rank int64
			id   ID
		}
		var want []rankOf
		for range rapid.IntRange(1, 40).Draw(r, "n") {
			w.now += rapid.Int64Range(0, 40_000).Draw(r, "ms")
			p := rapid.IntRange(0, MaxPriority).Draw(r, "priority")
			one := base
			if p > 0 || rapid.Bool().Draw(r, "named") {
				one = with(base, p, "", 0, 0)
			}
			want = append(want, rankOf{w.now - int64(p)*PriorityStep, w.publish(one)[0].ID})
		}
		slices.SortStableFunc(want, func(a, b rankOf) int { return cmp.Compare(a.rank, b.rank) })
		if queued {
			if _, err := w.s.ChangeQueue(w.env(), QueueChange{Name: "q", Act: ActResume}); err != nil {
				r.Fatal(err)
			}
		} else {
			w.settle("k")
		}
		for i, m := range want {
			x, _ := w.s.Explain(m.id, w.now)
			if queued && i > 0 && x.Ahead != i || !queued && x.Ahead != i {
				r.Fatalf("%d are said to come before the message at place %d", x.Ahead, i)
			}
		}
		for i := range want {
			if rapid.Bool().Draw(r, "restore") {
				w.s = restored(r, w.s)
			}
			checkStore(r, w.s)
			a := w.one()
			if a.ID != want[i].id {
				r.Fatalf("%s is delivered at place %d, want %s", a.ID, i, want[i].id)
			}
			w.finish(a, 200)
		}
	})
}

// TestPriorityWithoutSenders: what is due and more urgent gets the sender that is free, and nothing is claimed before its time.
func TestPriorityWithoutSenders(t *testing.T) {
	w := newWorld(t)
	low := w.publish(url("low"))[0].ID
	high := w.publish(with(url("high"), 3, "", 0, 0))[0].ID
	late := with(url("late"), 9, "", 0, 0)
	late.Given, late.Delay = late.Given|GivenDelay, 5_000
	last := w.publish(late)[0].ID
	order := []ID{}
	for range 2 {
		for _, a := range w.advance(1) {
			order = append(order, a.ID)
		}
	}
	w.none()
	if at, ok := w.s.NextByTime(); !ok || at > w.now+5_000 {
		t.Fatal(at, ok)
	}
	w.now += 5_000
	if at, ok := w.s.Overdue(); !ok || at != w.now {
		t.Fatal(at, ok)
	}
	order = append(order, w.one().ID)
	if !slices.Equal(order, []ID{high, low, last}) {
		t.Fatal(order)
	}
	w.s = restored(t, w.s)
}

// TestPriorityOnABusyHost: when an attempt to a host that is busy ends, the most urgent of its messages goes on.
func TestPriorityOnABusyHost(t *testing.T) {
	w := newWorld(t)
	claim := func() []Attempt { return w.s.Advance(w.env(), Demand{Term: 1, Claims: 10, HostShare: 1}) }
	w.publish(url("x"))
	list := claim()
	want := make([]ID, 4)
	for _, p := range []int{0, 2, 9, 5} {
		id := w.publish(with(url("x"), p, "", 0, 0))[0].ID
		want[slices.Index([]int{9, 5, 2, 0}, p)] = id
		if n := len(claim()); n > 0 || w.s.find(id).place != placeParked {
			t.Fatalf("%d attempts to a host that is busy", n)
		}
	}
	for i, id := range want {
		w.finish(list[0], 200)
		if list = claim(); len(list) != 1 || list[0].ID != id {
			t.Fatalf("%d attempts at place %d, the first of %s, want %s", len(list), i, list[0].ID, id)
		}
	}
}

// TestNothingStarves: one message of no priority is delivered beside an endless stream of the most urgent ones that takes all there is,
// whether they wait for a key or for a sender.
func TestNothingStarves(t *testing.T) {
	for _, base := range []Publication{inFlow("k", FlowControl{Parallelism: 1}), url("x")} {
		w := newWorld(t)
		old := w.publish(base)[0].ID
		began := w.now
		for ; w.now < began+20*PriorityStep; w.now += 1_000 {
			w.publish(with(base, MaxPriority, "", 0, 0))
			w.publish(with(base, MaxPriority, "", 0, 0))
			if base.Flow != nil {
				w.settle("k")
			}
			a := w.advance(1)[0]
			w.finish(a, 200)
			if a.ID == old {
				break
			}
		}
		// two come for each that goes: it takes twice as long as until those that came later rank behind it
		if waited := w.now - began; waited < MaxPriority*PriorityStep || waited > 2*MaxPriority*PriorityStep+2_000 {
			t.Fatalf("it waited for %d ms (flow control %v)", waited, base.Flow != nil)
		}
	}
}

// fairness follows what tenants of one line get while they have messages waiting.
type fairness struct {
	weight map[string]int
	dear   map[string]int             // the highest cost of a message so far
	got    map[string]*big.Rat        // over the weight
	least  map[[2]string]*[2]*big.Rat // of the difference of two, since both have had messages
}

func (f *fairness) both(waiting map[string]int) {
	for a, n := range waiting {
		for b, m := range waiting {
			k := [2]string{a, b}
			if n == 0 || m == 0 {
				delete(f.least, k)
			} else if f.least[k] == nil {
				d := new(big.Rat).Sub(f.got[a], f.got[b])
				f.least[k] = &[2]*big.Rat{d, d}
			}
		}
	}
}

// judge fails if, while both had messages, two got amounts for their weights that differ by more than a message of each.
func (f *fairness) judge(r *rapid.T) {
	for k, d := range f.least {
		now := new(big.Rat).Sub(f.got[k[0]], f.got[k[1]])
		if now.Cmp(d[0]) < 0 {
			d[0] = now
		}
		if now.Cmp(d[1]) > 0 {
			d[1] = now
		}
		bound := new(big.Rat).SetFrac64(int64(f.dear[k[0]]), int64(f.weight[k[0]]))
		bound.Add(bound, new(big.Rat).SetFrac64(int64(f.dear[k[1]]), int64(f.weight[k[1]])))
		bound.Add(bound, big.NewRat(2, passScale)) // passes are whole numbers
		if new(big.Rat).Sub(d[1], d[0]).Cmp(bound) > 0 {
			r.Fatalf("%q and %q: what they got differs by up to %s, %s is allowed", k[0], k[1], new(big.Rat).Sub(d[1], d[0]).FloatString(6), bound.FloatString(6))
		}
	}
}

// TestFairShares has tenants of random weights come and go with messages of random costs and priorities, restores the store and forks
// it in between, and holds each pair of tenants against the bound of start-time fair queuing over every time in which both wait.
func TestFairShares(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(r)
		queued := rapid.Bool().Draw(r, "queue")
		names := []string{"", "a", "b", "c", "d"}
		f := fairness{weight: map[string]int{"": 1}, dear: map[string]int{}, got: map[string]*big.Rat{}, least: map[[2]string]*[2]*big.Rat{}}
		waiting := map[string]int{}
		for _, n := range names {
			if f.got[n] = new(big.Rat); n != "" {
				f.weight[n] = rapid.SampledFrom([]int{1, 2, 3, 7, 1000}).Draw(r, "weight")
			}
			waiting[n] = 0
		}
		base := inFlow("k", FlowControl{Parallelism: MaxCost})
		if queued {
			base = url("x")
			base.Queue, base.Given = "q", GivenQueue|GivenRetries
		}
		of := map[ID]string{}
		costs := map[ID]int{}
		// through counts a message that has left the line.
		through := func(id ID) {
			tenant := of[id]
			f.got[tenant] = new(big.Rat).Add(f.got[tenant], big.NewRat(int64(costs[id]), int64(f.weight[tenant])))
			f.judge(r)
			waiting[tenant]--
			f.both(waiting)
		}
		publish := func(tenant string) {
			p := base
			cost := rapid.SampledFrom([]int{1, 1, 2, 5, 100}).Draw(r, "cost")
			if tenant != "" || cost > 1 {
				weight := 0
				if tenant != "" {
					weight = f.weight[tenant]
				}
				p = with(base, rapid.SampledFrom([]int{0, 0, 5}).Draw(r, "priority"), tenant, weight, cost)
			}
			id := w.publish(p)[0].ID
			of[id], costs[id] = tenant, cost
			f.dear[tenant] = max(f.dear[tenant], cost)
			waiting[tenant]++
			if !queued {
				w.settle("k")
			} else if w.s.find(id).place != placeBacklog { // a slot was free
				through(id)
			}
			f.both(waiting)
		}
		claim := func() {
			list := w.advance(1)
			if len(list) == 0 {
				return
			}
			w.finish(list[0], 200)
			if !queued {
				through(list[0].ID)
				return
			}
			w.s.places.due.All(func(at Stamp, _ struct{}) bool { through(w.s.idOf(at.Seq)); return true }) // it has the slot now
			w.s.places.hurried.all.All(func(m inLine, _ struct{}) bool { through(w.s.idOf(m.seq)); return true })
		}
		r.Repeat(map[string]func(*rapid.T){
			"publish": func(r *rapid.T) {
				tenant := rapid.SampledFrom(names).Draw(r, "tenant")
				for range rapid.IntRange(1, 4).Draw(r, "n") {
					publish(tenant)
				}
			},
			"claim": func(*rapid.T) {
				for range 5 {
					claim()
				}
			},
			"time":    func(r *rapid.T) { w.now += rapid.Int64Range(0, 100_000).Draw(r, "ms") },
			"restore": func(r *rapid.T) { w.s = restored(r, w.s) },
			"fork":    func(*rapid.T) { w.s = w.s.Fork() },
			"sweep":   func(*rapid.T) { w.s.Sweep(w.env(), 100) },
			"":        func(r *rapid.T) { checkStore(r, w.s) },
		})
		for range len(of) {
			claim()
		}
		for _, n := range names {
			if waiting[n] != 0 {
				r.Fatalf("%d messages of %q are left", waiting[n], n)
			}
		}
		w.now += 2 * flowKept
		w.s.Sweep(w.env(), 1_000)
		if w.s.places.shares.byNo.Len() > 0 || w.s.places.shares.lines.Len() > 0 || w.s.places.shares.memory != 0 {
			r.Fatalf("shares are left: %s", dump(w.s.places.shares.lines))
		}
	})
}

// TestTenantsSaveNothing: a tenant that comes when another has been served for long gets as much as that one from then on, and no more.
func TestTenantsSaveNothing(t *testing.T) {
	w := newWorld(t)
	base := inFlow("k", FlowControl{Parallelism: 1})
	for range 100 {
		w.publish(with(base, 0, "old", 0, 0))
	}
	w.settle("k")
	for range 50 {
		w.finish(w.one(), 200)
	}
	for range 30 {
		w.publish(with(base, 0, "new", 0, 0))
	}
	w.settle("k")
	got := 0
	for range 30 {
		a := w.one()
		if w.finish(a, 200); a.Content.TenantOf() == "new" {
			got++
		}
	}
	if got < 14 || got > 16 {
		t.Errorf("the new tenant got %d of 30", got)
	}
}

// TestTenantsOweWhatTheyHad: who publishes a dear message when the one before it is done gets no more than who always has messages waiting.
func TestTenantsOweWhatTheyHad(t *testing.T) {
	const dear = 10
	w := newWorld(t)
	base := inFlow("k", FlowControl{Parallelism: 1})
	for range 300 {
		w.publish(with(base, 0, "many", 0, 0))
	}
	cost, live := map[string]int{}, false
	for range 200 {
		if !live {
			w.publish(with(base, 0, "dear", 0, dear))
			live = true
		}
		w.settle("k")
		a := w.one()
		w.finish(a, 200)
		tenant := a.Content.TenantOf()
		cost[tenant] += a.Content.CostOf()
		live = live && tenant != "dear"
	}
	if off := cost["dear"] - cost["many"]; off > dear+1 || off < -dear-1 {
		t.Errorf("one got %d for its dear messages, the other %d", cost["dear"], cost["many"])
	}
}

// TestCostCounts draws messages of random costs, and checks that attempts under way cost no more than the parallelism, unless there is
// one alone, that windows admit no more than the rate, unless the first in one costs more, and that all of them are delivered.
func TestCostCounts(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(r)
		limit := FlowControl{Parallelism: rapid.IntRange(0, 6).Draw(r, "parallelism"), Rate: rapid.IntRange(1, 8).Draw(r, "rate"), Period: 1_000}
		made, delivered := rapid.IntRange(1, 30).Draw(r, "n"), 0
		costs := map[ID]int{}
		for range made {
			cost := rapid.SampledFrom([]int{1, 1, 2, 3, 9}).Draw(r, "cost")
			costs[w.publish(with(inFlow("k", limit), 0, "", 0, cost))[0].ID] = cost
		}
		var running []Attempt
		window, started, windows := int64(0), 0, 0
		for steps := 0; delivered < made; steps++ {
			if steps > 10_000 {
				r.Fatalf("%d of %d are delivered", delivered, made)
			}
			if rapid.IntRange(0, 9).Draw(r, "restore") == 0 {
				w.s = restored(r, w.s)
			}
			checkStore(r, w.s)
			for _, a := range w.advance(1) {
				running = append(running, a)
				info, _ := w.s.FlowControlKey("k", w.now)
				if info.WindowStart != window {
					window, windows, started = info.WindowStart, 0, 0
				}
				windows += costs[a.ID]
				if started++; windows > limit.Rate && started > 1 {
					r.Fatalf("attempts of cost %d in a window of %d", windows, limit.Rate)
				}
				sum := 0
				for _, one := range running {
					sum += costs[one.ID]
				}
				if limit.Parallelism > 0 && sum > limit.Parallelism && len(running) > 1 {
					r.Fatalf("%d attempts that cost %d under way, of a key of parallelism %d", len(running), sum, limit.Parallelism)
				}
			}
			if len(running) > 0 && rapid.Bool().Draw(r, "finish") {
				w.finish(running[0], 200)
				running, delivered = running[1:], delivered+1
				continue
			}
			w.now += rapid.Int64Range(0, 700).Draw(r, "ms")
			var refs []AttemptRef
			for _, a := range running {
				refs = append(refs, a.Ref())
			}
			if _, err := w.s.Renew(w.env(), Renewal{Running: refs}); err != nil {
				r.Fatal(err)
			}
		}
	})
}

// TestBurst holds a bucket against a simple one in rational numbers: what it admits, and when.
func TestBurst(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(r)
		limit := FlowControl{Rate: rapid.IntRange(1, 2000).Draw(r, "rate"), Period: rapid.Int64Range(1, 5_000).Draw(r, "period"), Burst: rapid.IntRange(1, 20).Draw(r, "burst")}
		tokens, at := new(big.Rat).SetInt64(int64(limit.Burst)), w.now
		refill := func() {
			tokens.Add(tokens, new(big.Rat).SetFrac64((w.now-at)*int64(limit.Rate), limit.Period))
			if full := new(big.Rat).SetInt64(int64(limit.Burst)); tokens.Cmp(full) > 0 {
				tokens = full
			}
			at = w.now
		}
		for range 60 {
			cost := rapid.SampledFrom([]int{1, 1, 1, 2, 7, 30}).Draw(r, "cost")
			w.publish(with(inFlow("k", limit), 0, "", 0, cost))
			w.settle("k")
			need := new(big.Rat).SetInt64(int64(min(cost, limit.Burst)))
			var list []Attempt
			for list = w.advance(1); len(list) == 0; list = w.advance(1) {
				if refill(); tokens.Cmp(need) >= 0 {
					r.Fatalf("not admitted with %s of %s tokens", tokens.FloatString(3), need.FloatString(3))
				}
				next, ok := w.s.NextByTime()
				if !ok || next <= w.now {
					x, _ := w.s.ExplainFlow("k", w.now)
					r.Fatalf("the next time is %d at %d: %s", next, w.now, x.Reason)
				}
				w.now = min(next, w.now+rapid.Int64Range(1, 2_000).Draw(r, "wait"))
			}
			if refill(); tokens.Cmp(need) < 0 {
				r.Fatalf("admitted with %s of %s tokens", tokens.FloatString(3), need.FloatString(3))
			}
			w.finish(list[0], 200)
			tokens.Sub(tokens, new(big.Rat).SetInt64(int64(cost)))
			if rapid.IntRange(0, 9).Draw(r, "restore") == 0 {
				w.s = restored(r, w.s)
			}
			w.now += rapid.Int64Range(0, 300).Draw(r, "ms")
		}
	})
}

// TestPrecedenceRefused: what can't be, or would count nowhere, is refused.
func TestPrecedenceRefused(t *testing.T) {
	w := newWorld(t)
	flow := inFlow("k", FlowControl{Parallelism: 1})
	for name, p := range map[string]Publication{
		"priority": with(flow, 10, "", 0, 0), "negative priority": with(flow, -1, "", 0, 0), "weight": with(flow, 0, "a", 1001, 0), "cost": with(flow, 0, "", 0, MaxCost+1),
		"weight without tenant": with(flow, 0, "", 3, 0), "tenant without line": with(url("x"), 0, "a", 0, 0), "cost without line": with(url("x"), 0, "", 0, 5),
		"burst": inFlow("k", FlowControl{Rate: 1, Burst: MaxBurst + 1}), "burst without rate": inFlow("k", FlowControl{Parallelism: 1, Burst: 1}),
	} {
		if err := w.refused(p); err.Code != ErrInvalid.Code {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTenantsAreBounded: a tenant too many is refused, and has a place when another has gone.
func TestTenantsAreBounded(t *testing.T) {
	w := newWorld(t)
	p := Publications{}
	for i := range MaxTenants {
		p.Items = append(p.Items, with(inFlow("k", FlowControl{Parallelism: 1}), 0, fmt.Sprint("t", i), 0, 0))
	}
	if _, err := w.s.Publish(w.env(), p); err != nil {
		t.Fatal(err)
	}
	one := with(inFlow("k", FlowControl{Parallelism: 1}), 0, "late", 0, 0)
	if err := w.refused(one); err.Code != ErrQuota.Code {
		t.Fatal(err)
	}
	w.publish(p.Items[5])
	list := w.s.FlowTenants("k", NamePage{Limit: 10})
	if len(list.Elements) != 10 || !list.More {
		t.Fatal(len(list.Elements), list.More)
	}
	w.finish(w.one(), 200)
	w.publish(one)
	w.s = restored(t, w.s)
}

// TestPrecedenceOfGroups: parts that a request does not name are those of the group.
func TestPrecedenceOfGroups(t *testing.T) {
	base := Options{Given: GivenPrecedence, Precedence: &Precedence{Given: PartPriority | PartTenant, Priority: 5, Tenant: "a"}}
	own := Options{Given: GivenPrecedence, Precedence: &Precedence{Given: PartPriority | PartCost, Cost: 3}}
	got := own.Over(base).Precedence
	if *got != (Precedence{Given: PartPriority | PartTenant | PartCost, Tenant: "a", Cost: 3}) {
		t.Fatal(got)
	}
	if got := (Options{}).Over(base).Precedence; got != base.Precedence {
		t.Fatal(got)
	}
}

// weighed is the message of that number of four tenants, one of them without a name.
func weighed(i int) Publication {
	tenant, weight := []string{"", "a", "b", "c"}[i%4], 1+i%3
	if tenant == "" {
		weight = 0
	}
	return with(inFlow("k", FlowControl{Parallelism: 1}), 0, tenant, weight, 1+i%5)
}

// TestPassesAreCountedAgain: passes that get too large are counted from the line's time, which changes no order.
func TestPassesAreCountedAgain(t *testing.T) {
	order := func(add uint64) (list []string) {
		w := newWorld(t)
		for i := range 60 {
			w.publish(weighed(i))
		}
		w.settle("k")
		for range 10 {
			a := w.one()
			w.finish(a, 200)
			list = append(list, a.ID.String())
		}
		no, _ := w.s.flows.byName.Get("k")
		st := &w.s.places.shares
		l, _ := st.lines.Get(no)
		l.now, l.top, l.Pass = l.now+add, l.top+add, l.Pass+add
		st.lines.Set(no, l)
		var all []*share
		st.byNo.All(func(no uint64, _ *share) bool { all = append(all, st.get(no)); return true })
		for _, sh := range all {
			st.turns.Delete(turn{sh.line, sh.Pass, sh.no})
			sh.Pass += add
			st.store(sh)
		}
		for range 50 {
			a := w.one()
			w.finish(a, 200)
			list = append(list, a.ID.String())
		}
		if l, ok := st.lines.Get(no); ok && l.top >= maxPass {
			t.Errorf("a pass of %d is left", l.top)
		}
		return list
	}
	if plain, moved := order(0), order(maxPass); !slices.Equal(plain, moved) {
		t.Errorf("%v\n%v", plain, moved)
	}
}

// TestClaimsDoNotGrow: a claim takes about the same however many tenants and messages wait.
func TestClaimsDoNotGrow(t *testing.T) {
	took := func(tenants int) time.Duration {
		w := newWorld(t)
		p := Publications{}
		for i := range 3 * tenants {
			p.Items = append(p.Items, with(inFlow("k", FlowControl{Parallelism: 1}), i%10, fmt.Sprint("t", i%tenants), 1+i%3, 1+i%5))
		}
		if _, err := w.s.Publish(w.env(), p); err != nil {
			t.Fatal(err)
		}
		w.settle("k")
		return best(t, func() {
			for range 300 {
				w.finish(w.one(), 200)
			}
		})
	}
	var few, many time.Duration
	for range 5 { // a processor that others use is slow now and then
		if few, many = took(1_000), took(8_000); many <= 4*few {
			return
		}
	}
	t.Errorf("300 claims take %s with 1000 tenants, and %s with 8000", few, many)
}
