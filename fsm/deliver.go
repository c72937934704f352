package fsm

import (
	"trireme/fsm/env"
	"trireme/fsm/queue"
	"trireme/fsm/wire"
	"trireme/mutant"
)

// AdvanceLimit bounds the work of one Advance, and says what the leader's courier can take.
type AdvanceLimit struct {
	// Sweep is the most records to forget.
	Sweep int
	// Deliver: Claims, HostShare and Ticks count. An Advance without it touches no messages.
	Deliver bool
	// Epoch and Term are those of the leader that asks. In an entry of another term, or after a restore, an Advance
	// with Deliver moves no messages: it is that of a leader which is none any more, sent on to the next.
	Epoch, Term uint64
	// Claims is the number of free senders, HostShare the most attempts under way to one host, 0 for no limit.
	Claims, HostShare int
	// Ticks are the times of the schedules that are due, see queue.Tick.
	Ticks []queue.Tick
	// Spare keeps senders free for hosts that have none, and Hosts are limits of single hosts: see queue.Demand.
	Spare bool
	Hosts []queue.HostLimit
}

// Encode writes the fields.
func (n *AdvanceLimit) Encode(w *wire.Writer) {
	w.Uvarint(uint64(n.Sweep))
	if !n.Deliver {
		return
	}
	w.Bool(n.Deliver)
	w.Uvarint(n.Epoch)
	w.Uvarint(n.Term)
	w.Varint(int64(n.Claims))
	w.Varint(int64(n.HostShare))
	w.Uvarint(uint64(len(n.Ticks)))
	for i := range n.Ticks {
		w.Record(n.Ticks[i].Encode)
	}
	w.Bool(n.Spare)
	w.Uvarint(uint64(len(n.Hosts)))
	for i := range n.Hosts {
		n.Hosts[i].Encode(w)
	}
}

// Decode reads the fields.
func (n *AdvanceLimit) Decode(r *wire.Reader) {
	n.Sweep = int(min(r.Uvarint(), maxSweep))
	n.Deliver, n.Epoch, n.Term = r.Bool(), r.Uvarint(), r.Uvarint()
	n.Claims, n.HostShare = int(r.Varint()), int(r.Varint())
	if k := r.Count(1); k > 0 {
		n.Ticks = make([]queue.Tick, k)
		for i := range n.Ticks {
			n.Ticks[i].Decode(r.Record())
		}
	}
	if r.Len() == 0 { // entries of old have no more
		return
	}
	n.Spare = r.Bool()
	if k := r.Count(2); k > 0 {
		n.Hosts = make([]queue.HostLimit, k)
		for i := range n.Hosts {
			n.Hosts[i].Decode(r)
		}
	}
}

// Advanced says what an Advance did.
type Advanced struct {
	Swept int
	// Attempts are those it claimed. Each of them must be sent, and finished by Finish.
	Attempts []queue.Attempt
}

// Encode writes the fields.
func (n *Advanced) Encode(w *wire.Writer) {
	w.Uvarint(uint64(n.Swept))
	if len(n.Attempts) == 0 {
		return
	}
	w.Uvarint(uint64(len(n.Attempts)))
	for i := range n.Attempts {
		w.Record(n.Attempts[i].Encode)
	}
}

// Decode reads the fields.
func (n *Advanced) Decode(r *wire.Reader) {
	n.Swept = int(r.Uvarint())
	if k := r.Count(1); k > 0 {
		n.Attempts = make([]queue.Attempt, k)
		for i := range n.Attempts {
			n.Attempts[i].Decode(r.Record())
		}
	}
}

// advance sweeps, and moves what is due of messages.
func (s *State) advance(e *env.Env, n AdvanceLimit) (Advanced, error) {
	out := Advanced{Swept: s.sweepAll(e, n.Sweep)}
	if n.Deliver && (n.Term == s.term || mutant.Is(mutant.TermIgnored)) && n.Epoch == s.epoch {
		s.flows.Advance(e, s.messages)
		out.Attempts = s.messages.Advance(e, queue.Demand{
			Epoch: n.Epoch, Term: n.Term, Claims: n.Claims, HostShare: n.HostShare, Ticks: n.Ticks, Spare: n.Spare, Hosts: n.Hosts,
		})
		s.told(e)
	}
	return out, nil
}

// The operations on messages. Those that add to the state are refused when memory is full.

func (s *State) finish(e *env.Env, n queue.Results) (queue.Fates, error) {
	defer s.told(e)
	return s.messages.Finish(e, n)
}

func (s *State) renew(e *env.Env, n queue.Renewal) (queue.Renewed, error) {
	return s.messages.Renew(e, n)
}

func (s *State) publish(e *env.Env, n queue.Publications) (queue.Receipts, error) {
	if s.full() {
		return queue.Receipts{}, queue.ErrMemory
	}
	return s.messages.Publish(e, n)
}

func (s *State) cancelMessages(e *env.Env, n queue.Cancellation) (queue.Cancelled, error) {
	return s.messages.Cancel(e, n)
}

func (s *State) changeQueue(e *env.Env, n queue.QueueChange) (queue.Queue, error) {
	return s.messages.ChangeQueue(e, n)
}

func (s *State) putSchedule(e *env.Env, n queue.SchedulePut) (queue.ScheduleRef, error) {
	if s.full() {
		return queue.ScheduleRef{}, queue.ErrMemory
	}
	return s.messages.PutSchedule(e, n)
}

func (s *State) changeSchedule(e *env.Env, n queue.ScheduleChange) (queue.ScheduleRef, error) {
	return s.messages.ChangeSchedule(e, n)
}

func (s *State) changeGroup(e *env.Env, n queue.GroupChange) (queue.Group, error) {
	return s.messages.ChangeGroup(e, n)
}

func (s *State) changeFlow(e *env.Env, n queue.FlowChange) (queue.FlowInfo, error) {
	return s.messages.ChangeFlow(e, n)
}

func (s *State) setParallelism(e *env.Env, n queue.Parallelism) (queue.Parallelism, error) {
	return s.messages.SetParallelism(e, n)
}

func (s *State) rotateKeys(e *env.Env, n queue.Rotation) (queue.Keys, error) {
	return s.messages.Rotate(e, n)
}

func (s *State) deleteDead(e *env.Env, n queue.DeadSelection) (queue.DeadDeleted, error) {
	return s.messages.DeleteDead(e, n)
}

func (s *State) retryDead(e *env.Env, n queue.DeadRetry) (queue.DeadRetried, error) {
	return s.messages.RetryDead(e, n)
}

func (s *State) configureMessages(e *env.Env, n queue.Settings) (queue.Settings, error) {
	return s.messages.Configure(e, n)
}

// full tells whether the state is as large as it may be.
func (s *State) full() bool { return s.settings.MaxMemory > 0 && s.used() >= s.settings.MaxMemory }

// Messages is everything about messages, for reading: nothing of it may be changed, and it is valid as long as the view.
func (v *View) Messages() *queue.Store { return v.s.messages }

// Epoch is the epoch of the state: a restored backup has another one than the state it was made of.
func (v *View) Epoch() uint64 { return v.s.epoch }
