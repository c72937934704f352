package scheduler

import (
	"fmt"
	"testing"

	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/internal/testgate"
)

// TestWhatPublishTakesCanBeSent: every byte, in the name and in the value of a header that a publish takes, and every method, is
// sent: net/http refuses none when the attempt is made.
func TestWhatPublishTakesCanBeSent(t *testing.T) {
	url, requests := sinkOf(t, nil)
	s := testSender(t)
	taken := 0
	try := func(what string, name, value string) {
		c := queue.Config{}
		if err := c.Set(name, value); err != nil {
			return
		}
		p, err := c.Done()
		if err != nil {
			return
		}
		taken++
		n := send(t, s, attempt(queue.Content{URL: url, Options: p.Options}))
		if n.Error != "" || n.Response.Status != 200 {
			t.Errorf("%s is taken, and then: %s, status %d", what, n.Error, n.Response.Status)
			return
		}
		testgate.Receive(t, "the request of "+what, requests)
	}
	for b := range 256 {
		c := string([]byte{byte(b)})
		try(fmt.Sprintf("byte %#x in a name", b), "Forward-X"+c, "v")
		try(fmt.Sprintf("byte %#x in a value", b), "Forward-X", "a"+c+"b")
		try(fmt.Sprintf("byte %#x in a type", b), "Content-Type", "a"+c+"b")
	}
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "CONNECT", "OPTIONS", "TRACE", "get", "A B", "", "X"} {
		try("method "+method, "Method", method)
	}
	if taken < 500 {
		t.Errorf("only %d were taken", taken)
	}
	for _, text := range []string{"a\nb", "a\x00b", "a\x7fb"} {
		for _, name := range []string{"Label", "Schedule-Id", "Queue-Name", "Traceparent", "Tracestate"} { // sent in headers of the service
			if err := new(queue.Config).Set(name, text); err == nil {
				t.Errorf("%s of %q is taken", name, text)
			}
		}
	}
}
