package main

import (
	"bytes"
	"testing"

	"github.com/trireme-dev/trireme/fsm/queue"
)

func TestDeliveryLines(t *testing.T) {
	content := &queue.Content{URL: "http://127.0.0.1:3000/hook"}
	id := queue.ID{Seq: 7, Salt: 9}
	line := "POST http://127.0.0.1:3000/hook " + id.String()
	refused := queue.Result{Error: "dial tcp 127.0.0.1:3000: connect: connection refused", RetryDelay: 1000}
	status := func(status int) queue.Result {
		return queue.Result{Response: queue.Response{Status: status}, Took: 4, RetryDelay: 1500}
	}
	for _, c := range []struct {
		a      queue.Attempt
		n      queue.Result
		became queue.Disposition
		want   string
	}{
		{queue.Attempt{ID: id, Content: content}, status(201), queue.Disposition{State: queue.Delivered}, line + " -> 201 Created, 4 ms\n"},
		{queue.Attempt{ID: id, Content: content, Retried: 2}, status(500), queue.Disposition{State: queue.Retry},
			line + " (retry 2) -> 500 Internal Server Error, 4 ms; retry 3 in 1.5s\n"},
		{queue.Attempt{ID: id, Content: content}, refused, queue.Disposition{State: queue.Retry},
			line + " -> nothing listens there (" + refused.Error + "), 0 ms; retry 1 in 1s\n"},
		{queue.Attempt{ID: id, Content: content}, refused, queue.Disposition{State: queue.Failed},
			line + " -> nothing listens there (" + refused.Error + "), 0 ms; no retry is left: it is a dead letter, see trireme messages explain " + id.String() + "\n"},
		{queue.Attempt{ID: id, Content: content}, status(500), queue.Disposition{State: queue.Canceled},
			line + " -> 500 Internal Server Error, 4 ms; canceled, no retry\n"},
		{queue.Attempt{ID: id, Content: content}, status(500), queue.Disposition{Stale: true},
			line + " -> 500 Internal Server Error, 4 ms; this result came too late and does not count\n"},
		{queue.Attempt{ID: id, Content: &queue.Content{}}, status(200), queue.Disposition{State: queue.Delivered}, "workflow " + id.String() + " -> 200 OK, 4 ms\n"},
		{queue.Attempt{ID: id, Content: &queue.Content{Run: []byte("run")}}, status(500), queue.Disposition{State: queue.Failed},
			"workflow " + id.String() + " -> 500 Internal Server Error, 4 ms; no retry is left\n"},
	} {
		var out bytes.Buffer
		newDeliveryLog(&out, "http://127.0.0.1:30").delivered(&c.a, &c.n, c.became)
		if out.String() != c.want {
			t.Errorf("\n%s, want\n%s", out.String(), c.want)
		}
	}
	var out bytes.Buffer
	(&deliveryLog{out: &out, color: true}).delivered(&queue.Attempt{ID: id, Content: content}, &queue.Result{Response: queue.Response{Status: 200}}, queue.Disposition{State: queue.Delivered})
	if !bytes.Contains(out.Bytes(), []byte(green+"200 OK"+plain)) {
		t.Errorf("%q", out.String())
	}
}
