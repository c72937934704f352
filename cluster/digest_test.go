package cluster_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
)

// digestLog keeps the indexes of the digests that a node logs.
type digestLog struct {
	mu      sync.Mutex
	indexes []uint64
}

func (l *digestLog) Enabled(context.Context, slog.Level) bool { return true }
func (l *digestLog) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *digestLog) WithGroup(string) slog.Handler            { return l }

func (l *digestLog) Handle(_ context.Context, r slog.Record) error {
	if r.Message != "digest" {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "index" {
			l.indexes = append(l.indexes, a.Value.Uint64())
		}
		return true
	})
	return nil
}

func (l *digestLog) taken() []uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]uint64(nil), l.indexes...)
}

// TestNoDigestOfTheReplay starts a node again with digests in the log that it applies: it takes none of those, and the next one.
func TestNoDigestOfTheReplay(t *testing.T) {
	log := &digestLog{}
	c := clustertest.Start(t, 1, func(o *cluster.Options) { o.DigestEvery, o.Log = 40, slog.New(log) })
	writeUntil := func(count int) {
		n := 0
		eventually(t, fmt.Sprint(count, " digests"), func() bool {
			n++
			if _, err := c.Write(0, "SET", fmt.Sprint("k", n), "v"); err != nil {
				t.Fatal(err)
			}
			return len(log.taken()) >= count
		})
	}
	writeUntil(3)
	before, _ := c.Nodes[0].Machine().Applied()
	c.Stop(0)
	old := len(log.taken())
	c.StartAll()
	if after, _ := c.Nodes[0].Machine().Applied(); after < before {
		t.Fatalf("entry %d is applied, %d was", after, before)
	}
	writeUntil(old + 1)
	for _, index := range log.taken()[old:] {
		if index <= before {
			t.Errorf("a digest of entry %d, which the start has applied again", index)
		}
	}
}
