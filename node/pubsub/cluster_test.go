package pubsub_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/channel"
	"github.com/trireme-dev/trireme/node/pubsub"
)

var (
	subscribers = flag.Int("subscribers", 60, "how many subscribers TestOneOrder has")
	messages    = flag.Int("messages", 1500, "how many messages TestOneOrder sends")
)

// nodes are real nodes, each with a hub.
type nodes struct {
	*clustertest.Cluster
	mu      sync.Mutex
	hubs    map[string]*pubsub.Hub
	engines map[string]*engine
}

// engine is the node of a hub, which is made before its node and may outlive it.
type engine struct{ node atomic.Pointer[cluster.Node] }

func (e *engine) Propose(ctx context.Context, code uint16, body []byte) (any, error) {
	if n := e.node.Load(); n != nil {
		return n.Propose(ctx, code, body)
	}
	return nil, fsm.ErrNoLeader
}

func (e *engine) Others() []string {
	if n := e.node.Load(); n != nil {
		return n.Others()
	}
	return nil
}

func (e *engine) Ask(ctx context.Context, node string, poll []byte) ([]byte, error) {
	if n := e.node.Load(); n != nil {
		return n.Ask(ctx, node, poll)
	}
	return nil, fsm.ErrNoLeader
}

// start starts three nodes. Every start of a node comes with a new hub, as every process
// has its own.
func start(t *testing.T, adjust ...func(*cluster.Options)) *nodes {
	t.Helper()
	c := &nodes{hubs: map[string]*pubsub.Hub{}, engines: map[string]*engine{}}
	c.Cluster = clustertest.Start(t, 3, func(o *cluster.Options) {
		e := &engine{}
		h := pubsub.New(pubsub.Options{Log: e, Peers: e})
		o.Machine, o.Monitor = fsm.NewMachine(), h.ServePoll
		o.Machine.Hooks = fsm.Hooks{Notifications: h.Notify, Restored: h.Restored}
		for _, f := range adjust {
			f(o)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.hubs[o.NodeID], c.engines[o.NodeID] = h, e
		t.Cleanup(func() {
			gone, cancel := context.WithCancel(context.Background())
			cancel()
			h.Close(gone)
		})
	})
	c.bind()
	return c
}

// bind connects the hubs to their nodes.
func (no *nodes) bind() {
	for i, n := range no.Nodes {
		no.engines[no.List[i].ID].node.Store(n)
	}
}

// crash stops a node without closing its hub.
func (no *nodes) crash(i int) {
	no.engines[no.List[i].ID].node.Store(nil)
	no.Stop(i)
}

func (no *nodes) restart() {
	no.StartAll()
	no.bind()
}

func (no *nodes) hub(i int) *pubsub.Hub {
	no.mu.Lock()
	defer no.mu.Unlock()
	return no.hubs[no.List[i].ID]
}

// reader is a subscriber that keeps what it gets.
type reader struct {
	sub       *pubsub.Subscription
	confirmed chan struct{}
	got       []string
	err       error
	done      chan struct{}
}

// read subscribes on node i and reads until a message is "end" or the hub ends it.
func (no *nodes) read(i int, kind channel.Kind, name string) *reader {
	r := &reader{sub: no.hub(i).Subscribe("default"), confirmed: make(chan struct{}), done: make(chan struct{})}
	r.sub.Add(kind, name)
	go func() {
		defer close(r.done)
		defer r.sub.Close()
		var events []pubsub.Event
		for range r.sub.Wake() {
			var err error
			events, err = r.sub.Take(events)
			for _, e := range events {
				if e.Confirmed {
					close(r.confirmed)
				} else if r.got = append(r.got, e.Message); e.Message == "end" {
					return
				}
			}
			if err != nil {
				r.err = err
				return
			}
		}
	}()
	return r
}

func (r *reader) await(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		t.Fatalf("not %s after a minute", what)
	}
}

