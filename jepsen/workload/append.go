package workload

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/trireme-dev/trireme/jepsen/check"
	"github.com/trireme-dev/trireme/jepsen/history"
)

const (
	listsAtOnce    = 5  // that transactions draw from
	appendsPerList = 80 // then a fresh list takes its place, so that reads stay short
	mostParts      = 4  // of one transaction
)

// Append runs transactions that append unique values to lists and read lists, of which
// the checker can derive the order.
type Append struct {
	Settings
	rec  *history.Recorder
	next atomic.Int64 // the last value

	mu    sync.Mutex
	made  int                 // lists ever made
	used  [listsAtOnce]int    // appends handed out
	lists [listsAtOnce]string // that are drawn from
}

// NewAppend makes the workload; nothing runs yet.
func NewAppend(s Settings) *Append {
	w := &Append{Settings: s, rec: history.NewRecorder(s.Began)}
	for i := range w.lists {
		w.fresh(i)
	}
	return w
}

// fresh puts a new list into a place.
func (a *Append) fresh(i int) {
	a.lists[i], a.used[i] = fmt.Sprintf("list:%d", a.made), 0
	a.made++
}

// Name implements Workload.
func (a *Append) Name() string { return "append" }

// History implements Workload.
func (a *Append) History() []history.Op { return a.rec.Ops() }

// Check implements Workload.
func (a *Append) Check() check.Report { return check.Appends(a.rec.Ops()) }

// Run implements Workload.
func (a *Append) Run(ctx context.Context, t Target) {
	runClients(ctx, t, a.rec, a.Settings, func(c *client) {
		c.run(a.draw(c.rng))
	})
}

// draw makes up a transaction.
func (a *Append) draw(rng *rand.Rand) history.Op {
	op := history.Op{Kind: history.Transaction}
	a.mu.Lock()
	defer a.mu.Unlock()
	for range 1 + rng.IntN(mostParts) {
		i := rng.IntN(listsAtOnce)
		if rng.IntN(2) == 0 {
			op.Parts = append(op.Parts, history.Part{Kind: history.Read, Key: a.lists[i], List: []string{}})
			continue
		}
		op.Parts = append(op.Parts, history.Part{Kind: history.Append, Key: a.lists[i], Value: fmt.Sprint(a.next.Add(1))})
		if a.used[i]++; a.used[i] >= appendsPerList {
			a.fresh(i)
		}
	}
	return op
}

// Final reads every list once, and those that were drawn from last through every node.
func (a *Append) Final(ctx context.Context, t Target) error {
	a.mu.Lock()
	made, last := a.made, a.lists
	a.mu.Unlock()
	for i := 0; i < made; i += mostParts {
		op := history.Op{Client: -1, Node: i % t.Size(), Kind: history.Transaction}
		for k := i; k < min(made, i+mostParts); k++ {
			op.Parts = append(op.Parts, history.Part{Kind: history.Read, Key: fmt.Sprintf("list:%d", k), List: []string{}})
		}
		if err := finalTransaction(ctx, t, a.rec, op); err != nil {
			return err
		}
	}
	for _, node := range everyNode(t) {
		op := history.Op{Client: -1, Node: node, Kind: history.Transaction}
		for _, key := range last {
			op.Parts = append(op.Parts, history.Part{Kind: history.Read, Key: key, List: []string{}})
		}
		if err := finalTransaction(ctx, t, a.rec, op); err != nil {
			return err
		}
	}
	return nil
}

// finalTransaction performs one that must be answered in a healed cluster.
func finalTransaction(ctx context.Context, t Target, rec *history.Recorder, op history.Op) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if op = perform(t, rec, op); !op.Known() {
		return fmt.Errorf("final reads through node %d: %s", op.Node+1, op.Error)
	}
	return nil
}

// partCommand is the command line of a part.
func partCommand(p history.Part) []string {
	switch {
	case p.Kind == history.Append:
		return []string{"RPUSH", p.Key, p.Value}
	case p.Kind == history.Add:
		return []string{"INCRBY", p.Key, fmt.Sprint(p.Delta)}
	case p.List == nil:
		return []string{"GET", p.Key}
	default:
		return []string{"LRANGE", p.Key, "0", "-1"}
	}
}

// interpretPart fills in the result of a part.
func interpretPart(p *history.Part, result json.RawMessage) error {
	switch {
	case p.Kind == history.Append:
		return json.Unmarshal(result, new(int))
	case p.Kind == history.Add:
		return json.Unmarshal(result, &p.Sum)
	case p.List == nil:
		found, text, err := text(result)
		if err == nil && found {
			_, err = fmt.Sscan(text, &p.Sum)
		}
		return err
	default:
		return json.Unmarshal(result, &p.List)
	}
}
