package cluster_test

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/internal/certs"
)

// listening is a log that says when it has had a line with a text.
type listening struct {
	text  string
	heard chan struct{}
	once  *atomic.Bool
}

func listenFor(text string) listening {
	return listening{text, make(chan struct{}), new(atomic.Bool)}
}

func (l listening) Enabled(context.Context, slog.Level) bool { return true }
func (l listening) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l listening) WithGroup(string) slog.Handler            { return l }

func (l listening) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if strings.Contains(a.Value.String(), l.text) && l.once.CompareAndSwap(false, true) {
			close(l.heard)
		}
		return true
	})
	return nil
}

func (l listening) await(t *testing.T, who string) {
	t.Helper()
	select {
	case <-l.heard:
	case <-time.After(time.Minute):
		t.Errorf("%s has not said %q", who, l.text)
	}
}

// TestNodeWithoutTheSecret: a node that is started without the secret of the others, as with --cluster-insecure, is kept
// out. Both sides say why and what to set; the others go on, and with the secret it is one of them again.
func TestNodeWithoutTheSecret(t *testing.T) {
	const odd = 2
	secured := listenFor("connections to this node need TLS: start the other node with the same --cluster-secret-file")
	plain := listenFor("received a TLS connection, but this node was started without --cluster-secret-file")
	withSecret := clustertest.WithSecret(certs.NewSecret())
	var insecure atomic.Bool
	c := clustertest.Start(t, 3, func(o *cluster.Options) {
		if o.NodeID == "n3" && insecure.Load() {
			o.Log = slog.New(plain)
			return
		}
		o.Log = slog.New(secured)
		withSecret(o)
	})
	if _, err := c.Write(0, "SET", "k", "before"); err != nil {
		t.Fatal(err)
	}
	c.Stop(odd)
	insecure.Store(true)
	if err := c.Open(odd); err != nil {
		t.Fatal(err)
	}
	secured.await(t, "a node with the secret")
	plain.await(t, "the node without")
	if _, err := c.Write(0, "SET", "k", "after"); err != nil {
		t.Fatalf("the others: %v", err)
	}
	c.Stop(odd)
	insecure.Store(false)
	c.StartAll()
	if v, err := c.Read(odd, "GET", "k"); err != nil || v.Text() != "after" {
		t.Errorf("with the secret it reads %q, %v", v.Text(), err)
	}
}
