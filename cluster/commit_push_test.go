package cluster

import (
	"io"
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

// TestCallsOfATransport has raft receive from its transport what this process puts there itself.
func TestCallsOfATransport(t *testing.T) {
	transport, err := raft.NewTCPTransport("127.0.0.1:0", nil, 1, time.Second, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer transport.Close()
	sent := &raft.AppendEntriesRequest{Term: 7}
	go func() { callsOf(transport) <- raft.RPC{Command: sent} }()
	select {
	case got := <-transport.Consumer():
		if got.Command != any(sent) {
			t.Errorf("received %v", got.Command)
		}
	case <-time.After(time.Minute):
		t.Fatal("nothing was received")
	}
}
