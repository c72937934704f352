package scenario

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/fake"
	"github.com/trireme-dev/trireme/bench/internal/load"
	"github.com/trireme-dev/trireme/bench/internal/peer"
	"github.com/trireme-dev/trireme/bench/internal/proc"
	"github.com/trireme-dev/trireme/bench/internal/report"
)

// TestMain lets the test binary play the product, and the bench program for
// the loops that a scenario starts as children.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Getenv(fake.StoreEnv) != "" {
		switch os.Args[1] {
		case "serve", "dev":
			fmt.Fprintln(os.Stderr, fake.Node(os.Args[1:]))
			os.Exit(1)
		case "busy":
			d, _ := time.ParseDuration(os.Args[3])
			time.Sleep(d)
			os.Exit(0)
		case "idle":
			fmt.Println(`{"p50_us":60,"p999_us":900,"max_us":1200}`)
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// bench returns tiny settings whose product is the fake.
func bench(t *testing.T, fault string) *Bench {
	t.Helper()
	store := httptest.NewServer(&fake.Store{})
	t.Cleanup(store.Close)
	t.Setenv(fake.StoreEnv, store.URL)
	t.Setenv(fake.FaultEnv, fault)
	ports, err := proc.NewPorts()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return &Bench{
		Env:   &peer.Env{Trireme: os.Args[0], Etcd: "no-such-etcd", Bleve: "no-such-bleve", Data: dir + "/data", Logs: dir + "/logs", Heartbeat: time.Second, Ports: ports},
		Pairs: 2, Duration: 100 * time.Millisecond, Warm: 20 * time.Millisecond, Keys: 500, BigKeys: 2000, Vectors: 200, Documents: 50, Kills: 2, KillClients: 4,
		Quiet: 400 * time.Millisecond, BusyLoops: 2, Self: os.Args[0], Servers: map[string]string{}, Log: t.Logf,
	}
}

// measure runs rows and returns them by number and part.
func measure(t *testing.T, b *Bench, want ...string) map[string]*report.Row {
	t.Helper()
	got := map[string]*report.Row{}
	if err := b.Run(t.Context(), want, func(rows []*report.Row) {
		for _, r := range rows {
			got[r.ID+r.Part] = r
		}
	}); err != nil {
		t.Fatal(err)
	}
	return got
}

// installed skips rows whose peers this machine lacks; there the verdict
// itself is tested.
func installed(programs ...string) bool {
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			return false
		}
	}
	return true
}

func TestHTTPRowsHaveTheirPairs(t *testing.T) {
	b := bench(t, "")
	rows := measure(t, b, "1", "2", "3", "4")
	if len(rows) != 5 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, id := range []string{"1", "3", "4etcd"} {
		if r := rows[id]; r.Verdict != report.NoPeer || !strings.Contains(r.Reason, "no-such-etcd") {
			t.Errorf("row %s without etcd: %s %s", id, r.Verdict, r.Reason)
		}
	}
	for _, id := range []string{"2", "4webdis"} {
		r := rows[id]
		if !installed("redis-server", "webdis") {
			if r.Verdict != report.NoPeer {
				t.Errorf("row %s without webdis: %s", id, r.Verdict)
			}
			continue
		}
		if len(r.Pairs) != 2 || r.Pairs[0].Ours <= 0 || r.Pairs[0].Peer <= 0 {
			t.Errorf("row %s: %+v %s", id, r.Pairs, r.Reason)
		}
	}
	if b.Servers["trireme"] != "fake" {
		t.Errorf("version of ours: %q", b.Servers["trireme"])
	}
}

func TestPipelineRow(t *testing.T) {
	r := measure(t, bench(t, ""), "6")["6"]
	if !installed("redis-server", "redis-benchmark") {
		if r.Verdict != report.NoPeer {
			t.Fatalf("without redis: %s", r.Verdict)
		}
		return
	}
	if len(r.Pairs) != 2 || r.Pairs[0].Peer < 1000 {
		t.Fatalf("%+v %s", r.Pairs, r.Reason)
	}
}

