package workload

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/jepsen/check"
	"github.com/trireme-dev/trireme/jepsen/history"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// A Target runs the operations of a workload: a cluster, or a model of one in tests.
type Target interface {
	// Size is the number of nodes.
	Size() int
	// Do runs one command through a node and never repeats it.
	Do(ctx context.Context, node int, args ...string) testcluster.Reply
	// DoWith does it with further headers.
	DoWith(ctx context.Context, node int, header map[string]string, args ...string) testcluster.Reply
	// Transaction runs commands through a node as one.
	Transaction(ctx context.Context, node int, commands [][]string) ([]testcluster.Row, testcluster.Reply)
}

// Workload is one client program with its checker.
type Workload interface {
	// Name returns the workload's name on the command line.
	Name() string
	// Run keeps its clients going until the context ends. Requests under way are
	// then waited for, not cut off.
	Run(ctx context.Context, t Target)
	// Final reads, in the healed cluster, what the checker needs at the end.
	Final(ctx context.Context, t Target) error
	// History returns what was recorded.
	History() []history.Op
	// Check judges the history.
	Check() check.Report
}

// Settings are common to all workloads.
type Settings struct {
	Seed    uint64
	Began   time.Time // all times are counted from here
	Clients int
	Pause   time.Duration // between two operations of one client, on average
	// Persist bounds the repetition of a request with a request id: longer than any schedule leaves
	// the cluster without a majority, shorter than ids are remembered.
	Persist time.Duration
}

// afterFailure is a client's pause after a failed request, so that its history does not fill with
// requests to a node that is down.
const afterFailure = 50 * time.Millisecond

// client is one sequential user: at most one operation under way.
type client struct {
	id     int
	rng    *rand.Rand
	target Target
	rec    *history.Recorder
	pause  time.Duration
}

// runClients starts the clients and returns when all have ended.
func runClients(ctx context.Context, t Target, rec *history.Recorder, s Settings, step func(*client)) {
	var all sync.WaitGroup
	for id := range s.Clients {
		c := &client{id: id, rng: rand.New(rand.NewPCG(s.Seed, uint64(id))), target: t, rec: rec, pause: s.Pause}
		all.Go(func() {
			for ctx.Err() == nil {
				step(c)
			}
		})
	}
	all.Wait()
}

// node chooses a node for the next operation. Every other client stays with one
// node: were all to roam, a single node that answers nobody would soon hold them
// all, and the run would see a pause that no user of the others had.
func (c *client) node() int {
	if c.id%2 == 0 {
		return c.rng.IntN(c.target.Size())
	}
	return c.id / 2 % c.target.Size()
}

// run performs one operation, records it and rests.
func (c *client) run(op history.Op) history.Op {
	op.Client = c.id
	op.Node = c.node()
	op = perform(c.target, c.rec, op)
	c.rest(op)
	return op
}

// rest waits until the next operation.
func (c *client) rest(op history.Op) {
	rest := time.Duration(c.rng.Int64N(int64(2*c.pause) + 1))
	if !op.Known() {
		rest = max(rest, afterFailure)
	}
	time.Sleep(rest)
}

// perform runs one operation and records it. The request has its own time limit
// and is never cancelled from here: a cancelled one would only be one more
// unknown.
func perform(t Target, rec *history.Recorder, op history.Op) history.Op {
	op = attempt(t, rec, op)
	rec.Add(op)
	return op
}

// stale asks for an answer from the past.
var stale = map[string]string{"Svc-Consistency": "stale"}

// attempt runs one operation.
func attempt(t Target, rec *history.Recorder, op history.Op) history.Op {
	var header map[string]string
	switch {
	case op.Stale:
		header = stale
	case op.Request != "":
		header = map[string]string{"Svc-Request-Id": op.Request}
	}
	op.Call = rec.Now()
	var reply testcluster.Reply
	var rows []testcluster.Row
	several := commands(op)
	if several == nil {
		reply = t.DoWith(context.Background(), op.Node, header, command(op)...)
	} else {
		rows, reply = t.Transaction(context.Background(), op.Node, several)
	}
	op.Return = rec.Now()
	op.Outcome, op.Error, op.Place = reply.Outcome, reply.Error, reply.Place
	switch {
	case reply.Outcome != history.OK:
	case several == nil:
		interpret(&op, reply.Result)
	default:
		interpretRows(&op, rows)
	}
	return op
}
