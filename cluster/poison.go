package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/cluster/consensus/logstore"
	"github.com/trireme-dev/trireme/cluster/poison"
	"github.com/trireme-dev/trireme/fsm"
)

// An entry whose apply has ended the process twice, one time after the other, is not applied a third time: the node goes on as a
// voter that stores entries, and applies nothing until it finds in its log, after the entry, that the operator has put the
// database into quarantine, or gets a copy of a state that is past it. docs/design/poison.md has the reasons.

// PoisonEntry is an entry before which a node waits for its operator.
type PoisonEntry struct {
	Index, Term uint64
	// Request is the number of the entry's request at which the processes ended, from 1; 0 if it was none of them.
	Request uint64
	fsm.Passage
}

// poisonGuard is the part of the adapter that keeps poison from being applied. Only poisoned is read by other goroutines.
type poisonGuard struct {
	mark     *poison.Mark
	orders   *poison.Orders
	store    *logstore.Store
	log      *slog.Logger
	poisoned atomic.Pointer[PoisonEntry] // nil while this node applies
}

// holds reports whether an entry is not applied now: it is poison, or this node waits before one.
func (a *adapter) holds(e *consensus.Entry) bool {
	if e.Command && a.mark.Suspect(e.Index) && a.poisoned.Load() == nil {
		if at, is := a.mark.Poison(); is {
			p := &PoisonEntry{e.Index, e.Term, at.Request, a.m.Describe(e.Data, at)}
			a.poisoned.Store(p)
			a.log.Error("an entry of the log has ended this node twice and is not applied again: this node answers no requests until its operator decides; see trireme recover",
				"index", p.Index, "database", p.Database, "operation", p.Operation, "databases", p.Databases)
			return true
		}
	}
	p := a.poisoned.Load()
	if p == nil {
		return false
	}
	if !e.Command {
		a.configured()
		return true
	}
	return !a.released(p, e)
}

// released looks for the operator's order in an entry after the poison. If the order is there, all entries before it are applied.
func (a *adapter) released(p *PoisonEntry, e *consensus.Entry) bool {
	var found fsm.QuarantineOrder
	for _, n := range fsm.Orders(e.Data, e.Term) {
		switch {
		case n.Index < p.Index && !a.m.Isolated(n):
			a.missed(n)
			return false
		case n.Index != p.Index || a.orders.Has(n): // one that is known has not helped
		default:
			if err := a.orders.Add(n); err != nil {
				a.stop(fmt.Sprintf("the quarantine of database %s can't be written to the disk: %v", n.Database, err))
				return false
			}
			found = n
		}
	}
	if found.Index == 0 {
		return false
	}
	a.mark.Forget()
	a.log.Warn("a database is in quarantine, by the word of the operator: this node goes on without it", "database", found.Database, "index", found.Index)
	for i := p.Index; i < e.Index && !a.stopped; i++ {
		if held, applied, err := consensus.ReadEntry(a.store, i); err != nil {
			a.stop(err.Error())
		} else if applied {
			a.one(&held)
		}
	}
	a.poisoned.Store(nil)
	return !a.stopped
}

// stop ends the process, and applies nothing any more.
func (a *adapter) stop(reason string) {
	a.stopped = true
	a.fatal(reason)
}

// passed notes that an entry was applied.
func (a *adapter) passed(index uint64) {
	if a.mark.Suspect(index) {
		a.mark.Forget()
	}
}

// overtaken ends the wait if the state is past the entry.
func (a *adapter) overtaken() {
	if p := a.poisoned.Load(); p != nil && a.m.Reached(p.Index) {
		a.mark.Forget()
		a.poisoned.Store(nil)
	}
}

// missed is called with an order about an entry that this node has applied, and the others have not. The next process applies
// the log again from this node's snapshot on, and knows the order; where the snapshot is past the entry, it has nothing to begin
// from.
func (a *adapter) missed(n fsm.QuarantineOrder) {
	if a.orders.Has(n) {
		a.stop(fmt.Sprintf("this node's state, and its snapshots, have what entry %d did to database %s, which the others have put into quarantine before it; "+
			"keep the data directory for inspection and let the node come back under a new id", n.Index, n.Database))
		return
	}
	if err := a.orders.Add(n); err != nil {
		a.stop(fmt.Sprintf("the quarantine of database %s can't be written to the disk: %v", n.Database, err))
		return
	}
	a.stop(fmt.Sprintf("this node has applied entry %d, before which the others have put database %s into quarantine; "+
		"start it again: it then applies its log without the entry", n.Index, n.Database))
}

// openPoison opens what the node knows of poison, once it holds the directory's lock.
func (n *Node) openPoison() (err error) {
	n.orders, err = poison.ReadOrders(n.opts.DataDir)
	if err != nil {
		return err
	}
	list, err := n.snapshots.List()
	if err != nil {
		return err
	}
	if len(list) > 0 {
		if err := n.orders.Applied(list[len(list)-1].Index); err != nil { // the oldest: it is used where the others are damaged
			return err
		}
	}
	if n.mark, err = poison.Open(n.opts.DataDir); err != nil {
		n.log.Warn("an entry of the log that ends this process again and again would not be recognised", "error", err)
		n.mark = poison.Nowhere()
	}
	n.machine.KeepProgress(n.mark.Progress())
	return nil
}

// closePoison is called when nothing is applied any more.
func (n *Node) closePoison() {
	if n.mark == nil {
		return
	}
	n.machine.KeepProgress(new(fsm.Progress))
	if err := n.mark.Close(); err != nil {
		n.log.Warn("the mark of applied entries was not closed", "error", err)
	}
}

