package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/cluster/consensus"
	"github.com/trireme-dev/trireme/cluster/session"
	"github.com/trireme-dev/trireme/fsm"
)

// ErrRecover says that a database can't be put into quarantine. Nothing has changed.
var ErrRecover = errors.New("cluster: no quarantine")

// handOverEvery is the interval at which a leader that waits before a poison entry looks for a voter that is past it.
const handOverEvery = time.Second

// quarantineAnswer is the answer of the leader to a node that asks for a quarantine.
type quarantineAnswer struct {
	Order           fsm.QuarantineOrder
	Refused, Failed string
	NoLeader        bool
}

// Quarantine makes all nodes go on without a database, beginning with the entry before which they wait. It returns when the
// leader has applied the order. The error is ErrRecover, with the reason, if the database can't be put into quarantine.
func (n *Node) Quarantine(ctx context.Context, database string) (fsm.QuarantineOrder, error) {
	ctx, cancel := context.WithTimeout(ctx, removeTimeout)
	defer cancel()
	order, err := n.askQuarantine(ctx, database)
	for began := time.Now(); errors.Is(err, fsm.ErrNoLeader) && time.Since(began) < session.Leaderless && pause(ctx, retryPause); {
		order, err = n.askQuarantine(ctx, database)
	}
	return order, err
}

// askQuarantine asks the leader, here or there.
func (n *Node) askQuarantine(ctx context.Context, database string) (fsm.QuarantineOrder, error) {
	leader, ok := n.leader()
	if !ok {
		return fsm.QuarantineOrder{}, fsm.ErrNoLeader
	}
	if leader.ID == n.opts.NodeID {
		return n.quarantine(ctx, database)
	}
	b, err := n.peers.ask(ctx, leader.Addr, callQuarantine, []byte(database))
	if err != nil {
		return fsm.QuarantineOrder{}, err
	}
	var a quarantineAnswer
	if err := json.Unmarshal(b, &a); err != nil {
		return a.Order, err
	}
	switch {
	case a.NoLeader:
		err = fsm.ErrNoLeader
	case a.Refused != "":
		err = fmt.Errorf("%w: %s", ErrRecover, a.Refused)
	case a.Failed != "":
		err = errors.New(a.Failed)
	}
	return a.Order, err
}

// answerQuarantine answers another node that asks this one as the leader.
func (n *Node) answerQuarantine(payload []byte, answer func([]byte, error)) {
	go func() { // ends with the entry
		ctx, cancel := context.WithTimeout(context.Background(), removeTimeout)
		defer cancel()
		order, err := n.quarantine(ctx, string(payload))
		a := quarantineAnswer{Order: order}
		switch {
		case err == nil:
		case errors.Is(err, fsm.ErrNoLeader):
			a.NoLeader = true
		case errors.Is(err, ErrRecover):
			a.Refused = strings.TrimPrefix(err.Error(), ErrRecover.Error()+": ")
		default:
			a.Failed = err.Error()
		}
		answer(json.Marshal(a))
	}()
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
