package queue

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/payload"
)

// lives is a random life of a few thousand messages, the same for every world that it is told to.
type lives struct {
	r       *rand.Rand
	worlds  []*world
	ids     []ID
	running [][]Attempt // of each world
}

func (li *lives) each(f func(i int, w *world)) {
	for i, w := range li.worlds {
		f(i, w)
	}
}

func (li *lives) step() {
	r := li.r
	switch n := r.IntN(100); {
	case n < 40:
		p := url(fmt.Sprintf("path%d?n=%d", r.IntN(5), r.IntN(40)))
		p.URL = strings.Replace(p.URL, "example.com", fmt.Sprintf("Host%d.example:80%d", r.IntN(4), r.IntN(2)), 1)
		if r.IntN(10) == 0 {
			p.URL, p.Group = "", "everybody"
		}
		p.CallerIP = fmt.Sprintf("10.0.0.%d", r.IntN(3))
		p.Given = GivenRetries | GivenLabels | GivenHeader
		p.Retries = r.IntN(3)
		for range r.IntN(3) {
			p.Labels = append(p.Labels, fmt.Sprintf("label%d", r.IntN(200)))
		}
		p.Header = []Field{{"Content-Type", "text/plain"}, {"X-N", fmt.Sprint(r.IntN(1000))}}
		p.Body = []byte(strings.Repeat(fmt.Sprint(r.IntN(100_000)), 1+r.IntN(3)*r.IntN(100)))
		if r.IntN(4) == 0 {
			p.Given, p.Queue = p.Given|GivenQueue, fmt.Sprintf("queue%d", r.IntN(3))
		}
		if r.IntN(4) == 0 {
			p.Flow = &FlowControl{Key: fmt.Sprintf("key%d", r.IntN(3)), Parallelism: 5}
		}
		if r.IntN(5) == 0 {
			p.Callback = &Callback{URL: "http://example.com/called"}
		}
		if r.IntN(5) == 0 {
			p.Failure = &Callback{URL: "http://example.com/failed"}
		}
		if r.IntN(6) == 0 {
			p.Given, p.Delay = p.Given|GivenDelay, int64(r.IntN(600_000))
		}
		if r.IntN(8) == 0 {
			p.Trace = TraceContext{Parent: fmt.Sprintf("00-%032x-%016x-01", r.Uint64(), r.Uint64()), State: "a=b"}
		}
		var made []Published
		li.each(func(_ int, w *world) { made = w.publish(p) })
		for _, one := range made {
			li.ids = append(li.ids, one.ID)
		}
	case n < 60:
		li.each(func(i int, w *world) { li.running[i] = append(li.running[i], w.advance(5)...) })
	case n < 95:
		if len(li.running[0]) == 0 {
			return
		}
		at := r.IntN(len(li.running[0]))
		n := Result{Response: Response{Status: []int{200, 200, 204, 500, 0, 489}[r.IntN(6)]}, RetryDelay: int64(r.IntN(90_000))}
		if n.Response.Status == 0 {
			n.Error = fmt.Sprintf("no answer %d", r.IntN(3))
		} else {
			n.Response.Header = []Field{{"X-Served-By", fmt.Sprint(r.IntN(9))}}
			n.Response.Body = []byte(strings.Repeat("answer ", r.IntN(3)*r.IntN(200)))
		}
		li.each(func(i int, w *world) {
			n.AttemptRef = li.running[i][at].Ref()
			w.result(n)
			li.running[i] = slices.Delete(li.running[i], at, at+1)
		})
	case n < 97 && len(li.ids) > 0:
		id := li.ids[r.IntN(len(li.ids))]
		li.each(func(_ int, w *world) {
			if _, err := w.s.Cancel(w.env(), Cancellation{IDs: []ID{id}}); err != nil {
				w.t.Fatal(err)
			}
		})
	default:
		later := int64(r.IntN(20_000))
		li.each(func(_ int, w *world) {
			w.now += later
		})
	}
}

// filter is a random filter, some of which choose nothing.
func (li *lives) filter() *Filter {
	r, f := li.r, &Filter{}
	maybe := func(list *[]string, text string) {
		if r.IntN(8) == 0 {
			*list = append(*list, text)
		}
	}
	maybe(&f.URLs, fmt.Sprintf("http://Host%d.example:800/path%d?n=%d", r.IntN(4), r.IntN(5), r.IntN(40)))
	maybe(&f.Hosts, fmt.Sprintf("hosT%d.example", r.IntN(5)))
	maybe(&f.Paths, fmt.Sprintf("/path%d", r.IntN(6)))
	maybe(&f.Queues, fmt.Sprintf("queue%d", r.IntN(4)))
	maybe(&f.Labels, fmt.Sprintf("label%d", r.IntN(210)))
	maybe(&f.Labels, fmt.Sprintf("label%d", r.IntN(210)))
	maybe(&f.FlowKeys, fmt.Sprintf("key%d", r.IntN(4)))
	maybe(&f.CallerIPs, fmt.Sprintf("10.0.0.%d", r.IntN(4)))
	if r.IntN(4) == 0 {
		f.States = []State{State(r.IntN(int(states))), State(r.IntN(int(states)))}
	}
	if r.IntN(4) == 0 {
		f.From = start + r.Int64N(li.worlds[0].now-start+1)
	}
	if r.IntN(4) == 0 {
		f.To = start + r.Int64N(li.worlds[0].now-start+1)
	}
	if r.IntN(6) == 0 {
		for range 1 + r.IntN(3) {
			f.IDs = append(f.IDs, li.ids[r.IntN(len(li.ids))])
		}
	}
	return f
}