// Poison returns the entry before which this node waits for its operator, nil if it waits for none.
func (n *Node) Poison() *PoisonEntry { return n.adapter.poisoned.Load() }

// ErrRecover says that a database can't be put into quarantine. Nothing has changed.
var ErrRecover = errors.New("cluster: no quarantine")

// handOverEvery is the interval at which a leader that waits before a poison entry looks for a voter that is past it.
const handOverEvery = time.Second

// quarantineAnswer is the answer of the leader to a node that asks for a quarantine.
type quarantineAnswer struct {
	Order   fsm.QuarantineOrder
	Refused string
	leaderError
}

// Quarantine makes all nodes go on without a database, beginning with the entry before which they wait. It returns when the
// leader has applied the order. The error is ErrRecover, with the reason, if the database can't be put into quarantine.
func (n *Node) Quarantine(ctx context.Context, database string) (fsm.QuarantineOrder, error) {
	ctx, cancel := context.WithTimeout(ctx, removeTimeout)
	defer cancel()
	var a quarantineAnswer
	err := n.askLeader(ctx, callQuarantine, []byte(database), func() (err error) {
		a.Order, err = n.quarantine(ctx, database)
		return err
	}, &a)
	return a.Order, err
}

func (a quarantineAnswer) error() error {
	if a.Refused != "" {
		return fmt.Errorf("%w: %s", ErrRecover, a.Refused)
	}
	return a.leaderError.error()
}

// answerQuarantine answers another node that asks this one as the leader.
func (n *Node) answerQuarantine(database string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), removeTimeout)
	defer cancel()
	order, err := n.quarantine(ctx, database)
	a := quarantineAnswer{Order: order}
	if errors.Is(err, ErrRecover) {
		a.Refused = reasonOf(err, ErrRecover)
	} else {
		a.leaderError = leaderErrorOf(err)
	}
	return json.Marshal(a)
}

// quarantine puts the order into the log, as the leader. Its own term is not open: the order goes past what waits for that.
func (n *Node) quarantine(ctx context.Context, database string) (fsm.QuarantineOrder, error) {
	term := n.consensus.Term()
	if n.consensus.Role() != consensus.Leader {
		return fsm.QuarantineOrder{}, fsm.ErrNoLeader
	}
	p := n.Poison()
	if err := n.judgeQuarantine(ctx, p, database); err != nil {
		return fsm.QuarantineOrder{}, err
	}
	order := fsm.QuarantineOrder{Database: p.Database, Number: p.Number, Index: p.Index}
	_, err := n.proposeAlone(&fsm.Entry{Term: term}, fsm.Quarantine.Code, fsm.Quarantine.Body(order))
	if errors.Is(err, fsm.ErrPoison) || errors.Is(err, errNotLeading) {
		err = fsm.ErrNoLeader // another order was first, or another leader
	}
	return order, err
}

// judgeQuarantine returns an error that says why a database must not be put into quarantine.
func (n *Node) judgeQuarantine(ctx context.Context, p *PoisonEntry, database string) error {
	var past, waiting []string
	for _, one := range n.Status(ctx).Nodes {
		switch {
		case one.Poison != nil:
			waiting = append(waiting, one.ID)
		case p != nil && one.AppliedIndex >= p.Index:
			past = append(past, one.ID)
		}
	}
	switch {
	case p == nil && len(waiting) == 0:
		return fmt.Errorf("%w: no node waits before an entry", ErrRecover)
	case p == nil:
		return fmt.Errorf("%w: %s has applied the entry before which %s waits; the entry is not at fault: give the nodes that wait the memory that the others have, remove apply.mark from their data directories and start them, or replace them",
			ErrRecover, n.opts.NodeID, strings.Join(waiting, ", "))
	case len(past) > 0:
		return fmt.Errorf("%w: %s has applied entry %d, before which %s waits; the entry is not at fault: give the nodes that wait the memory that the others have, remove apply.mark from their data directories and start them, or replace them",
			ErrRecover, strings.Join(past, ", "), p.Index, strings.Join(waiting, ", "))
	case p.Number == 0:
		return fmt.Errorf("%w: entry %d ended the nodes in the work of no database (operation %q): start them with a version in which that is mended", ErrRecover, p.Index, p.Operation)
	case p.Database != database:
		return fmt.Errorf("%w: entry %d ended the nodes in the work of database %s, not of %s", ErrRecover, p.Index, p.Database, database)
	}
	return nil
}

// leadPastPoison returns at once if this node applies. Otherwise it has a voter lead that is past the entry, or waits, as long as
// ctx, until this node goes on: it could open no term.
func (n *Node) leadPastPoison(ctx context.Context) bool {
	var asked time.Time
	for {
		p := n.Poison()
		if p == nil {
			return true
		}
		if time.Since(asked) > handOverEvery {
			asked = time.Now()
			for _, one := range n.Status(ctx).Nodes {
				if one.Poison == nil && one.Suffrage == "voter" && one.AppliedIndex >= p.Index {
					n.log.Info("handing leadership over: this node waits before a poison entry", "to", one.ID)
					if err := n.TransferLeadership(one.ID); err != nil {
						n.log.Warn("leadership was not transferred", "error", err)
					}
					break
				}
			}
		}
		if !pause(ctx, 5*time.Millisecond) {
			return false
		}
	}
}