// TestOneOrder publishes from all nodes while leaders change and subscribers come: each
// sees an unbroken end of one order, and every count is that of the readers who got the
// message.
func TestOneOrder(t *testing.T) {
	c := start(t)
	var readers []*reader
	join := func(n int) {
		for range n {
			kind, name := channel.Plain, "c"
			if len(readers)%5 == 4 {
				kind, name = channel.Pattern, "?"
			}
			readers = append(readers, c.read(len(readers)%3, kind, name))
		}
	}
	join(*subscribers / 3)
	for _, r := range readers {
		r.await(t, r.confirmed, "subscribed")
	}
	first := len(readers)
	var mu sync.Mutex
	counts := map[string]int64{}
	var wg sync.WaitGroup
	for w := range 6 {
		wg.Go(func() {
			for i := range *messages / 6 {
				m := fmt.Sprintf("%d-%d", w, i)
				v, err := c.Write(w%3, "PUBLISH", "c", m)
				if err != nil || v.IsError() {
					t.Logf("publish: %v %v", err, v.Text())
					continue
				}
				mu.Lock()
				counts[m] = v.Int()
				mu.Unlock()
			}
		})
	}
	for range 2 {
		time.Sleep(100 * time.Millisecond) // into the stream of messages, which goes on either way
		join(*subscribers / 3)
		if err := c.Nodes[c.Leader()].TransferLeadership(""); err != nil {
			t.Log(err)
		}
	}
	for _, r := range readers {
		r.await(t, r.confirmed, "subscribed")
	}
	wg.Wait()
	if v, err := c.Write(1, "PUBLISH", "c", "end"); err != nil || v.Int() != int64(len(readers)) {
		t.Fatalf("the last message has %d receivers of %d, %v", v.Int(), len(readers), err)
	}
	received := map[string]int64{}
	for i, r := range readers {
		r.await(t, r.done, "at the end")
		if r.err != nil {
			t.Fatalf("reader %d: %v", i, r.err)
		}
		for _, m := range r.got {
			received[m]++
		}
		want := readers[0].got
		if i < first && len(r.got) != len(want) || !strings.HasSuffix(strings.Join(want, " "), strings.Join(r.got, " ")) {
			t.Fatalf("reader %d has another order: %d messages, the first reader %d", i, len(r.got), len(want))
		}
	}
	for m, n := range counts {
		if received[m] != n {
			t.Errorf("%s: the publisher was told %d receivers, there were %d", m, n, received[m])
		}
	}
	if len(counts) < *messages/2 {
		t.Errorf("only %d messages were acknowledged", len(counts))
	}
	t.Logf("%d messages, %d readers, the last of them got %d", len(counts), len(readers), len(readers[len(readers)-1].got))
}

// numSub is the reply of PUBSUB NUMSUB for a channel on node i.
func (no *nodes) numSub(t *testing.T, i int, name string) int64 {
	t.Helper()
	v, err := no.Read(i, "PUBSUB", "NUMSUB", name)
	if err != nil || len(v.Elems()) != 2 {
		t.Fatalf("%v %v", v, err)
	}
	return v.Elems()[1].Int()
}

func (no *nodes) awaitNumSub(t *testing.T, i int, name string, want int64, within time.Duration) {
	t.Helper()
	begin := time.Now()
	got := int64(-1)
	for ; time.Since(begin) < within; time.Sleep(5 * time.Millisecond) {
		if got = no.numSub(t, i, name); got == want {
			return
		}
	}
	t.Fatalf("%d subscribers of %s after %v, want %d", got, name, within, want)
}

// TestCountsOfLostNodes ends nodes without Close: one that comes back at once does
// not keep its former subscribers, and one that stays away loses them after five seconds.
func TestCountsOfLostNodes(t *testing.T) {
	t.Parallel()
	c := start(t)
	leader := c.Leader()
	gone, back := (leader+1)%3, (leader+2)%3
	for _, i := range []int{leader, gone, back, back} {
		r := c.read(i, channel.Plain, "c")
		r.await(t, r.confirmed, "subscribed")
	}
	if n := c.numSub(t, leader, "c"); n != 4 {
		t.Fatalf("%d subscribers", n)
	}
	c.crash(back)
	if n := c.numSub(t, leader, "c"); n != 4 {
		t.Fatalf("%d subscribers", n)
	}
	c.restart()
	c.awaitNumSub(t, leader, "c", 2, time.Minute)
	begin := time.Now()
	c.crash(gone)
	c.awaitNumSub(t, leader, "c", 1, time.Minute)
	if took := time.Since(begin); took < 4*time.Second {
		t.Errorf("given up after %v", took)
	}
}

