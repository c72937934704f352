package queue

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/internal/testcpu"
)

// TestGroupChangesAreThoseOfAWalk holds changes of groups against what they mean: each endpoint takes the place of the first
// one of its URL or its name.
func TestGroupChangesAreThoseOfAWalk(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	some := func(n int) (list []Endpoint) {
		for range n {
			list = append(list, Endpoint{Name: []string{"", "a", "b", "c", "d"}[r.IntN(5)], URL: fmt.Sprint("u", r.IntN(6))})
		}
		return list
	}
	for i := range 20_000 {
		before, change := some(r.IntN(8)), some(r.IntN(6))
		want := slices.Clone(before)
		for _, end := range change {
			same := func(o Endpoint) bool { return o.URL == end.URL || o.Name == end.Name && end.Name != "" }
			if i := slices.IndexFunc(want, same); i >= 0 {
				want[i] = end
			} else {
				want = append(want, end)
			}
		}
		if got := addEndpoints(slices.Clone(before), change); !slices.Equal(got, want) {
			t.Fatalf("%d: %v and %v: %v, want %v", i, before, change, got, want)
		}
		if len(change) > 0 && r.IntN(2) == 0 {
			change[0].URL = ""
		}
		want = slices.DeleteFunc(slices.Clone(before), func(o Endpoint) bool {
			return slices.ContainsFunc(change, func(end Endpoint) bool {
				return end.Name != "" && end.Name == o.Name || end.URL != "" && end.URL == o.URL
			})
		})
		if got := removeEndpoints(slices.Clone(before), change); !slices.Equal(got, want) {
			t.Fatalf("%d: %v without %v: %v, want %v", i, before, change, got, want)
		}
	}
}

// best is the least processor time that something takes in three runs.
func best(t *testing.T, do func()) time.Duration {
	least := time.Hour
	for range 3 {
		began := testcpu.Used(t)
		do()
		if least = min(least, testcpu.Used(t)-began); least > 5*time.Second {
			break
		}
	}
	return least
}

// TestNothingIsQuadratic does what lists of a client's make long, and holds it against the time that sets of as many texts take:
// what walks one list for each element of the other takes thousands of times as long.
func TestNothingIsQuadratic(t *testing.T) {
	urls := func(prefix string, n int) (list []Endpoint) {
		for i := range n {
			list = append(list, Endpoint{Name: fmt.Sprint(prefix, i), URL: fmt.Sprint("http://x/", prefix, i)})
		}
		return list
	}
	texts := func(prefix string, n int) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprint(prefix, i))
		}
		return list
	}
	fields := func(prefix string, n int) (list []Field) {
		for i := range n {
			list = append(list, Field{fmt.Sprint("X-", prefix, i), "v"})
		}
		return list
	}
	things := map[string]func(n int) func(){
		"endpoints that are added": func(n int) func() {
			a, b := urls("a", n), urls("b", n)
			return func() { addEndpoints(a, b) }
		},
		"endpoints that are replaced": func(n int) func() {
			a, b := urls("a", n), urls("a", n)
			slices.Reverse(b)
			return func() { addEndpoints(a, b) }
		},
		"endpoints of one name": func(n int) func() {
			a := urls("a", n)
			b := urls("b", n)
			for i := range a {
				a[i].Name = "same"
			}
			for i := range b {
				b[i].Name = "same"
			}
			return func() { addEndpoints(a, b) }
		},
		"endpoints that are removed": func(n int) func() {
			a, b := urls("a", n), urls("b", n)
			return func() { removeEndpoints(a, b) }
		},
		"headers of a group": func(n int) func() {
			a, b := fields("a", n), fields("b", n)
			return func() { headerOver(a, b) }
		},
		"headers in a callback": func(n int) func() {
			a := fields("a", n)
			return func() { HeaderJSON(nil, a) }
		},
		"bulk actions": func(n int) func() {
			w := newWorld(t)
			for range 10 {
				w.publish(url("x"))
			}
			long := strings.Repeat("x", 4_000)
			return func() {
				for i := range MaxBulkOpen {
					_, _ = w.s.bulk.Start(w.env(), w.s.next(), 0, fmt.Appendf(nil, "%s%d", long, i), 0)
				}
			}
		},
	}
	for i := range new(Filter).lists() {
		things[fmt.Sprint("list ", i, " of a filter")] = func(n int) func() {
			w := newWorld(t)
			for i := range n / 4 {
				w.publish(Publication{URL: fmt.Sprint("http://x/", i), Options: Options{Labels: texts("l", 8), Flow: &FlowControl{Key: "k", Rate: 1}}})
			}
			f := Filter{}
			*f.lists()[i] = texts("other", n)
			return func() { w.s.CountMatching(&f, 0) }
		}
	}
	n := testcpu.Scale(8_000)
	a, b := texts("a", n), texts("b", n)
	unit := best(t, func() { Set(a); Set(b) })
	for name, do := range things {
		took, run := time.Duration(0), do(n)
		for range 10 { // a processor that others use is slow now and then
			if took = best(t, run); took <= 40*unit {
				break
			}
			unit = max(unit, best(t, func() { Set(a); Set(b) }))
		}
		if took > 40*unit {
			t.Errorf("%s: it takes %s, and two sets of %d texts %s", name, took, n, unit)
		}
	}
}

