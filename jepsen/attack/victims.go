package attack

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	victimClients = 6
	victimPause   = 20 * time.Millisecond // between two requests of one client
)

// Measurements holds the victims' measurements.
type Measurements struct {
	Requests, Failed int
	P50, P99, Max    time.Duration
	Problems         []string // the first few failures
	// Deliveries is the number of messages that arrived, and DeliveryP99 their delay after the time at which their publication was due.
	Deliveries  int
	DeliveryP99 time.Duration
}

// victims are clients of the database that is not the attacker's, two at each node. Each reads and writes in turn, at a
// fixed rate: one that stands still for a second has as many requests that waited for a part of it as came meanwhile.
type victims struct {
	mu     sync.Mutex
	took   []time.Duration
	failed []string
}

// victimAccess holds the addresses and the token that the victims use.
type victimAccess struct {
	Addrs []string
	Token string
}

func (a *victimAccess) serve(ctx context.Context) Measurements {
	v := &victims{}
	var all sync.WaitGroup
	for id := range victimClients {
		all.Go(func() { v.run(ctx, a, id) })
	}
	arrived := make(chan []time.Duration, 1)
	go func() { arrived <- v.deliveries(ctx, a) }()
	all.Wait()
	took := <-arrived
	slices.Sort(took)
	s := Measurements{Requests: len(v.took), Failed: len(v.failed), Problems: v.failed[:min(len(v.failed), 5)]}
	s.Deliveries, s.DeliveryP99 = len(took), quantile(took, 0.99)
	slices.Sort(v.took)
	s.P50, s.P99, s.Max = quantile(v.took, 0.5), quantile(v.took, 0.99), quantile(v.took, 1)
	return s
}

// Serve starts the victims in a process of their own: what the attackers need of this one is not theirs. end stops
// them.
func (t *Target) Serve(ctx context.Context) (end func() (Measurements, error), err error) {
	at := victimAccess{Token: t.VictimToken}
	for _, n := range t.Nodes {
		at.Addrs = append(at.Addrs, n.HTTP)
	}
	return start[Measurements](ctx, victimsVariable, at)
}

// run sends each request when it is due, whether or not those before are answered: a client of a serverless program waits for its own
// request, not for those of others.
func (v *victims) run(ctx context.Context, at *victimAccess, id int) {
	client := newClient()
	defer client.CloseIdleConnections()
	key, value := fmt.Sprintf("victim:%d", id), fmt.Sprintf("%0100d", id)
	do := func(due time.Time, args ...string) {
		r := send(context.WithoutCancel(ctx), client, http.MethodPost, at.Addrs[id%len(at.Addrs)], "/db/"+Victim, at.Token, nil, words(args))
		v.add(time.Since(due), r, args[0] == "GET", value)
	}
	var underWay sync.WaitGroup
	defer underWay.Wait()
	for i, due := 0, time.Now(); ; i++ {
		due = due.Add(victimPause)
		if pause(ctx, time.Until(due)) != nil {
			return
		}
		switch {
		case i == 0:
			do(due, "SET", key, value) // what all others read
		case i%2 == 0:
			underWay.Go(func() { do(due, "SET", key, value) })
		default:
			underWay.Go(func() { do(due, "GET", key) })
		}
	}
}

const (
	// deliveryPause is between two messages of the victims, and lateDelivery for how long one is awaited at the end.
	deliveryPause = 100 * time.Millisecond
	lateDelivery  = 10 * time.Second
)

// deliveries publishes messages at a fixed rate to a port of this process, and returns how long each took to arrive after it
// was due. One that does not arrive, or twice, is a failure.
func (v *victims) deliveries(ctx context.Context, at *victimAccess) (took []time.Duration) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		v.fail(err.Error())
		return nil
	}
	var mu sync.Mutex
	due, missing := map[string]time.Time{}, make(chan struct{}, 1)
	sink := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if at, ok := due[r.URL.Path]; ok {
			took = append(took, time.Since(at))
			if delete(due, r.URL.Path); len(due) == 0 {
				select {
				case missing <- struct{}{}:
				default:
				}
			}
		}
	})}
	go sink.Serve(l) // ends with Close
	defer sink.Close()
	client := newClient()
	defer client.CloseIdleConnections()
	var underWay sync.WaitGroup
	for i, next := 0, time.Now(); ; i++ {
		next = next.Add(deliveryPause)
		if pause(ctx, time.Until(next)) != nil {
			break
		}
		path := fmt.Sprint("/", i)
		mu.Lock()
		due[path] = next
		mu.Unlock()
		underWay.Go(func() {
			r := send(context.WithoutCancel(ctx), client, http.MethodPost, at.Addrs[i%len(at.Addrs)], "/db/"+Victim+"/v2/publish/http://"+l.Addr().String()+path, at.Token, nil, []byte("m"))
			if r.err != nil || r.status/100 != 2 {
				v.fail("publish: " + r.String())
				mu.Lock()
				delete(due, path)
				mu.Unlock()
			}
		})
	}
	underWay.Wait()
	late := time.After(lateDelivery)
	for {
		mu.Lock()
		n := len(due)
		mu.Unlock()
		if n == 0 {
			return took
		}
		select {
		case <-missing:
		case <-late:
			v.fail(fmt.Sprintf("%d messages did not arrive", n))
			return took
		}
	}
}

// fail counts a failure.
func (v *victims) fail(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.failed = append(v.failed, text)
}

// add counts a request, which took so long from when it was due.
func (v *victims) add(took time.Duration, r response, read bool, want string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.took = append(v.took, took)
	if r.err == nil && r.status == http.StatusOK && (!read || string(r.body) == `{"result":"`+want+`"}`) {
		return
	}
	v.failed = append(v.failed, fmt.Sprintf("after %v: %s", took.Round(time.Millisecond), r))
}

// quantile is the value of sorted ones that the part q of all doesn't exceed.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// pause waits, or returns the error of the context.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(max(d, 0))
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}
