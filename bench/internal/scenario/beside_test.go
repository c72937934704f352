package scenario

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/peer"
	"github.com/trireme-dev/trireme/bench/internal/report"
)

// redisBeside starts a real redis-server.
func redisBeside(t *testing.T, b *Bench) *peer.Redis {
	t.Helper()
	if !installed("redis-server") {
		t.Skip("redis-server is not installed")
	}
	r, err := b.Env.StartRedis(t.Context(), "redis-beside", false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Stop() })
	return r
}

// TestLargeCommandsRun runs each large command as it is measured, and looks at what it leaves.
func TestLargeCommandsRun(t *testing.T) {
	b := bench(t, "")
	c, err := redisBeside(t, b).Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const n = 2500
	if err := fillLarge(t.Context(), c, n); err != nil {
		t.Fatal(err)
	}
	for key, count := range map[string]string{"list": "LLEN", "hash": "HLEN", "set": "SCARD", "other": "SCARD", "zset": "ZCARD"} {
		if got, err := c.Number(count, key); err != nil || got != n {
			t.Errorf("%s of %s: %d, %v", count, key, got, err)
		}
	}
	for _, l := range largeCommands() {
		if l.ours {
			continue
		}
		if l.before != nil {
			if err := l.before(t.Context(), c, n); err != nil {
				t.Fatalf("before %s: %v", l.name, err)
			}
		}
		if err := l.run(t.Context(), c, n); err != nil {
			t.Fatalf("%s: %v", l.name, err)
		}
		switch l.name {
		case "SINTERSTORE":
			if got, err := c.Number("SCARD", "target"); err != nil || got != n/2 {
				t.Errorf("the sets share %d members, %v", got, err)
			}
		case "EVAL":
			if got, err := c.Number("GET", "sum"); err != nil || got < 1 {
				t.Errorf("the script has left %d, %v", got, err)
			}
		case "keys that expire at once", "PEXPIREAT of all keys":
			if got, err := c.Number("DBSIZE"); err != nil || got > probeKeys {
				t.Errorf("%d keys are left, %v", got, err)
			}
		}
	}
	if got, err := c.Number("DBSIZE"); err != nil || got != 0 {
		t.Errorf("%d keys are left at the end, %v", got, err)
	}
}

// TestBesideCountsWhatOverlaps: GET and SET are counted while the command runs, and not before it.
func TestBesideCountsWhatOverlaps(t *testing.T) {
	b := bench(t, "")
	b.Duration = 0 // once
	r := redisBeside(t, b)
	waited := largeCommand{name: "waiting", before: untilProbed, run: func(ctx context.Context, c *peer.Client, _ int) error {
		if err := c.Run("FLUSHALL"); err != nil {
			return err
		}
		return untilProbed(ctx, c, 0)
	}}
	p, err := b.beside(t.Context(), r, waited)
	if err != nil {
		t.Fatal(err)
	}
	if sets := p.took[1].N(); sets < probeKeys || p.once <= 0 {
		t.Errorf("%d SETs in %v, want those of all keys", sets, p.once)
	}
	none := largeCommand{name: "nothing", before: untilProbed, run: func(context.Context, *peer.Client, int) error { return context.DeadlineExceeded }}
	if _, err := b.beside(t.Context(), r, none); err == nil {
		t.Error("a command that fails is measured")
	}
}

// untilProbed waits until the probes have written all their keys.
func untilProbed(ctx context.Context, c *peer.Client, _ int) error {
	for {
		if n, err := c.Number("DBSIZE"); err != nil || n == probeKeys {
			return err
		}
		if sleep(ctx, time.Millisecond); ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// TestBesideFailsWithoutOurs: the fake node has no RESP listener, and the rows say so.
func TestBesideFailsWithoutOurs(t *testing.T) {
	b := bench(t, "")
	rows := 0
	b.Beside(t.Context(), func(list []*report.Row) {
		for _, r := range list {
			if rows++; r.Verdict == report.Holds || r.Verdict == report.Aim {
				t.Errorf("%s: %s", r.Work, r.Verdict)
			}
		}
	})
	want := 0
	for _, l := range largeCommands() {
		if want++; !l.ours {
			want += 2
		}
	}
	if rows != want {
		t.Errorf("%d rows, want %d", rows, want)
	}
}

// TestDocument: the document of the JSON commands has as many numbers as asked for.
func TestDocument(t *testing.T) {
	var got struct{ Numbers []int }
	if err := json.Unmarshal([]byte(document(1234)), &got); err != nil || len(got.Numbers) != 1234 {
		t.Errorf("%d numbers, %v", len(got.Numbers), err)
	}
}