func TestFailoverKillsEachLeaderAndRestartsIt(t *testing.T) {
	r := measure(t, bench(t, ""), "8")["8"]
	if len(r.Pairs) != 2 || r.Pairs[0].Ours <= 0 || r.Verdict == report.Failed || r.Verdict == report.Pending {
		t.Fatalf("%s %s %+v", r.Verdict, r.Reason, r.Pairs)
	}
}

func TestFollowerRows(t *testing.T) {
	rows := measure(t, bench(t, ""), "16", "17")
	for id, r := range rows {
		if len(r.Pairs) != 2 || r.Median <= 0 {
			t.Errorf("row %s: %s %s", id, r.Verdict, r.Reason)
		}
	}
}

// A stale read must fail row 17, however quick it was.
func TestStaleReadFailsTheRow(t *testing.T) {
	r := measure(t, bench(t, "stale"), "17")["17"]
	if r.Verdict != report.Failed || !strings.Contains(r.Reason, "right after the write") {
		t.Fatalf("%s %s", r.Verdict, r.Reason)
	}
}

func TestSteadyCountsElections(t *testing.T) {
	if r := measure(t, bench(t, ""), "18")["18"]; r.Verdict != report.Aim {
		t.Errorf("quiet cluster: %s %s %q", r.Verdict, r.Reason, r.Notes)
	}
	if r := bench(t, "elections").Steady(t.Context()); r.Verdict != report.Missed || r.Median < 1 {
		t.Errorf("restless cluster: %s, %v changes", r.Verdict, r.Median)
	}
}

func TestForkRowReadsTheWorstBucket(t *testing.T) {
	r := measure(t, bench(t, ""), "9")["9"]
	if !installed("redis-server") {
		if r.Verdict != report.NoPeer {
			t.Fatalf("without redis: %s", r.Verdict)
		}
		return
	}
	if len(r.Pairs) != 2 || r.OursMid != 2 || r.PeerMid <= 0 {
		t.Fatalf("%s %s %+v", r.Verdict, r.Reason, r.Pairs)
	}
}

func TestMemoryRowsSetHeapAndRestartBesideRedis(t *testing.T) {
	b := bench(t, "")
	rows := measure(t, b, "10", "10b", "11")
	heap, resident, back := rows["10"], rows["10b"], rows["11"]
	if !installed("redis-server") {
		if heap.Verdict != report.NoPeer || back.Verdict != report.NoPeer {
			t.Fatalf("without redis: %s %s", heap.Verdict, back.Verdict)
		}
		return
	}
	if len(heap.Pairs) != 2 || heap.OursMid != fake.HeapStep/float64(b.BigKeys) || heap.PeerMid < peer.ValueSize {
		t.Errorf("%s %s %+v", heap.Verdict, heap.Reason, heap.Pairs)
	}
	if len(back.Pairs) != 2 || back.OursMid <= 0 || back.PeerMid <= 0 {
		t.Errorf("%s %s %+v", back.Verdict, back.Reason, back.Pairs)
	}
	if len(resident.Pairs) != 2 || resident.OursMid < 1 || resident.PeerMid < 1 {
		t.Errorf("%s %s %+v", resident.Verdict, resident.Reason, resident.Pairs)
	}
	if b.Env.Pprof {
		t.Error("the profiler stays on for rows that follow")
	}
}

