package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
)

// TestRequestsWaitForTheNode: what comes while the node is being opened is answered once it is, not refused.
func TestRequestsWaitForTheNode(t *testing.T) {
	c := clustertest.Start(t, 1, nil)
	e := newEngine(false)
	e.timeout = time.Minute
	failed := make(chan error, 2)
	go func() {
		body := fsm.Exec.Body(fsm.Batch{As: acl.Trusted(acl.DefaultName), Rows: [][][]byte{clustertest.Words("SET", "k", "v")}})
		_, err := e.Propose(t.Context(), fsm.Exec.Code, body)
		failed <- err
	}()
	go func() {
		_, err := e.Read(t.Context(), fsm.Reading{}, func(*fsm.View) {})
		failed <- err
	}()
	e.open(c.Nodes[0])
	for range 2 {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
}

// TestRequestsDontWaitForever: a node that isn't opened in time, as one that waits for the others of a new cluster,
// refuses them, and so does one whose client has gone.
func TestRequestsDontWaitForever(t *testing.T) {
	e := newEngine(false)
	e.timeout = time.Millisecond
	if _, err := e.Read(t.Context(), fsm.Reading{}, func(*fsm.View) {}); !errors.Is(err, fsm.ErrNoLeader) {
		t.Errorf("read: %v", err)
	}
	e.timeout = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Propose(ctx, fsm.Exec.Code, nil); !errors.Is(err, fsm.ErrNoLeader) {
		t.Errorf("proposal: %v", err)
	}
}