// TestDroppedNode has the leader drop the counts of a live node: its
// subscribers are disconnected, since messages no longer count them.
func TestDroppedNode(t *testing.T) {
	c := start(t)
	r := c.read(1, channel.Plain, "c")
	r.await(t, r.confirmed, "subscribed")
	if v, err := c.Write(0, "PUBLISH", "c", "before"); err != nil || v.Int() != 1 {
		t.Fatal(v, err)
	}
	c.dropCounts(t, 0)
	r.await(t, r.done, "disconnected")
	if !errors.Is(r.err, pubsub.ErrGap) || len(r.got) != 1 {
		t.Errorf("%v %v", r.err, r.got)
	}
	if v, err := c.Write(0, "PUBLISH", "c", "after"); err != nil || v.Int() != 0 {
		t.Fatal(v, err)
	}
	again := c.read(1, channel.Plain, "c")
	again.await(t, again.confirmed, "subscribed again")
	if v, err := c.Write(2, "PUBLISH", "c", "end"); err != nil || v.Int() != 1 {
		t.Fatal(v, err)
	}
	again.await(t, again.done, "at the end")
	if len(again.got) != 1 {
		t.Errorf("%v", again.got)
	}
}

// dropCounts does what the leader does to nodes that it can't reach.
func (no *nodes) dropCounts(t *testing.T, by int) {
	t.Helper()
	var sessions []fsm.SubscribedNode
	// Not what this node has applied so far: an answer may come before that.
	if _, err := no.Nodes[by].Read(t.Context(), fsm.Reading{}, func(v *fsm.View) { sessions = v.SubscribedNodes() }); err != nil {
		t.Fatal(err)
	}
	if len(sessions) == 0 {
		t.Fatal("no node has subscribers")
	}
	for _, s := range sessions {
		if _, err := fsm.Do(t.Context(), no.Nodes[by], fsm.ForgetSubscribers, fsm.SessionRef{Session: s.Session}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMonitorShowsAllNodes executes on every node and sees it on one, in the order of
// each node, also after a node has come back.
func TestMonitorShowsAllNodes(t *testing.T) {
	c := start(t)
	m := c.hub(0).Monitor(t.Context(), "default")
	defer m.Close()
	var seen []string
	want := func(word string) {
		t.Helper()
		for end := time.After(time.Minute); ; {
			for i, line := range seen {
				if strings.Contains(line, word) {
					seen = seen[i+1:]
					return
				}
			}
			select {
			case <-m.Wake():
				lines, err := m.Take(nil)
				if seen = append(seen, lines...); err != nil {
					t.Fatal(err)
				}
			case <-end:
				t.Fatalf("no line with %s", word)
			}
		}
	}
	for i := range 3 {
		for n := range 5 {
			c.hub(i).Executed("default", "", clustertest.Words("GET", fmt.Sprintf("k%d-%d", i, n)))
		}
		c.hub(i).Executed("other", "", clustertest.Words("GET", "hidden"))
	}
	for i := range 3 {
		for n := range 5 {
			if i > 0 && n == 0 {
				break
			}
			want(fmt.Sprintf(`"GET" "k%d-%d"`, i, n))
		}
	}
	follower := 1 + c.Leader()%2
	c.crash(follower)
	c.restart()
	for end := time.Now().Add(time.Minute); !c.hub(follower).Monitored(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a node that came back was not asked again")
		}
	}
	c.hub(follower).Executed("default", "1.2.3.4:5", clustertest.Words("AUTH", "secret"))
	want(`[0 1.2.3.4:5] "AUTH" "(redacted)"`)
	for _, line := range seen {
		if strings.Contains(line, "hidden") || strings.Contains(line, "secret") {
			t.Error(line)
		}
	}
}
