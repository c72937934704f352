package attack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// hogClients is the number of a neighbour's clients, spread over the nodes, and hogTime the time for which they send.
	hogClients = 4
	hogTime    = 10 * time.Second
)

// hog is a neighbour that keeps to its limits and asks for as much as it can: each of its clients sends the next request as
// soon as the one before is answered.
type hog struct {
	name, about string
	before      func(ctx context.Context, t *Target) error
	request     func(i int) hogRequest
	every       int                                         // how many requests differ, 0 = one
	hold        func(ctx context.Context, t *hogPart) error // in place of request: as long as ctx lasts
}

// hogPart tells the process of a neighbour's clients where the nodes are and who it is. The process has the least priority: they would have machines of their own, and
// what they take of the processors to write requests and to read replies is no part of what is measured.
type hogPart struct {
	Name, Token string
	HTTP, RESP  []string // of the nodes
	Time        time.Duration
}

// tried tells how a neighbour ended.
type tried struct{ Outcome, Problem string }

// hogRequest is a request to the attacker's database; without a method it is a command.
type hogRequest struct {
	method, path, body string
	header             http.Header
}

func command(args ...string) hogRequest { return hogRequest{body: string(words(args))} }

// Neighbours returns attacks by clients of another database that stay within their limits. No outcome of theirs counts as a
// success: they are judged by the latencies of the victims.
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

// try has clients send requests for hogTime, in a process of their own.
func (h *hog) try(ctx context.Context, t *Target) (string, error) {
	part := hogPart{Name: h.name, Token: t.AttackerToken, Time: hogTime}
	for _, n := range t.Nodes {
		part.HTTP, part.RESP = append(part.HTTP, n.HTTP), append(part.RESP, n.RESP)
	}
	end, err := start[tried](ctx, hogVariable, part)
	if err != nil {
		return "", err
	}
	_ = pause(ctx, hogTime)
	got, err := end()
	if got.Problem != "" {
		err = errors.Join(err, errors.New(got.Problem))
	}
	return got.Outcome, err
}

// run is the neighbour of that name, for as long as the context lasts.
func (p *hogPart) run(ctx context.Context) tried {
	i := slices.IndexFunc(neighbours, func(h *hog) bool { return h.name == p.Name })
	if i < 0 {
		return tried{Problem: "no neighbour " + p.Name}
	}
	h := neighbours[i]
	if h.hold != nil {
		if err := h.hold(ctx, p); err != nil {
			return tried{Problem: err.Error()}
		}
		return tried{Outcome: "held for " + p.Time.String()}
	}
	requests := make([]hogRequest, max(h.every, 1))
	for i := range requests {
		requests[i] = h.request(i)
	}
	return tried{Outcome: p.ask(ctx, requests)}
}

// ask has clients send the requests in turn and tells how many had which status.
func (p *hogPart) ask(ctx context.Context, requests []hogRequest) string {
	var mu sync.Mutex
	statuses := map[int]int{}
	var clients sync.WaitGroup
	for id := range hogClients {
		clients.Go(func() {
			client := newClient()
			defer client.CloseIdleConnections()
			for i := id; ctx.Err() == nil; i += hogClients {
				status, err := requests[i%len(requests)].send(ctx, client, p.HTTP[id%len(p.HTTP)], p.Token)
				if err == nil {
					mu.Lock()
					statuses[status]++
					mu.Unlock()
				}
			}
		})
	}
	clients.Wait()
	out := ""
	for _, status := range slices.Sorted(maps.Keys(statuses)) {
		out += fmt.Sprintf(", %d × %d", statuses[status], status)
	}
	return strings.TrimPrefix(out, ", ")
}

// send sends the request and returns its status; the reply is read and not kept.
func (r *hogRequest) send(ctx context.Context, c *http.Client, addr, token string) (int, error) {
	req, err := r.in(ctx, addr, token)
	if err != nil {
		return 0, err
	}
	res, err := c.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode, err
}

// in is the request to the attacker's database.
func (r *hogRequest) in(ctx context.Context, addr, token string) (*http.Request, error) {
	method := r.method
	if method == "" {
		method = http.MethodPost
	}
	return newRequest(ctx, method, addr, "/db/"+Attacker+r.path, token, r.header, r.body)
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
	req, err := q.in(ctx, t.Nodes[0].HTTP, t.AttackerToken)
	if err != nil {
		return err
	}
	if r := receive(t.client, req); r.err != nil || r.status/100 != 2 {
		return fmt.Errorf("%s %s: %s", req.Method, q.path, r)
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
