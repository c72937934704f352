package main

import (
	"bytes"
	"testing"

	"github.com/trireme-dev/trireme/fsm/queue"
)

func TestDeliveryLines(t *testing.T) {
	content := &queue.Content{URL: "http://127.0.0.1:3000/hook"}
	id := queue.ID{Seq: 7, Salt: 9}
	for _, c := range []struct {
		a    queue.Attempt
		n    queue.Result
		want string
	}{
		{queue.Attempt{ID: id, Content: content}, queue.Result{Response: queue.Response{Status: 201}, Took: 3},
			"POST http://127.0.0.1:3000/hook " + id.String() + " -> 201 Created, 3 ms\n"},
		{queue.Attempt{ID: id, Content: content, Retried: 2}, queue.Result{Response: queue.Response{Status: 500}, Took: 4, RetryDelay: 1500},
			"POST http://127.0.0.1:3000/hook " + id.String() + " (retry 2) -> 500 Internal Server Error; the next try, if any is left, in 1.5s, 4 ms\n"},
		{queue.Attempt{ID: id, Content: content}, queue.Result{Error: "dial tcp 127.0.0.1:3000: connect: connection refused", RetryDelay: 1000},
			"POST http://127.0.0.1:3000/hook " + id.String() +
				" -> nothing listens there (dial tcp 127.0.0.1:3000: connect: connection refused); the next try, if any is left, in 1s, 0 ms\n"},
		{queue.Attempt{ID: id, Content: &queue.Content{}}, queue.Result{Response: queue.Response{Status: 200}}, "workflow " + id.String() + " -> 200 OK, 0 ms\n"},
	} {
		var out bytes.Buffer
		newDeliveryLog(&out).delivered(&c.a, &c.n)
		if out.String() != c.want {
			t.Errorf("\n%s, want\n%s", out.String(), c.want)
		}
	}
	var out bytes.Buffer
	(&deliveryLog{out: &out, color: true}).delivered(&queue.Attempt{ID: id, Content: content}, &queue.Result{Response: queue.Response{Status: 200}})
	if !bytes.Contains(out.Bytes(), []byte(green+"200 OK"+plain)) {
		t.Errorf("%q", out.String())
	}
}
