package workload

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/trireme-dev/trireme/jepsen/check"
	"github.com/trireme-dev/trireme/jepsen/history"
)

// A key takes part in at most this many operations of at most this many clients,
// then a fresh one is used: what the linearizability checker can afford.
const (
	opsPerKey     = 200
	clientsPerKey = 10
	opensPerKey   = 4 // writes of unknown outcome, each of which may take effect at any later time
)

// Register reads, sets, creates and compares-and-sets registers, every written
// value being used once.
type Register struct {
	Settings
	rec    *history.Recorder
	groups []*group
}

// group is the clients that share one register at a time.
type group struct {
	id   int
	mu   sync.Mutex
	used int      // operations handed out
	left int      // of them for the current key
	open int      // writes of unknown outcome to the current key
	seen string   // a value some client saw lately, for compare-and-set
	keys []string // all keys ever used
}

// NewRegister makes the workload; nothing runs yet.
func NewRegister(s Settings) *Register {
	r := &Register{Settings: s, rec: history.NewRecorder(s.Began)}
	for id := range (s.Clients + clientsPerKey - 1) / clientsPerKey {
		r.groups = append(r.groups, &group{id: id})
	}
	return r
}

// Name implements Workload.
func (r *Register) Name() string { return "register" }

// History implements Workload.
func (r *Register) History() []history.Op { return r.rec.Ops() }

// Check implements Workload.
func (r *Register) Check() check.Report { return check.Registers(r.rec.Ops()) }

// Run implements Workload.
func (r *Register) Run(ctx context.Context, t Target) {
	runClients(ctx, t, r.rec, r.Settings, func(c *client) {
		g := r.groups[c.id/clientsPerKey]
		op := g.next(c)
		op = c.run(op)
		g.learn(op)
	})
}

// next draws an operation on the group's current key.
func (g *group) next(c *client) history.Op {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.left == 0 || g.open >= opensPerKey {
		g.keys = append(g.keys, fmt.Sprintf("register:%d:%d", g.id, len(g.keys)))
		g.seen, g.left, g.open = "", opsPerKey, 0
	}
	g.used++
	g.left--
	op := history.Op{Key: g.keys[len(g.keys)-1], Kind: history.Read}
	switch draw := c.rng.IntN(100); {
	case draw < 45:
		return op
	case draw < 70:
		op.Kind = history.Write
	case draw < 80 || g.seen == "":
		op.Kind = history.Create
	default:
		op.Kind, op.Expect = history.CompareAndSet, g.seen
	}
	op.Value = fmt.Sprintf("v%d.%d", g.id, g.used)
	return op
}

// learn remembers what the register held according to the reply, if it is still
// the group's key.
func (g *group) learn(op history.Op) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if op.Outcome == history.Unknown && op.Writes() && op.Key == g.keys[len(g.keys)-1] {
		g.open++
	}
	if !op.Known() || !op.Found && op.Kind != history.Write || op.Key != g.keys[len(g.keys)-1] {
		return
	}
	g.seen = op.Value
	if op.Kind == history.Read {
		g.seen = op.Read
	}
}

// Final reads every key through one node and each group's last through all.
func (r *Register) Final(ctx context.Context, t Target) error {
	rng := rand.New(rand.NewPCG(r.Seed, 0))
	for _, g := range r.groups {
		for i, key := range g.keys {
			nodes := []int{rng.IntN(t.Size())}
			if i == len(g.keys)-1 {
				nodes = everyNode(t)
			}
			if err := finalReads(ctx, t, r.rec, key, nodes); err != nil {
				return err
			}
		}
	}
	return nil
}

func everyNode(t Target) []int {
	var nodes []int
	for i := range t.Size() {
		nodes = append(nodes, i)
	}
	return nodes
}

// finalReads reads a key through the nodes named; in a healed cluster each of
// the reads must be answered.
func finalReads(ctx context.Context, t Target, rec *history.Recorder, key string, nodes []int) error {
	for _, node := range nodes {
		if err := ctx.Err(); err != nil {
			return err
		}
		op := perform(t, rec, history.Op{Client: -1, Node: node, Key: key, Kind: history.Read})
		if !op.Known() {
			return fmt.Errorf("final read of %s through node %d: %s", key, node+1, op.Error)
		}
	}
	return nil
}
