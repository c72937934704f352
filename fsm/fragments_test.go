package fsm_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// inFragments is an entry in the form of a fragment and the entry behind it, both of a leader's term.
func inFragments(e *fsm.Entry, term uint64) (first, rest []byte) {
	all := encoded(e)
	p := fsm.Fragment{Term: term, Total: len(all), Bytes: all[:len(all)/2]}
	return p.Encode(), e.EncodeRest(len(p.Bytes), all[len(p.Bytes):])
}

func encoded(e *fsm.Entry) []byte {
	var w wire.Writer
	fsm.EncodeRequests(&w, e.Requests)
	return w.B
}

// split is an entry in n fragments and what is behind them.
func split(e *fsm.Entry, n int) (all [][]byte) {
	b, at := encoded(e), 0
	total, each := len(b), len(b)/(n+1)
	for range n {
		p := fsm.Fragment{Term: e.Term, At: at, Total: total, Bytes: b[at : at+each]}
		all, at = append(all, p.Encode()), at+each
	}
	return append(all, e.EncodeRest(at, b[at:]))
}

// TestFragmentsAreTheEntry applies the entries of a random log whole on one machine and in fragments on another, which is replaced by
// one that reads its snapshot after every fragment: outcomes and states are equal. An entry of others between the fragments changes nothing for them.
func TestFragmentsAreTheEntry(t *testing.T) {
	whole, cut := fsm.NewMachine(), fsm.NewMachine()
	l := newLog(3)
	n := uint64(0) // entries of the cut log
	both := func(data []byte) []fsm.Outcome {
		n++
		if _, err := cut.Apply(n, l.term, data); err != nil {
			t.Fatal(err)
		}
		o, err := whole.Apply(n, l.term, data)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	l.open(both)
	for round := range 30 {
		e, err := fsm.DecodeEntry(l.entry(l.request(l.batch()), l.request(l.batch()), l.request(l.batch())))
		if err != nil {
			t.Fatal(err)
		}
		other := l.entry(l.request(l.batch()))
		var got []fsm.Outcome
		pieces := split(e, 1+round%4)
		for i, data := range pieces {
			if i == 1 {
				both(other)
			}
			n++
			if got, err = cut.Apply(n, l.term, data); err != nil {
				t.Fatal(err)
			}
			if i < len(pieces)-1 {
				if got != nil {
					t.Fatalf("round %d: a fragment has outcomes: %+v", round, got)
				}
				whole.Skip(n, l.term)
			}
			var b bytes.Buffer
			if err := cut.Fork().Write(&b); err != nil {
				t.Fatal(err)
			}
			again := fsm.NewMachine()
			if err := again.Restore(&b); err != nil {
				t.Fatal(err)
			}
			if again.Fork().Digest() != cut.Fork().Digest() {
				t.Fatalf("round %d: another state after a snapshot behind fragment %d", round, i)
			}
			cut = again
		}
		want, err := whole.Apply(n, l.term, e.Encode())
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("round %d: got %+v, want %+v", round, got, want)
		}
		if got, want := cut.Fork().Digest(), whole.Fork().Digest(); got != want {
			t.Fatalf("round %d: digest %s in fragments, %s whole", round, got, want)
		}
	}
}

// TestFragmentsOfOthers leaves out a fragment, repeats one, and has another leader come in between: nothing of the entry is applied, and the
// next one is.
func TestFragmentsOfOthers(t *testing.T) {
	m := fsm.NewMachine()
	l := newLog(5)
	n := uint64(0)
	apply := func(term uint64, data []byte) []fsm.Outcome {
		t.Helper()
		n++
		o, err := m.Apply(n, term, data)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	l.open(func(data []byte) []fsm.Outcome { return apply(l.term, data) })
	entry := func() *fsm.Entry {
		e, err := fsm.DecodeEntry(l.entry(l.request(l.batch())))
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	for name, order := range map[string][]int{"left out": {0, 2, 3}, "repeated": {0, 1, 1, 2, 3}, "late": {1, 2, 3}, "alone": {3}} {
		pieces := split(entry(), 3)
		for _, i := range order {
			if o := apply(l.term, pieces[i]); len(o) != 0 {
				t.Errorf("%s: %+v", name, o)
			}
		}
	}
	pieces := split(entry(), 2)
	apply(l.term, pieces[0])
	apply(l.term, pieces[1])
	other := entry()
	other.Term = l.term + 1
	if o := apply(l.term+1, other.Encode()); len(o) != 1 {
		t.Errorf("the next leader's entry: %+v", o)
	}
	if o := apply(l.term+1, pieces[2]); len(o) != 0 {
		t.Errorf("the rest in another term: %+v", o)
	}
	if o := apply(l.term, pieces[2]); len(o) != 0 {
		t.Errorf("the rest behind another term: %+v", o)
	}
	for _, data := range split(entry(), 2) {
		if o := apply(l.term, data); !fsm.IsFragment(data) && (len(o) != 1 || o[0].Status != fsm.Applied) {
			t.Errorf("the next entry: %+v", o)
		}
	}
}
