package attack

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// hogClients is how many clients a neighbour has, spread over the nodes, and hogTime for how long they send.
	hogClients = 4
	hogTime    = 10 * time.Second
)

// hog is a neighbour that keeps to its limits and asks for as much as it can: each of its clients sends the next request as
// soon as the one before is answered.
type hog struct {
	name, about string
	before      func(ctx context.Context, t *Target) error
	request     func(i int) hogRequest
	hold        func(ctx context.Context, t *Target) error // in place of request: as long as ctx lasts
}

// hogRequest is a request to the attacker's database; without a method it is a command.
type hogRequest struct {
	method, path, body string
	header             http.Header
}

func command(args ...string) hogRequest { return hogRequest{body: string(words(args))} }

// Neighbours are clients of another database that stay within their limits. None has an outcome that would be a success: what
// counts is what the victims see.
func Neighbours() (all []Attack) {
	for _, h := range neighbours {
		all = append(all, Attack{Name: h.name, About: h.about, Once: true, Try: h.try, Before: func(ctx context.Context, t *Target) error {
			if err := t.renew(ctx); err != nil || h.before == nil {
				return err
			}
			return h.before(ctx, t)
		}})
	}
	return all
}

// try sends requests for hogTime.
func (h *hog) try(ctx context.Context, t *Target) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, hogTime)
	defer cancel()
	if h.hold != nil {
		if err := h.hold(ctx, t); err != nil {
			return "", err
		}
		return "held for " + hogTime.String(), nil
	}
	var mu sync.Mutex
	statuses := map[int]int{}
	var clients sync.WaitGroup
	for id := range hogClients {
		clients.Go(func() {
			client := newClient()
			defer client.CloseIdleConnections()
			for i := id; ctx.Err() == nil; i += hogClients {
				q := h.request(i)
				if q.method == "" {
					q.method = http.MethodPost
				}
				r := t.send(ctx, client, id%len(t.Nodes), q.method, "/db/"+Attacker+q.path, t.AttackerToken, q.header, []byte(q.body))
				mu.Lock()
				if r.err == nil {
					statuses[r.status]++
				}
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	out := ""
	for _, status := range []int{200, 201, 202, 400, 412, 429, 503} {
		if n := statuses[status]; n > 0 {
			out += fmt.Sprintf(", %d × %d", n, status)
		}
		delete(statuses, status)
	}
	for status, n := range statuses { // unordered: at most a few
		out += fmt.Sprintf(", %d × %d", n, status)
	}
	return strings.TrimPrefix(out, ", "), nil
}

// renew gives the attacker an empty database.
func (t *Target) renew(ctx context.Context) error {
	if r := t.admin(ctx, http.MethodDelete, "/admin/databases/"+Attacker, nil); r.err != nil || r.status/100 != 2 && r.status != http.StatusNotFound {
		return fmt.Errorf("delete %s: %s", Attacker, r)
	}
	return t.create(ctx, Attacker, &t.AttackerToken, &t.AttackerReadOnly)
}

// run sends a request of a preparation.
func (t *Target) run(ctx context.Context, q hogRequest) error {
	if q.method == "" {
		q.method = http.MethodPost
	}
	if r := t.send(ctx, t.client, 0, q.method, "/db/"+Attacker+q.path, t.AttackerToken, q.header, []byte(q.body)); r.err != nil || r.status/100 != 2 {
		return fmt.Errorf("%s %s: %s", q.method, q.path, r)
	}
	return nil
}

// prepared is a preparation of n requests.
func prepared(n int, request func(i int) hogRequest) func(context.Context, *Target) error {
	return func(ctx context.Context, t *Target) error {
		for i := range n {
			if err := t.run(ctx, request(i)); err != nil {
				return err
			}
		}
		return nil
	}
}

// all are preparations one after the other.
func all(steps ...func(context.Context, *Target) error) func(context.Context, *Target) error {
	return func(ctx context.Context, t *Target) error {
		for _, step := range steps {
			if err := step(ctx, t); err != nil {
				return err
			}
		}
		return nil
	}
}

// join is n parts made by a function, with commas between.
func join(n int, part func(i int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = part(i)
	}
	return strings.Join(parts, ",")
}
