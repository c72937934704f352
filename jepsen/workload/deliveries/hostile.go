package deliveries

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
	"github.com/trireme-dev/trireme/scheduler/egress/egresstest"
)

// Hostile is a run in which many destinations do the worst they can while another one
// wants its messages. The nodes have to be started with Flags.
type Hostile struct {
	Cluster  *testcluster.Cluster
	Resolver *egresstest.Resolver
	Label    string
	// Messages go to each bad destination, Good to the good one, first in peace and then
	// beside the others.
	Messages, Good int
	Patience       time.Duration
	// MostGrown bounds the memory in bytes that the bad destinations may cost a node.
	MostGrown int64
}

// hostileTimeout is the timeout of the bad destinations' messages. A good message that waits for
// one of them waits about as long.
const hostileTimeout = 3 * time.Second

// hostileSenders are fewer than the bad destinations' shares together.
const hostileSenders = 100

// HostileFlags returns the flags of the nodes: one address of loopback may be reached, names are
// resolved by the run's resolver.
func HostileFlags(r *egresstest.Resolver) []string {
	return []string{"--egress-allow", "127.0.0.1/32", "--egress-dns", r.Addr(), "--senders", strconv.Itoa(hostileSenders), "--senders-per-host", strconv.Itoa(hostileSenders / 10)}
}

// HostileResult is the result of a Hostile run.
type HostileResult struct {
	Endpoints, Messages, Delivered, Dead, Connections, Good int
	// Calm and Beside are the latencies of good messages from publication to the sink, without the
	// hostile messages and beside them.
	Calm, Beside Latency
	// Grown is the growth of the resident memory of the node that grew most.
	Grown int64
	Took  time.Duration
}

// Latency is a distribution of times.
type Latency struct{ P50, P99, Max time.Duration }

func latency(all []time.Duration) Latency {
	if len(all) == 0 {
		return Latency{}
	}
	slices.Sort(all)
	at := func(part float64) time.Duration {
		return all[int(part*float64(len(all)-1))].Round(10 * time.Microsecond)
	}
	return Latency{at(0.5), at(0.99), at(1)}
}

// String is a line for people.
func (r HostileResult) String() string {
	return fmt.Sprintf("%d bad destinations in %v: %d messages, %d delivered, %d dead letters, %d connections; %d good messages took p50 %v, p99 %v, at most %v, before that p50 %v, p99 %v, at most %v; memory grew by %d MiB",
		r.Endpoints, r.Took.Round(100*time.Millisecond), r.Messages, r.Delivered, r.Dead, r.Connections, r.Good, r.Beside.P50, r.Beside.P99, r.Beside.Max,
		r.Calm.P50, r.Calm.P99, r.Calm.Max, r.Grown>>20)
}

// Run publishes, waits and judges.
func (h Hostile) Run(ctx context.Context) (out HostileResult, err error) {
	sink, err := NewSink(func(string, int, int) Answer { return Answer{Status: 200} })
	if err != nil {
		return out, err
	}
	defer sink.Close()
	all := hostileEndpoints()
	over := make(chan struct{})
	var serving sync.WaitGroup
	end := sync.OnceFunc(func() { // the endpoints' connections break
		close(over)
		for _, v := range all {
			v.listener.Close()
		}
		serving.Wait()
	})
	for _, v := range all {
		if err := v.open(); err != nil {
			return out, err
		}
		serving.Go(func() { v.serve(over) })
	}
	defer end()
	inside, err := h.forbid(all)
	if err != nil {
		return out, err
	}
	defer inside.Close()
	began := time.Now()
	publisher := &Publisher{Cluster: h.Cluster}
	memory := h.memory()
	if out.Calm, err = h.good(ctx, publisher, sink, h.Label+"-calm"); err != nil {
		return out, err
	}
	ids, err := h.publish(ctx, publisher, all)
	if err != nil {
		return out, err
	}
	if out.Beside, err = h.good(ctx, publisher, sink, h.Label+"-beside"); err != nil {
		return out, err
	}
	events, err := publisher.settled(ctx, h.Label, h.Messages*len(all), h.Patience)
	if err != nil {
		return out, err
	}
	for i, now := range h.memory() {
		out.Grown = max(out.Grown, now-memory[i])
	}
	out.Endpoints, out.Messages, out.Good, out.Took = len(all), h.Messages*len(all), h.Good, time.Since(began)
	return out, h.judge(&out, all, ids, events, inside)
}

// forbid has names lead to addresses that deliveries may not reach, and listens there.
func (h Hostile) forbid(all []*hostileEndpoint) (*trap, error) {
	h.Resolver.Set(metadataName, "169.254.169.254")
	h.Resolver.Set(turningName, "127.0.0.1", insideAddr)
	h.Resolver.Set(insideHost, insideAddr)
	for _, v := range all {
		if v.host == turningName {
			_, port, _ := net.SplitHostPort(v.listener.Addr().String())
			return newTrap(net.JoinHostPort(insideAddr, port))
		}
	}
	return newTrap(net.JoinHostPort(insideAddr, "0"))
}

