package workflow

import (
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// maxMoved is the most runs that one entry moves.
const maxMoved = 200

// RunMove is the argument of the operation MoveRuns: active runs are moved to another deployment. One run is named by RunID; without it those
// of the deployment From that Filter chooses are meant.
type RunMove struct {
	RunID string
	// Created tells apart runs of one id; 0 is the newest.
	Created int64
	From    string
	Filter  Filter
	// To is the deployment, empty for none: then the run is delivered to its own URL.
	To string
	// Until and After are for going on: what the RunsMoved before says.
	Until, After uint64
}

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (m *RunMove) Fields(c *wire.Codec) {
	c.Text(&m.RunID)
	c.Varint(&m.Created)
	c.Text(&m.From)
	c.Record(m.Filter.Fields)
	c.Text(&m.To)
	c.Uvarint(&m.Until)
	c.Uvarint(&m.After)
}

// RunsMoved is the result of the operation MoveRuns.
type RunsMoved struct {
	Count int
	// Run is the run that was named.
	Run RunRef
	// More: others may be left, of those that were on the deployment before Until.
	More         bool
	Until, After uint64
}

// Fields codes the value in its wire format.
func (m *RunsMoved) Fields(c *wire.Codec) {
	c.Int(&m.Count)
	m.Run.Fields(c)
	c.Bool(&m.More)
	c.Uvarint(&m.Until)
	c.Uvarint(&m.After)
}

// Move moves active runs to another deployment. An attempt that is under way goes on; whatever comes goes to the other one.
//
// The errors are ErrNotFound for an unknown run or deployment, ErrConflict for a run that is over, and ErrInvalid for a move to the same one.
func (s *Store) Move(e *env.Env, q *queue.Store, n RunMove) (out RunsMoved, err error) {
	to, err := s.moveTo(&n)
	if err != nil {
		return out, err
	}
	if n.RunID != "" {
		r := s.Find(n.RunID, n.Created)
		switch {
		case r == nil:
			return out, notFound("workflow run %s not found", n.RunID)
		case !r.Active():
			return out, refusal(ErrConflict, "workflow run %s is over: only active runs are moved", n.RunID)
		}
		out.Run = RunRef{ownedText(r.ID), r.Created, r.State}
		if r.Deployment != to {
			s.moveRun(e, q, r, to)
			out.Count = 1
		}
		return out, nil
	}
	list, out, _ := s.movable(&n)
	for _, r := range list {
		s.moveRun(e, q, r, to)
	}
	return out, nil
}

func (s *Store) moveRun(e *env.Env, q *queue.Store, r *Run, to string) {
	k := s.edit(e, q, r)
	k.move(to)
	k.store()
}

// moveTo returns the name of the deployment that runs are moved to.
func (s *Store) moveTo(n *RunMove) (string, error) {
	if n.RunID == "" {
		switch _, found := s.deployments.byName.Get(n.From); {
		case !found:
			return "", noDeployment(n.From)
		case n.From == n.To:
			return "", invalid("invalid to: the runs are on deployment %s already", n.To)
		}
	}
	if n.To == "" {
		return "", nil
	}
	d, found := s.deployments.byName.Get(n.To)
	if !found {
		return "", noDeployment(n.To)
	}
	return d.Name, nil
}

// movable returns the runs of a deployment that one entry moves, the oldest first, and what the result says of them. It says also how many
// runs it has looked at.
func (s *Store) movable(n *RunMove) (list []*Run, out RunsMoved, looked int) {
	out.Until, out.After = n.Until, n.After
	if out.Until == 0 {
		out.Until = s.serial + 1
	}
	held, filter := 0, s.chooser(&n.Filter)
	s.eachOn(n.From, n.After, func(r *Run) bool {
		if r.No >= out.Until {
			return false
		}
		if out.More = looked == MaxScan || len(list) == maxMoved; out.More {
			return false
		}
		looked++
		if filter.match(r, r.Created) {
			if held += s.openOf(r.No); held > maxHeld && len(list) > 0 {
				out.More = true
				return false
			}
			list = append(list, r)
		}
		out.After = r.No
		return true
	})
	out.Count = len(list)
	return list, out, looked
}

// MovePrice returns the price of Move: in pieces.
func (s *Store) MovePrice(_ *env.Env, n *RunMove) env.Price {
	p := env.Price{Work: operation + 3*n.Filter.size()}
	to, err := s.moveTo(n)
	if err != nil {
		return p
	}
	if n.RunID != "" {
		if r := s.Find(n.RunID, n.Created); r != nil && r.Active() {
			p.Add(s.movePrice(r, to))
		}
		return p
	}
	list, _, looked := s.movable(n)
	p.Work += lookWork * int64(looked)
	for _, r := range list {
		p.Add(s.movePrice(r, to))
	}
	return p
}

func (s *Store) movePrice(r *Run, to string) env.Price {
	return env.Price{Work: entryWork * int64(2+s.openOf(r.No)), Growth: s.moveGrowth(r, to)}
}