// TestChooserIsTheFilter: a filter that is prepared chooses what its lists say, whether they are walked or looked up.
func TestChooserIsTheFilter(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	word := func(n int) string { return fmt.Sprint("w", r.IntN(n)) }
	list := func() (l []string) {
		for range []int{0, 0, 0, 3, 20}[r.IntN(5)] {
			l = append(l, word(30))
		}
		return l
	}
	one := func(l []string, v string) bool { return len(l) == 0 || slices.Contains(l, v) }
	for i := range 5000 {
		f := Filter{URLs: list(), Groups: list(), Queues: list(), Schedules: list(), Labels: list(), FlowKeys: list(), CallerIPs: list(), Hosts: list()}
		c := Content{URL: word(30), Group: word(30), Schedule: word(30), CallerIP: word(30)}
		c.Queue, c.Labels = word(30), []string{word(30), word(30)}
		if r.IntN(3) > 0 {
			c.Flow = &FlowControl{Key: word(30)}
		}
		if r.IntN(2) == 0 {
			c.URL = "HTTP://" + strings.ToUpper(word(30)) + ":80/" + word(30)
		}
		host := func(h string) bool {
			name, _, _ := strings.Cut(c.Host(), ":")
			return strings.EqualFold(h, c.Host()) || strings.EqualFold(h, name)
		}
		want := one(f.URLs, c.URL) && one(f.Groups, c.Group) && one(f.Queues, c.Queue) && one(f.Schedules, c.Schedule) && one(f.CallerIPs, c.CallerIP) &&
			(len(f.FlowKeys) == 0 || c.Flow != nil && slices.Contains(f.FlowKeys, c.Flow.Key)) &&
			(len(f.Labels) == 0 || slices.ContainsFunc(c.Labels, func(l string) bool { return slices.Contains(f.Labels, l) })) &&
			(len(f.Hosts) == 0 || slices.ContainsFunc(f.Hosts, host))
		if got := f.chooser().match(ID{}, &c); got != want {
			t.Fatalf("%d: %+v of %+v: %v", i, f, c, got)
		}
	}
	for _, pair := range [][2]string{{"K", "\u212a"}, {"s", "ſ"}, {"STRASSE", "straße"}, {"É", "é"}, {"a", "b"}} {
		if got := Fold(pair[0]) == Fold(pair[1]); got != strings.EqualFold(pair[0], pair[1]) {
			t.Errorf("%q and %q: %v", pair[0], pair[1], got)
		}
	}
	if reflect.DeepEqual(WordsOf(nil, Fold), WordsOf([]string{"a"}, Fold)) {
		t.Error("no words are some")
	}
}
