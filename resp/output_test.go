package resp

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"
)

// TestOutputQueuesInChunks: what a client doesn't read is queued in chunks, counted, and arrives in its order.
func TestOutputQueuesInChunks(t *testing.T) {
	client, server := net.Pipe()
	defer client.Close()
	o := newOutput(server, time.Minute)
	var want []byte
	for i := range 2000 {
		b := bytes.Repeat([]byte{byte(i)}, i%977+1)
		if i%500 == 0 {
			b = bytes.Repeat([]byte{byte(i)}, 3*writeChunk+i)
		}
		if err := o.send(b); err != nil {
			t.Fatal(err)
		}
		want = append(want, b...)
	}
	if got := o.waiting(); got != len(want) {
		t.Errorf("%d bytes wait, want %d", got, len(want))
	}
	o.mu.Lock()
	if most := len(want)/writeChunk + 2; len(o.pending) > most { // one is being written
		t.Errorf("%d chunks of %d bytes, at most %d expected", len(o.pending), len(want), most)
	}
	for _, chunk := range o.pending {
		if len(chunk) > writeChunk {
			t.Errorf("a chunk of %d bytes", len(chunk))
		}
	}
	o.mu.Unlock()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(client, got); err != nil || !bytes.Equal(got, want) {
		t.Errorf("what arrives is not what was sent: %v", err)
	}
	if err := o.waitBelow(0); err != nil || o.waiting() != 0 {
		t.Errorf("%d bytes wait after everything was read, %v", o.waiting(), err)
	}
	o.waitDone()
}

// TestOutputOfAClientThatLeaves: what was queued for it is dropped.
func TestOutputOfAClientThatLeaves(t *testing.T) {
	client, server := net.Pipe()
	o := newOutput(server, time.Minute)
	if err := o.send(make([]byte, 10*writeChunk)); err != nil {
		t.Fatal(err)
	}
	client.Close()
	o.waitDone()
	if err := o.waitBelow(0); err == nil || o.waiting() != 0 {
		t.Errorf("%d bytes wait for a client that has left, %v", o.waiting(), err)
	}
}