func TestGrowthDrawsEveryAxis(t *testing.T) {
	b := bench(t, "")
	b.Pairs, b.Duration = 1, 20*time.Millisecond
	study, saved := &report.Study{}, 0
	grow := func() {
		if err := b.Growth(t.Context(), 10_000, study, func() error { saved++; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	grow()
	points := map[string]int{}
	for name, c := range GrowthCharts(study) {
		points[name] = len(c.Lines[0].Points) + len(c.Lines[1].Points)
	}
	// Of the keys' axis only the first size is left, of the connections' none, of the values' those up to 4 KiB.
	if points["keys"] != 2 || points["connections"] != 0 || points["values"] != 6 || saved != 4 {
		t.Error(points, saved)
	}
	study.Costs = study.Costs[1:] // as if one was not reached
	grow()
	if len(study.Costs) != 4 || saved != 5 {
		t.Errorf("resumed: %d costs, saved %d times", len(study.Costs), saved)
	}
	study.Costs, study.Version = study.Costs[:3], "another" // the point measured last is missing
	if err := b.Growth(t.Context(), 10_000, study, func() error { return nil }); err == nil || !strings.Contains(err.Error(), "start over") {
		t.Errorf("points of two versions in one study: %v", err)
	}
}

func TestStallReportsTheIdleLoopBeside(t *testing.T) {
	r := bench(t, "").Stall(t.Context())
	if r.Verdict == report.Failed || r.Median <= 0 {
		t.Fatalf("%s %s", r.Verdict, r.Reason)
	}
	if !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "idle loop beside the load: overslept p50 0.060") }) {
		t.Fatalf("notes: %q", r.Notes)
	}
}

func TestOursNotBuiltIsAFailureNotAMissingPeer(t *testing.T) {
	b := bench(t, "")
	b.Env.Trireme = "no-such-product"
	for id, r := range measure(t, b, "8", "16") {
		if r.Verdict != report.Failed || !strings.Contains(r.Reason, "not built") {
			t.Errorf("row %s: %s %s", id, r.Verdict, r.Reason)
		}
	}
}

// The order of subjects turns, so that each follows each.
func TestRoundsTurnTheOrder(t *testing.T) {
	var order string
	subjects := make([]*subject, 3)
	for i, name := range []string{"a", "b", "c"} {
		subjects[i] = &subject{name: name, measure: func(context.Context) (r load.Result, err error) {
			order += name
			return
		}}
	}
	b := &Bench{Pairs: 3, Log: t.Logf}
	b.rounds(t.Context(), subjects...)
	if order != "abcbcacab" {
		t.Fatalf("order %s", order)
	}
}

func TestNumbersAreThePlansRows(t *testing.T) {
	if got := strings.Join(Numbers(), ","); got != "1,2,3,4,5,6,7,8,9,10,10b,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25" {
		t.Fatal(got)
	}
}

func TestVerdictOf(t *testing.T) {
	missing := fmt.Errorf("%w: webdis", peer.ErrMissing)
	if verdictOf(nil, missing) != report.NoPeer || verdictOf(errors.New("x"), missing) != report.Failed || verdictOf(nil, errors.New("x")) != report.Failed {
		t.Fatal("verdicts mixed up")
	}
}

// What is fetched is counted as it comes over the wire, and handed on unpacked.
func TestFetchedBytesAreCountedPacked(t *testing.T) {
	text := strings.Repeat("a log of steps that are much alike ", 1000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/plain" {
			io.WriteString(w, text)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		io.WriteString(z, text)
		z.Close()
	}))
	defer server.Close()
	c := &counting{RoundTripper: &http.Transport{DisableCompression: true}}
	for path, most := range map[string]int64{"/packed": 2000, "/plain": int64(len(text))} {
		c.fetched.Store(0)
		answer, err := (&http.Client{Transport: c}).Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(answer.Body)
		if answer.Body.Close(); err != nil || string(got) != text {
			t.Errorf("%s: %d bytes, %v", path, len(got), err)
		}
		if n := c.fetched.Load(); n == 0 || n > most {
			t.Errorf("%s: %d bytes were counted", path, n)
		}
	}
}

// TestEvictionPassesTheLimitOn: the limit is a flag of our node, and of no node after it. The fake one has no RESP port.
func TestEvictionPassesTheLimitOn(t *testing.T) {
	b := bench(t, "")
	b.Env.Args = []string{"--given", "yes"}
	r := b.Eviction(t.Context(), "allkeys-lru", Cache{Memory: 4 << 20, Value: 1000})
	if r.Verdict != report.Failed || !strings.Contains(r.Reason, "refused") {
		t.Errorf("%s %s", r.Verdict, r.Reason)
	}
	if got := strings.Join(b.Env.Args, " "); got != "--given yes" {
		t.Errorf("flags of later nodes: %s", got)
	}
}