// listed is everything that a filter chooses, page by page.
func listed(t *testing.T, s *Store, f *Filter, p Page) (all []string) {
	t.Helper()
	for range 10_000 {
		list, cursor, more := s.Events(f, p)
		for _, n := range list {
			n.Content.kept = kept{}
			text, err := json.Marshal([]any{n.ID, n.Stamp, n.State, n.Attempt, n.Next(), n.Content, n.Response, n.Error, n.Course})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, string(text))
		}
		if !more {
			return all
		}
		p.After = cursor
	}
	t.Fatal("the pages have no end")
	return nil
}

// difference shows where the texts at a position differ.
func difference(got, want []string, i int) string {
	if i >= len(got) || i >= len(want) {
		return "one has no more"
	}
	a, b, k := got[i], want[i], 0
	for k < min(len(a), len(b)) && a[k] == b[k] {
		k++
	}
	return fmt.Sprintf("after %.80s: have %.200q, want %.200q", a, a[max(0, k-60):], b[max(0, k-60):])
}

// TestSealedEventsReadAlike: what is listed of events that have gone into volumes is what it would be if they had not, whatever the
// filter, the order and the size of pages, on the store itself, on a fork and after a restore; and the equal states of two nodes
// have equal digests.
func TestSealedEventsReadAlike(t *testing.T) {
	sealed, plain := newWorld(t), newWorld(t)
	plain.level = env.Base
	sealed.s.Raise(env.Files)
	li := &lives{r: rand.New(rand.NewPCG(3, 8)), worlds: []*world{sealed, plain}, running: make([][]Attempt, 2)}
	li.each(func(_ int, w *world) {
		n := DefaultSettings()
		n.EventAge, n.DeadAge, n.DeadBytes = 0, 0, 0
		if _, err := w.s.Configure(w.env(), n); err != nil {
			t.Fatal(err)
		}
		everybody := GroupChange{Name: "everybody", Act: ActAddEndpoints, Endpoints: []Endpoint{{"", "http://Host1.example:800/a"}, {"", "http://Host2.example:800/b"}, {"", "http://Host3.example:800/c"}}}
		if _, err := w.s.ChangeGroup(w.env(), everybody); err != nil {
			t.Fatal(err)
		}
	})
	for round := range 4 {
		for range 2500 {
			li.step()
		}
		forks := []*Store{sealed.s, sealed.s.Fork(), restored(t, sealed.s)}
		if a, b := digest(t, forks[0]), digest(t, forks[2]); a != b {
			t.Fatalf("round %d: the digest changes by a restore", round)
		}
		if a, b := forks[0].counted(), forks[2].counted(); a != b {
			t.Fatalf("round %d: %d bytes are counted, %d after a restore", round, a, b)
		}
		for try := range 40 {
			f := li.filter()
			tallyAlike(t, plain.s, forks[try%len(forks)], f, Page{Newest: li.r.IntN(2) == 0}, 1+li.r.Int64N(1<<li.r.IntN(22)))
			p := Page{Limit: 50 + li.r.IntN(1000), Newest: li.r.IntN(2) == 0, Last: li.r.IntN(5) == 0}
			want := listed(t, plain.s, f, p)
			if got := listed(t, forks[try%len(forks)], f, p); !slices.Equal(got, want) {
				i := 0
				for i < min(len(got), len(want)) && got[i] == want[i] {
					i++
				}
				t.Fatalf("round %d: %+v %+v: %d events, want %d; the %dth differs: %s", round, *f, p, len(got), len(want), i, difference(got, want, i))
			}
		}
	}
	readDamaged(t, li.r, sealed.s)
	if v := sealed.s.events.past.Len(); v < 5 {
		t.Fatalf("only %d volumes were made", v)
	}
	if n, all := sealed.s.events.byNo.Len(), plain.s.events.byNo.Len(); n > all/2 {
		t.Errorf("%d of %d events are in the tree", n, all)
	}
	for _, id := range li.ids {
		old, ok := plain.s.Message(id, plain.now)
		now, found := sealed.s.Message(id, sealed.now)
		if !found {
			now, _, found = sealed.s.Past(id, sealed.now)
		}
		if ok != found {
			t.Fatalf("message %s: %v, want %v", id, found, ok)
		}
		if !ok {
			continue
		}
		old.Content.kept, now.Content.kept = kept{}, kept{}
		if a, b := show(*old.Content), show(*now.Content); old.State != now.State || old.Attempts != now.Attempts || old.Retried != now.Retried || len(a) != len(b) {
			t.Fatalf("message %s: %+v, want %+v", id, now, old)
		}
	}
}

// readDamaged changes bytes of volumes, which a crafted backup may have: lists may lack events then, and nothing else happens.
func readDamaged(t *testing.T, r *rand.Rand, s *Store) {
	t.Helper()
	s = s.Fork()
	for range 400 {
		v := *s.events.past.Oldest()
		b := bytes.Clone(v.Records.Bytes())
		switch r.IntN(4) {
		case 0:
			b = b[:1+r.IntN(len(b)-1)]
		case 1:
			v.Count = 1 + r.IntN(2*v.Count)
		case 2:
			v.Apart = v.Apart[:r.IntN(len(v.Apart)+1)]
		}
		for range 1 + r.IntN(3) {
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		}
		v.Records = payload.New(b, nil)
		f := s.Fork()
		for f.events.past.Len() > 0 {
			f.events.past.DropOldest()
		}
		f.events.past.Add(&v)
		f.Events(&Filter{Labels: []string{"label1"}}, Page{Limit: 1000, Newest: r.IntN(2) == 0})
		f.Events(&Filter{}, Page{Limit: 1000})
	}
}