// trap counts connections to where none may come.
type trap struct {
	net.Listener
	done   chan struct{}
	caught int
}

func newTrap(addr string) (*trap, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	t := &trap{Listener: listener, done: make(chan struct{})}
	go func() {
		defer close(t.done)
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			t.caught++
			c.Close()
		}
	}()
	return t, nil
}

// count ends the trap and tells what it caught.
func (t *trap) count() int {
	t.Close()
	<-t.done
	return t.caught
}

// goodPause is between two good messages.
const goodPause = 20 * time.Millisecond

// good publishes to the good destination, one after the other, and says how long each took.
func (h Hostile) good(ctx context.Context, publisher *Publisher, sink *Sink, label string) (Latency, error) {
	sent := make([]time.Time, h.Good)
	for i := range h.Good {
		sent[i] = time.Now()
		header := map[string]string{"Upstash-Label": label, "Upstash-Deduplication-Id": fmt.Sprintf("%s-%d", label, i)}
		if _, err := publisher.Publish(ctx, i, "/v2/publish/"+sink.URL(label, i), header, nil); err != nil {
			return Latency{}, err
		}
		Sleep(ctx, goodPause)
	}
	if _, err := publisher.settled(ctx, label, h.Good, h.Patience); err != nil {
		return Latency{}, fmt.Errorf("good messages: %w", err)
	}
	var took []time.Duration
	for _, a := range sink.Arrivals(label) {
		took = append(took, a.Begin.Sub(sent[a.Number]))
	}
	return latency(took), nil
}

// publish publishes to the bad destinations in turns. The ids are by destination.
func (h Hostile) publish(ctx context.Context, publisher *Publisher, all []*hostileEndpoint) (ids [][]string, err error) {
	ids = make([][]string, len(all))
	for i := range all {
		ids[i] = make([]string, h.Messages)
	}
	return ids, parallel(ctx, 8, h.Messages*len(all), func(ctx context.Context, client, task int) error {
		v, number := task%len(all), task/len(all)
		r, err := publisher.Publish(ctx, client, "/v2/publish/"+all[v].url(number), map[string]string{
			"Upstash-Label": h.Label, "Upstash-Retries": "1", "Upstash-Retry-Delay": "100", "Upstash-Timeout": strconv.Itoa(int(hostileTimeout.Seconds())),
			"Upstash-Deduplication-Id": fmt.Sprintf("%s-%d-%d", h.Label, v, number),
		}, nil)
		ids[v][number] = r.MessageID
		return err
	})
}

// memory is the resident memory of each node in bytes.
func (h Hostile) memory() (all []int64) {
	for _, n := range h.Cluster.Nodes {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", n.Pid()))
		pages := int64(0)
		if fields := bytes.Fields(text); len(fields) > 1 {
			pages, _ = strconv.ParseInt(string(fields[1]), 10, 64)
		}
		all = append(all, pages*int64(os.Getpagesize()))
	}
	return all
}

func (h Hostile) judge(out *HostileResult, all []*hostileEndpoint, ids [][]string, events []Event, inside *trap) error {
	var wrong problems
	byMessage, last := lives(events), map[string]*Event{}
	for i := range events {
		if v := &events[i]; v.State == "ERROR" && !v.Lost() {
			last[v.MessageID] = v
		}
	}
	for i, v := range all {
		out.Connections += int(v.taken.Load())
		judgeEndpoint(out, &wrong, v, ids[i], byMessage, last)
	}
	if n := inside.count(); n > 0 {
		wrong.add("%d connections to %s, which no delivery may reach", n, insideAddr)
	}
	if n := h.Resolver.Asked(insideHost); n > 0 {
		wrong.add("a redirect was followed: %s was asked for %d times", insideHost, n)
	}
	if out.Beside.Max > hostileTimeout/2 {
		wrong.add("a good message took %v", out.Beside.Max)
	}
	if out.Grown > h.MostGrown {
		wrong.add("memory grew by %d MiB", out.Grown>>20)
	}
	return wrong.err()
}

// judgeEndpoint: each message ended as it should, and the record says why.
func judgeEndpoint(out *HostileResult, wrong *problems, v *hostileEndpoint, ids []string, told map[string]*life, last map[string]*Event) {
	free := 0 // messages that may end otherwise: before the name turned
	if v.host == turningName {
		free = 1
	}
	for _, id := range ids {
		l := told[id]
		if l == nil || len(l.ends) != 1 {
			wrong.add("%s: message %s did not end once", v.name, id)
			continue
		}
		if l.ends[0] == "DELIVERED" {
			out.Delivered++
		} else {
			out.Dead++
		}
		if l.ends[0] != v.end {
			if free--; free < 0 {
				wrong.add("%s: message %s ended as %s", v.name, id, l.ends[0])
			}
			continue
		}
		if v.end == "FAILED" && (!strings.Contains(last[id].Error, v.found) || last[id].Status != v.status) {
			wrong.add("%s: the record says %d %q, want %d and %q", v.name, last[id].Status, last[id].Error, v.status, v.found)
		}
	}
}
