package httpapitest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/node/pubsub"
)

// session is one node's view of an Engine: it has a session of its own in the log.
type session struct {
	*Engine
	id  uint64
	seq atomic.Uint64
}

// Propose applies one request of the session at once. It fails as FailWrites says.
func (s *session) Propose(_ context.Context, code uint16, body []byte) (any, error) {
	s.mu.Lock()
	err, apply := s.propose, s.apply
	s.mu.Unlock()
	if err != nil && !apply {
		return nil, err
	}
	v, applied := s.commitRequest(fsm.Request{Session: s.id, Seq: s.seq.Add(1), Code: code, Body: body})
	if err != nil {
		return nil, err
	}
	return v, applied
}

// NewHub returns the hub of one more node, until the test ends. The name of the node, and the session that its counts
// belong to, are in Machine's state.
func (e *Engine) NewHub(t testing.TB, adjust ...func(*pubsub.Options)) *pubsub.Hub {
	t.Helper()
	e.mu.Lock()
	e.nodes++
	name := fmt.Sprintf("h%d", e.nodes)
	e.mu.Unlock()
	v, err := e.commit(fsm.Register.Code, fsm.Register.Body(fsm.Registration{Node: name, Disk: name, Boot: 1}))
	if err != nil {
		t.Fatal(err)
	}
	s := &session{Engine: e, id: v.(fsm.Session).ID}
	o := pubsub.Options{Log: s}
	for _, f := range adjust {
		f(&o)
	}
	h := pubsub.New(o)
	e.mu.Lock()
	e.hubs = append(e.hubs, h)
	e.mu.Unlock()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		h.Close(ctx)
	})
	return h
}

// Exec runs one command through the log, as the process itself.
func (e *Engine) Exec(words ...string) (reply.Value, error) {
	argv := make([][]byte, len(words))
	for i, w := range words {
		argv[i] = []byte(w)
	}
	r, err := fsm.Do(context.Background(), e, fsm.Exec, fsm.Batch{As: acl.Trusted(acl.DefaultName), Rows: [][][]byte{argv}})
	if err != nil {
		return reply.Value{}, err
	}
	return r.Values[0], nil
}
