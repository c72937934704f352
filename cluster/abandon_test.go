package cluster

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// TestFormerLeaderIsLeft shows that questions to a node that answers nothing, as a
// frozen one does, end when somebody else leads, and that other questions go on.
func TestFormerLeaderIsLeft(t *testing.T) {
	here, there := net.Pipe()
	defer there.Close()
	go io.Copy(io.Discard, there)
	l := newLink(here)
	defer l.close(net.ErrClosed)
	s := &links{by: map[string]*link{"frozen": l}}
	failed := make(chan callKind, 3)
	for _, kind := range []callKind{callPropose, callReadIndex, callConfirm} {
		l.call(kind, nil, func(_ []byte, err error) {
			if errors.Is(err, errLeaderChanged) {
				failed <- kind
			}
		})
	}
	s.abandonBut("frozen", errLeaderChanged) // it still leads
	if len(failed) > 0 {
		t.Fatal("a question to the leader was given up")
	}
	s.abandonBut("successor", errLeaderChanged)
	got := map[callKind]bool{}
	for range 2 {
		select {
		case kind := <-failed:
			got[kind] = true
		case <-time.After(5 * time.Second):
			t.Fatalf("only %v were given up", got)
		}
	}
	if !got[callPropose] || !got[callReadIndex] || len(failed) > 0 || l.ended() {
		t.Fatalf("given up were %v and %d more, link ended %v", got, len(failed), l.ended())
	}
}
