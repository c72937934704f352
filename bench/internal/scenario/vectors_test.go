package scenario

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/peer"
	"github.com/trireme-dev/trireme/bench/internal/report"
)

// cosine is computed in 64 bits.
func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	return ab / math.Sqrt(aa*bb)
}

// TestFlatScanFindsTheNearest compares the scan with a sort of all vectors.
func TestFlatScanFindsTheNearest(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	all, queries := newFlat(random, 300), newFlat(random, 20)
	for i := range queries.scale {
		q := queries.row(i)
		want := make([]int, len(all.scale))
		for n := range want {
			want[n] = n
		}
		slices.SortFunc(want, func(a, b int) int { return cmp.Compare(cosine(q, all.row(b)), cosine(q, all.row(a))) })
		if got := all.nearest(q, 10); !slices.Equal(got, want[:10]) {
			t.Errorf("query %d: %v, want %v", i, got, want[:10])
		}
	}
	if got := newFlat(random, 3).nearest(queries.row(0), 10); len(got) != 3 {
		t.Errorf("of three vectors %d were found", len(got))
	}
}

// scanner answers VECTOR.QUERY over HTTP by the scan, but for the ids in wrong, in place of which it names another.
func scanner(t *testing.T, all *flat, wrong ...int) *peer.Node {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var row []any
		if err := json.NewDecoder(r.Body).Decode(&row); err != nil || len(row) != 6 || row[0] != "VECTOR.QUERY" {
			http.Error(w, fmt.Sprint("not a query: ", row, err), http.StatusBadRequest)
			return
		}
		blob, _ := base64.StdEncoding.DecodeString(row[5].(string)) // the test sees wrong neighbours
		q := make([]float32, len(blob)/4)
		for i := range q {
			q[i] = math.Float32frombits(binary.LittleEndian.Uint32(blob[4*i:]))
		}
		hits := [][]string{}
		for i, id := range all.nearest(q, int(row[3].(float64))) {
			if slices.Contains(wrong, i) {
				id = -1
			}
			hits = append(hits, []string{fmt.Sprint(id), "0.5"})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"result": hits})
	}))
	t.Cleanup(s.Close)
	return &peer.Node{URL: s.URL}
}

func queryBodies(queries *flat) (bodies []string) {
	for i := range queries.scale {
		bodies = append(bodies, peer.NearestBody(vectorTop, base64.StdEncoding.EncodeToString(queries.blob(i))))
	}
	return bodies
}

// TestRecallCountsWhatIsMissing: two of ten neighbours that are not found are a recall of 80 %.
func TestRecallCountsWhatIsMissing(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	all, queries := newFlat(random, 100), newFlat(random, 5)
	for _, c := range []struct {
		wrong   []int
		percent float64
		verdict report.Verdict
	}{{nil, 100, report.Aim}, {[]int{3, 9}, 80, report.Missed}} {
		row := &report.Row{Line: 99, AimAt: 100}
		recall(row, scanner(t, all, c.wrong...), queryBodies(queries), all, queries)
		if row.Median != c.percent || row.Verdict != c.verdict {
			t.Errorf("without the neighbours %v: %v %%, %s %s", c.wrong, row.Median, row.Verdict, row.Reason)
		}
	}
	row := &report.Row{Line: 99, AimAt: 100}
	if recall(row, scanner(t, all), []string{`["GET","k"]`}, all, queries); row.Verdict != report.Failed || !strings.Contains(row.Reason, "status 400") {
		t.Errorf("a refused query: %s %s", row.Verdict, row.Reason)
	}
}

// TestAskingCountsAnswers over several connections, and a wrong one fails the measurement.
func TestAskingCountsAnswers(t *testing.T) {
	b := &Bench{Pairs: 1, Duration: 50 * time.Millisecond, Warm: 10 * time.Millisecond, Log: t.Logf}
	random := rand.New(rand.NewPCG(3, 3))
	all, queries := newFlat(random, 10), newFlat(random, 2)
	good, bad := b.asking("good", scanner(t, all), queryBodies(queries)), b.asking("bad", scanner(t, all), []string{`["GET","k"]`})
	b.rounds(t.Context(), good, bad)
	if good.err != nil || len(good.results) != 1 || good.results[0].Commands <= 0 {
		t.Errorf("good: %+v %v", good.results, good.err)
	}
	if bad.err == nil || !strings.Contains(bad.err.Error(), "status 400") {
		t.Errorf("bad: %v", bad.err)
	}
}

// TestLoopingSharesTheCalls: every caller has its own, each number is called once, and what was opened is ended.
func TestLoopingSharesTheCalls(t *testing.T) {
	b := &Bench{Duration: 20 * time.Millisecond}
	var opened, ended atomic.Int64
	numbers := make(chan int, 1_000_000)
	s := b.looping("numbers", 3, func() (caller, func(), error) {
		opened.Add(1)
		return func(n int) error { numbers <- n; time.Sleep(time.Millisecond); return nil }, func() { ended.Add(1) }, nil
	})
	r, err := s.measure(t.Context())
	close(numbers)
	seen := map[int]bool{}
	for n := range numbers {
		if seen[n] {
			t.Errorf("%d was called twice", n)
		}
		seen[n] = true
	}
	if err != nil || opened.Load() != 3 || ended.Load() != 3 || len(seen) < 3 || !seen[0] || !seen[1] || !seen[2] || r.Commands <= 0 {
		t.Errorf("%d opened, %d ended, %d calls, %+v, %v", opened.Load(), ended.Load(), len(seen), r, err)
	}
	broken := errors.New("no connection")
	s = b.looping("broken", 2, func() (caller, func(), error) { return nil, nil, broken })
	if _, err := s.measure(t.Context()); !errors.Is(err, broken) {
		t.Errorf("a caller that can't begin: %v", err)
	}
}

// TestVectorAndSearchRowsWithoutANode: the fake node has no RESP port, so that it can't be filled, and there is no bleve.
func TestVectorAndSearchRowsWithoutANode(t *testing.T) {
	rows := measure(t, bench(t, ""), "19", "20")
	for _, id := range []string{"19rate", "19recall", "20index"} {
		if r := rows[id]; r == nil || r.Verdict != report.Failed || !strings.Contains(r.Reason, "refused") {
			t.Errorf("row %s: %+v", id, r)
		}
	}
	if r := rows["20query"]; r == nil || r.Verdict == report.Aim || r.Verdict == report.Holds || !strings.Contains(r.Reason, "bleve") {
		t.Errorf("row 20query: %+v", r)
	}
}

// TestDocumentsAreTheSame for every run, and searched words are among them.
func TestDocumentsAreTheSame(t *testing.T) {
	a, b := peer.Documents(40), peer.Documents(40)
	if !slices.Equal(a, b) || len(strings.Fields(a[0].Title)) != 8 || len(strings.Fields(a[39].Body)) != 40 {
		t.Errorf("%+v", a[0])
	}
	if spec := peer.Search(); !strings.Contains(a[0].Title+a[1].Title+a[2].Title, "w0000000") || spec.Keys < 1 {
		t.Errorf("%+v, %+v", a[0], spec)
	}
}
