package demoshop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/trireme-dev/trireme/workflow"
)

// The names of what the shop uses.
const (
	label     = "demo" // of everything that the shop starts
	mailQueue = "emails"
	ordersKey = "warehouse"
	runsKey   = "shop"
)

// firstOrders is the number of orders with which Fill begins. They have all the failures that there are.
const firstOrders = 8

// customers of the shop, in turn.
var customers = []string{"Ann Becker", "Ben Okafor", "Chen Li", "Dora Silva", "Emil Novak"}

// order has what was bought, and by whom.
type order struct {
	Number   int    `json:"order"`
	Customer string `json:"customer"`
	Cents    int    `json:"cents"`
}

func newOrder(n int) order {
	return order{n, customers[n%len(customers)], 1200 + n*37%9000}
}

// lacksStock says for which orders the warehouse answers 500 each time, isLate for which it does once.
func lacksStock(n int) bool { return n%8 == 4 }
func isLate(n int) bool     { return n%5 == 2 }

// hasNoMailbox says for which orders mail can't be delivered, hasFullMailbox for which it can at the second attempt.
func hasNoMailbox(n int) bool   { return n%6 == 5 }
func hasFullMailbox(n int) bool { return n%4 == 2 }

// takeOrders has customers buy something.
func (s *Shop) takeOrders(ctx context.Context, count int) error {
	for range count {
		if err := s.takeOrder(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *Shop) takeOrder(ctx context.Context) error {
	n, err := s.nextOrder(ctx)
	if err != nil {
		return err
	}
	o := newOrder(n)
	body, err := json.Marshal(o)
	if err != nil {
		return err
	}
	id := "order-" + strconv.Itoa(n)
	with := func(kind string, more map[string]string) map[string]string {
		h := map[string]string{"Svc-Label": id + "," + kind + "," + label}
		maps.Copy(h, more)
		return h
	}
	_, err = s.post(ctx, "/v2/publish/"+s.url+"/orders", with("order", map[string]string{
		"Svc-Retries": "2", "Svc-Retry-Delay": "2000", "Svc-Callback": s.url + "/callbacks/delivered", "Svc-Failure-Callback": s.url + "/callbacks/failed",
		"Svc-Flow-Control-Key": ordersKey, "Svc-Flow-Control-Value": "rate=5, period=1s, parallelism=2",
	}), string(body))
	if err != nil {
		return err
	}
	if _, err = s.post(ctx, "/v2/enqueue/"+mailQueue+"/"+s.url+"/mail", with("email", map[string]string{"Svc-Retries": "1", "Svc-Retry-Delay": "3000"}), string(body)); err != nil {
		return err
	}
	if err = s.startRun(ctx, "checkout", n, id, body); err != nil || n%2 == 1 {
		return err
	}
	return s.startRun(ctx, "onboarding", n, id, body)
}

// startRun starts a run of a workflow for an order.
func (s *Shop) startRun(ctx context.Context, name string, number int, id string, body []byte) error {
	_, err := s.runs.Trigger(ctx, body, workflow.RunOptions{
		URL: s.url + "/workflows/" + name, RunID: name + "-" + strconv.Itoa(number), Labels: []string{id, name, label}, Retries: 2, RetryDelay: "1500",
		FlowControl: &workflow.FlowControl{Key: runsKey, Parallelism: 4},
	})
	return err
}

// nextOrder counts orders in the node, so that their numbers go on after a restart, and stores one.
func (s *Shop) nextOrder(ctx context.Context) (int, error) {
	answer, err := s.post(ctx, "/", nil, `["INCR","counter:orders"]`)
	if err != nil {
		return 0, err
	}
	var number struct{ Result int }
	if err := json.Unmarshal(answer, &number); err != nil {
		return 0, err
	}
	n := number.Result
	o := newOrder(n)
	keys, err := json.Marshal([][]any{
		{"HSET", fmt.Sprintf("order:%d", n), "customer", o.Customer, "cents", o.Cents},
		{"EXPIRE", fmt.Sprintf("order:%d", n), 3600},
		{"SET", fmt.Sprintf("session:%d", n), o.Customer, "EX", 900},
		{"INCR", "counter:visits"},
		{"XADD", "log:orders", "MAXLEN", 200, "*", "order", n, "cents", o.Cents},
		{"ZINCRBY", "leaderboard", 1, o.Customer},
		{"PFADD", "visitors:today", o.Customer},
		{"GET", "greeting"},
	})
	if err != nil {
		return 0, err
	}
	_, err = s.post(ctx, "/pipeline", nil, string(keys))
	return n, err
}

// maxWaiting is the number of messages or runs of the shop that may wait. Beyond it, the shop takes no orders: somebody has
// paused the queue or a flow-control key.
const maxWaiting = 24

func (s *Shop) busy(ctx context.Context) (bool, error) {
	for _, path := range []string{"/v2/queues/" + mailQueue, "/v2/flowControl/" + ordersKey, "/v2/flowControl/" + runsKey} {
		answer, err := s.ask(ctx, http.MethodGet, path, nil, "")
		if r, is := errors.AsType[*refusal](err); is && r.status == http.StatusNotFound {
			continue
		}
		var of struct{ Lag, WaitListSize int }
		if err == nil {
			err = json.Unmarshal(answer, &of)
		}
		if err != nil || max(of.Lag, of.WaitListSize) > maxWaiting {
			return err == nil, err
		}
	}
	return false, nil
}

// deadLettersKept is how long the shop's dead letters stay.
const deadLettersKept = time.Hour

func (s *Shop) clear(ctx context.Context) error {
	old := url.Values{"label": {label}, "toDate": {strconv.FormatInt(time.Now().Add(-deadLettersKept).UnixMilli(), 10)}}.Encode()
	for _, path := range []string{"/v2/dlq?", "/v2/workflows/dlq?"} {
		if _, err := s.ask(ctx, http.MethodDelete, path+old, nil, ""); err != nil {
			return err
		}
	}
	return nil
}

// maxNotified is how often an event is notified for which no run waits.
const maxNotified = 6

// ship notifies the runs whose parcels were packed. A run that does not wait yet is notified in the next rounds.
func (s *Shop) ship(ctx context.Context) error {
	s.mu.Lock()
	events := slices.Sorted(maps.Keys(s.parcels))
	s.mu.Unlock()
	for _, event := range events {
		answer, err := s.post(ctx, "/v2/notify/"+event, nil, `{"packed":true}`)
		if err != nil {
			return err
		}
		var woken []json.RawMessage
		if err := json.Unmarshal(answer, &woken); err != nil {
			return err
		}
		s.mu.Lock()
		if s.parcels[event]++; len(woken) > 0 || s.parcels[event] >= maxNotified {
			delete(s.parcels, event)
		}
		s.mu.Unlock()
	}
	return nil
}
