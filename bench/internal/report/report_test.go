package report

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestJudgeByTheMedianRatio(t *testing.T) {
	for _, c := range []struct {
		name   string
		ratios []float64
		atMost bool
		want   Verdict
	}{
		{"below", []float64{1, 2.9, 9}, false, Missed},
		{"line", []float64{1, 3, 9}, false, Holds},
		{"aim", []float64{8, 8, 8}, false, Aim},
		{"most missed", []float64{4, 3.1, 1}, true, Missed},
	} {
		r := Row{Ratio: true, Line: 3, AimAt: 8, AtMost: c.atMost}
		if c.atMost {
			r.AimAt = .5
		}
		for _, v := range c.ratios {
			r.Add(v*100, 100)
		}
		if r.Judge(); r.Verdict != c.want {
			t.Errorf("%s: %s at median %v", c.name, r.Verdict, r.Median)
		}
	}
}

func TestAimForOurOwnFigure(t *testing.T) {
	r := Row{Ratio: true, AtMost: true, Line: .25, AimAt: 1, AimOurs: true}
	r.Add(.9, 15)
	if r.Judge(); r.Verdict != Aim {
		t.Fatalf("0.9 ms for at most 1: %s", r.Verdict)
	}
	r = Row{Ratio: true, AtMost: true, Line: .25, AimAt: 1, AimOurs: true}
	r.Add(2, 15)
	if r.Judge(); r.Verdict != Holds {
		t.Fatalf("2 ms for at most 1: %s", r.Verdict)
	}
}

// A peer that measured nothing must not turn into a won row.
func TestJudgeRefusesWhatIsNoNumber(t *testing.T) {
	r := Row{Ratio: true, Line: 1}
	r.Add(0, 0)
	if r.Judge(); r.Verdict != Failed {
		t.Fatalf("0/0: %s", r.Verdict)
	}
	r = Row{Ratio: true, Line: 1}
	r.Add(5, 0)
	if r.Judge(); r.Verdict != Failed {
		t.Fatalf("5/0: %s", r.Verdict)
	}
	r = Row{Line: 1}
	if r.Judge(); r.Verdict != Failed {
		t.Fatalf("no pairs: %s", r.Verdict)
	}
}

func TestQuantile(t *testing.T) {
	if q := Quantile([]float64{4, 1, 3, 2}, .5); q != 2.5 {
		t.Fatalf("median %v", q)
	}
	rapid.Check(t, func(t *rapid.T) {
		vs := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 50).Draw(t, "vs")
		q1, q2, q3 := Quantile(vs, .25), Quantile(vs, .5), Quantile(vs, .75)
		if q1 > q2 || q2 > q3 || q1 < slices.Min(vs) || q3 > slices.Max(vs) || math.IsNaN(q2) {
			t.Fatalf("%v %v %v", q1, q2, q3)
		}
	})
}

func TestExitCodes(t *testing.T) {
	r := Report{}
	for _, c := range []struct {
		v    Verdict
		exit int
	}{{Aim, ExitHolds}, {Holds, ExitHolds}, {NoPeer, ExitNoPeer}, {Missed, ExitMissed}} {
		r.Rows = append(r.Rows, &Row{Verdict: c.v})
		if got := r.Exit(); got != c.exit {
			t.Errorf("with %s: exit %d, want %d", c.v, got, c.exit)
		}
	}
}

func TestSavedReportsAreMergedByRowAndPart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "results.json")
	r := &Report{}
	r.Put(&Row{ID: "16", Verdict: Holds})
	r.Put(&Row{ID: "4", Part: "etcd", Verdict: Holds})
	r.Put(&Row{ID: "4", Part: "webdis", Verdict: Holds})
	if err := r.Save(path); err != nil {
		t.Fatal(err)
	}
	again, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	again.Put(&Row{ID: "4", Part: "etcd", Verdict: Missed})
	var got []string
	for _, row := range again.Rows {
		got = append(got, row.ID+row.Part+string(row.Verdict))
	}
	if want := "4etcdMISSED 4webdisholds 16holds"; strings.Join(got, " ") != want {
		t.Fatalf("%v, want %s", got, want)
	}
}

func TestDoneNeedsAFigureForEveryPart(t *testing.T) {
	r := Report{Rows: []*Row{{ID: "1", Verdict: Missed}, {ID: "4", Part: "etcd", Verdict: NoPeer}, {ID: "4", Part: "webdis", Verdict: Holds}}}
	if !r.Done("1") || r.Done("4") || r.Done("9") {
		t.Fatal(r.Done("1"), r.Done("4"), r.Done("9"))
	}
}

func TestTablesShowEveryRowAndItsReason(t *testing.T) {
	r := &Report{}
	row := &Row{ID: "1", Work: "SET", Against: "etcd", Unit: "req/s", Ratio: true, Line: 3, AimAt: 8}
	row.Add(25600, 6642)
	row.Judge()
	row.Note("p99 5 ms")
	missing := &Row{ID: "2", Work: "SET", Against: "webdis", Unit: "req/s", Ratio: true, Line: .45, AimAt: 1}
	missing.Fail(NoPeer, errors.New("peer missing: webdis"))
	r.Put(row)
	r.Put(missing)
	var text, md strings.Builder
	if err := errors.Join(r.Text(&text), r.Markdown(&md)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"25.6k req/s", "6642 req/s", "3.85 x", ">= 3 x", "8 x", "holds", "p99 5 ms", "peer missing: webdis"} {
		if !strings.Contains(text.String(), want) || !strings.Contains(md.String(), want) {
			t.Errorf("%q is not in both tables:\n%s\n%s", want, text.String(), md.String())
		}
	}
}
