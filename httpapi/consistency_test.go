package httpapi_test

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"
)

const session = "Svc-Consistency: session"

// The sync token must differ after each write, also among those that run together, and
// stand still between reads.
func TestSyncTokenMovesWithWrites(t *testing.T) {
	g := newGateway(t)
	seen := map[string]string{}
	note := func(a answer, what string) {
		t.Helper()
		token := a.header.Get("Upstash-Sync-Token")
		if token == "" || token != a.header.Get("Svc-Sync-Token") {
			t.Fatalf("%s: tokens %v", what, a.header)
		}
		if other, twice := seen[token]; twice {
			t.Errorf("%s has the token of %s: %s", what, other, token)
		}
		seen[token] = what
	}
	for i := range 3 {
		note(g.ask(t, "GET", "/set/k/v", ""), fmt.Sprint("write ", i))
	}
	note(g.ask(t, "POST", "/pipeline", `[["SET","a","1"],["SET","b","2"]]`), "pipeline")
	note(g.ask(t, "POST", "/multi-exec", `[["SET","a","1"],["SET","b","2"]]`), "transaction")
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			a := g.ask(t, "GET", "/set/k/v", "")
			mu.Lock()
			defer mu.Unlock()
			note(a, fmt.Sprint("concurrent write ", i))
		})
	}
	wg.Wait()
	first := g.ask(t, "GET", "/get/k", "")
	note(first, "read")
	if again := g.ask(t, "GET", "/get/k", ""); again.header.Get("Svc-Sync-Token") != first.header.Get("Svc-Sync-Token") {
		t.Error("the token moved without a write")
	}
}

// A session read names the index of the token it was given as the least it accepts.
func TestSessionReadsWaitForTheirToken(t *testing.T) {
	g := newGateway(t)
	first := g.ask(t, "GET", "/set/k/v", "").header.Get("Svc-Sync-Token")
	if a := g.ask(t, "GET", "/get/k", "", session, "Svc-Sync-Token: "+first); a.status != 200 || a.body != `{"result":"v"}` {
		t.Errorf("%+v", a)
	}
	if a := g.ask(t, "GET", "/get/k", "", session, "Upstash-Sync-Token: "+first); a.status != 200 {
		t.Errorf("%+v", a)
	}
	later := newGateway(t) // a node of the same cluster that is ahead
	for range 5 {
		first = later.ask(t, "GET", "/set/k/v", "").header.Get("Svc-Sync-Token")
	}
	if a := g.ask(t, "GET", "/get/k", "", session, "Svc-Sync-Token: "+first); a.status != 503 || a.header.Get("Svc-Outcome") != "not-applied" {
		t.Errorf("ahead of this node: %+v", a)
	}
	for _, mode := range []string{"Svc-Consistency:", "Svc-Consistency: linearizable", "Svc-Consistency: stale"} {
		if a := g.ask(t, "GET", "/get/k", "", mode, "Svc-Sync-Token: "+first); a.status != 200 {
			t.Errorf("%s: %+v", mode, a)
		}
	}
	for _, other := range []string{"", "x", "1.2.3", "zz.zz", "..", "deadbeef.99999", "-1.5", "1y.zzzzzzzzzzzzzzzzzzzz", "9223372036854775807"} {
		if a := g.ask(t, "GET", "/get/k", "", session, "Svc-Sync-Token: "+other); a.status != 200 {
			t.Errorf("token %q: %+v", other, a)
		}
	}
}

// A stale read says how old it may be.
func TestStaleReadsTellTheirAge(t *testing.T) {
	g := newGateway(t)
	written := time.Now().UnixMilli()
	g.engine.SetClock(func() int64 { return written })
	g.ask(t, "GET", "/set/k/v/PX/50", "")
	g.engine.SetClock(func() int64 { return written + 100 })
	if a := g.ask(t, "GET", "/get/k", ""); a.body != `{"result":null}` || a.header.Get("Svc-Applied-Index") != "" {
		t.Errorf("linearizable: %+v", a)
	}
	a := g.ask(t, "GET", "/get/k", "", "Svc-Consistency: stale")
	if a.status != 200 || a.body != `{"result":"v"}` {
		t.Errorf("stale: %+v", a)
	}
	index, _ := g.engine.Machine.Applied()
	for _, prefix := range []string{"Svc-", "Upstash-"} {
		for name, want := range map[string]string{"Applied-Index": fmt.Sprint(index), "Cluster-Time": strconv.FormatInt(written, 10), "Age-Ms": "0"} {
			if got := a.header.Get(prefix + name); got != want {
				t.Errorf("%s%s is %q, want %s", prefix, name, got, want)
			}
		}
	}
}

// A batch is one call of the engine; one that only reads is no proposal.
func TestABatchIsOneCall(t *testing.T) {
	g := newGateway(t)
	for _, c := range []struct {
		target, body     string
		proposals, reads int64
	}{
		{"/", `["GET","k"]`, 0, 1},
		{"/", `["SET","k","v"]`, 1, 0},
		{"/", `["GETEX","k"]`, 0, 1},
		{"/", `["GETEX","k","PERSIST"]`, 1, 0},
		{"/", `["NOSUCH"]`, 0, 0},
		{"/pipeline", `[["GET","k"],["MGET","k","l"],["PING"],["NOSUCH"]]`, 0, 1},
		{"/pipeline", `[["GET","k"],["SET","k","v"],["GET","k"]]`, 1, 0},
		{"/multi-exec", `[["GET","k"],["GET","k"]]`, 0, 1},
		{"/multi-exec", `[["SET","k","v"],["GET","k"]]`, 1, 0},
	} {
		p, r := g.engine.Calls()
		g.ask(t, "POST", c.target, c.body)
		p2, r2 := g.engine.Calls()
		if p2-p != c.proposals || r2-r != c.reads {
			t.Errorf("%s %s: %d proposals and %d reads", c.target, c.body, p2-p, r2-r)
		}
	}
}

// A transaction of reads sees one state, whatever is written meanwhile.
func TestReadsOfATransactionSeeOneState(t *testing.T) {
	g := newGateway(t)
	g.ask(t, "POST", "/", `["MSET","a","0","b","0"]`)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 1; ; i++ {
			select {
			case <-stop:
				return
			default:
				g.ask(t, "POST", "/multi-exec", fmt.Sprintf(`[["SET","a","%d"],["SET","b","%d"]]`, i, i))
			}
		}
	})
	for range 200 {
		a := g.ask(t, "POST", "/multi-exec", `[["GET","a"],["GET","b"]]`)
		var x, y int
		if n, err := fmt.Sscanf(a.body, `[{"result":"%d"},{"result":"%d"}]`, &x, &y); n != 2 || x != y {
			t.Errorf("%s: %v", a.body, err)
		}
	}
	close(stop)
	wg.Wait()
}
