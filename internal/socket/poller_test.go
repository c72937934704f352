//go:build linux

package socket_test

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"

	"github.com/trireme-dev/trireme/internal/socket"
)

func newPoller(t *testing.T) *socket.Poller {
	t.Helper()
	w, err := socket.NewPoller()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// wants waits until a socket is readable.
func wants(t *testing.T, w *socket.Poller, number uint64) {
	t.Helper()
	got, err := w.Wait(nil)
	if err != nil || len(got) != 1 || got[0] != number {
		t.Fatal(got, err)
	}
}

func wantsBytes(t *testing.T, take func([]byte) (int, error), text string, end error) {
	t.Helper()
	b := make([]byte, 100)
	if n, err := take(b); string(b[:n]) != text || !errors.Is(err, end) {
		t.Fatalf("%q, %v", b[:n], err)
	}
}

// TestPoller: input from before a socket is added, input while nobody waits, and end of file
// are all reported.
func TestPoller(t *testing.T) {
	w := newPoller(t)
	near, far := pair(t)
	take := socket.TryRead(near)
	wantsBytes(t, take, "", nil)
	const number = 0x1234_5678_9abc_def0
	for _, text := range []string{"early", "late"} {
		if _, err := far.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if text == "early" {
			if err := w.Add(near, number); err != nil {
				t.Fatal(err)
			}
		}
		wants(t, w, number)
		wantsBytes(t, take, text, nil)
		wantsBytes(t, take, "", nil)
	}
	far.Close()
	wants(t, w, number)
	wantsBytes(t, take, "", io.EOF)
}

// TestPollMany: many sockets are reported by their numbers, removed ones are not.
func TestPollMany(t *testing.T) {
	w := newPoller(t)
	const sockets = 300 // more than one Wait reports
	far, waiting := map[uint64]net.Conn{}, map[uint64]bool{}
	for i := range uint64(sockets) {
		a, b := pair(t)
		if err := w.Add(a, i); err != nil {
			t.Fatal(err)
		}
		if far[i] = b; i%3 == 0 {
			if err := w.Remove(a); err != nil {
				t.Fatal(err)
			}
			continue
		}
		waiting[i] = true
	}
	for _, c := range far {
		if _, err := c.Write([]byte{1}); err != nil {
			t.Fatal(err)
		}
	}
	for numbers := []uint64(nil); len(waiting) > 0; {
		var err error
		if numbers, err = w.Wait(numbers); err != nil {
			t.Fatal(err)
		}
		for _, i := range numbers {
			if i%3 == 0 {
				t.Fatalf("%d was removed", i)
			}
			delete(waiting, i)
		}
	}
}

// TestPollerClose: Close ends Wait; what is closed or no socket can't be added.
func TestPollerClose(t *testing.T) {
	w := newPoller(t)
	near, _ := pair(t)
	near.Close()
	if err := w.Add(near, 1); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	pipe, _ := net.Pipe()
	if err := w.Add(pipe, 1); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
	ended := make(chan error)
	go func() {
		_, err := w.Wait(nil)
		ended <- err
	}()
	w.Close()
	if err := <-ended; !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
}
