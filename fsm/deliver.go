package fsm

import (
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// AdvanceLimit bounds the work of one Advance, and says what the leader's deliverer can take.
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

// Fields codes the value in its wire format.
func (al *AdvanceLimit) Fields(c *wire.Codec) {
	wire.Uint(c, &al.Sweep)
	if c.Reading() && (al.Sweep < 0 || al.Sweep > maxSweep) {
		al.Sweep = maxSweep
	}
	if !c.More(al.Deliver) {
		return
	}
	c.Bool(&al.Deliver)
	c.Uvarint(&al.Epoch)
	c.Uvarint(&al.Term)
	c.Int(&al.Claims)
	c.Int(&al.HostShare)
	wire.Records(c, &al.Ticks)
	c.Bool(&al.Spare)
	wire.List(c, &al.Hosts, 2)
}

// Advanced says what an Advance did.
type Advanced struct {
	Swept int
	// Attempts lists the claimed attempts. Each of them must be sent, and finished by Finish.
	Attempts []queue.Attempt
}

// Fields codes the value in its wire format.
func (a *Advanced) Fields(c *wire.Codec) {
	wire.Uint(c, &a.Swept)
	if c.More(len(a.Attempts) > 0) {
		wire.Records(c, &a.Attempts)
	}
}

// advance sweeps, and moves what is due of messages.
func (s *State) advance(e *env.Env, n AdvanceLimit) (Advanced, error) {
	out := Advanced{Swept: s.sweepAll(e, n.Sweep)}
	if n.Deliver && n.Term == s.applier.term && n.Epoch == s.epoch {
		out.Attempts = s.claim(e, &n)
	}
	return out, nil
}

// claim claims attempts of all databases. Each that has something due gets an equal part of the free senders first, and
// what some leave the others get; who comes first changes with every entry, so that none is always the last.
func (s *State) claim(e *env.Env, n *AdvanceLimit) (all []queue.Attempt) {
	var busy []*database
	for _, d := range s.advancing(e) {
		s.applier.at(d)
		d = s.openWork(d)
		s.expireWaits(e, d)
		if d == s.home || d.due(e) || d.messages.HasForeignClaims(n.Epoch, n.Term) {
			busy = append(busy, d)
		}
		s.close()
	}
	if len(busy) == 1 && busy[0] == s.home {
		free := n.Claims
		return s.claimIn(s.home, e, n, free, &free, nil)
	}
	free := min(n.Claims, queue.MaxClaims)
	for i, d := range busy {
		left := len(busy) - i
		all = s.claimIn(d, e, n, (free+left-1)/left, &free, all)
	}
	for i := 0; i < len(busy) && free > 0; i++ {
		all = s.claimIn(busy[i], e, n, free, &free, all)
	}
	return all
}

// advancing lists the databases in which an Advance may have something to do, and default unless it is in quarantine, in the order
// of their names from another one on for each entry.
func (s *State) advancing(e *env.Env) (list []*database) {
	want := func(n *summary) bool {
		return n.advances(e.Time) || n.traits&(hasClaims|isUntrimmed) != 0
	}
	begin := s.databases.At(int(e.Index % uint64(s.databases.Len())))
	homed := s.home.quarantined != 0
	take := func(d *database) {
		// default stands in its place among them
		if !homed && d.name != DefaultDB && (d.name < begin) == (DefaultDB < begin) && d.name > DefaultDB {
			list, homed = append(list, s.home), true
		}
		list, homed = append(list, d), homed || d.name == DefaultDB
	}
	d := s.from(begin, true, want)
	for ; d != nil; d = s.after(d, want) {
		take(d)
	}
	if !homed && DefaultDB >= begin {
		list, homed = append(list, s.home), true
	}
	for d = s.first(want); d != nil && d.name < begin; d = s.after(d, want) {
		take(d)
	}
	if !homed {
		list = append(list, s.home)
	}
	return list
}

// expireWaits ends the waits of a database whose time is over.
func (s *State) expireWaits(e *env.Env, d *database) {
	if at, ok := d.workflows.NextDue(); ok && at <= e.Now {
		t := tenant{s, d}
		t.setRoom(e)
		d.workflows.Advance(e, d.messages)
		t.endRoom()
		return
	}
	d.workflows.Advance(e, d.messages)
}

// due reports whether a message or a schedule of the database waits for an Advance.
func (d *database) due(e *env.Env) bool {
	at, ok := d.messages.NextDue(e.Time)
	return ok && at <= e.Now
}

// claimIn claims up to share attempts of a database, and takes them off what is free.
func (s *State) claimIn(d *database, e *env.Env, n *AdvanceLimit, share int, free *int, all []queue.Attempt) []queue.Attempt {
	s.applier.at(d)
	d = s.openWork(d)
	defer s.close()
	t := tenant{s, d}
	demand := queue.Demand{
		Epoch: n.Epoch, Term: n.Term, Claims: share, HostShare: n.HostShare, Ticks: n.ticksOf(d.key()), KeepSendersFree: n.Spare, Hosts: n.Hosts,
	}
	if demand.MaxTick, demand.Paced = t.budget(e), s.databases.Len() > 1; len(demand.Ticks) > 0 {
		_ = t.reserve(e, d.messages.TicksPrice(e.Now, demand.Ticks).Growth) // a tick that has no room then is lost, and told
	}
	t.setRoom(e)
	got := d.messages.Advance(e, demand)
	d.passReports(e)
	t.endRoom()
	for i := range got {
		got[i].DB = d.key()
	}
	*free -= len(got)
	return append(all, got...)
}

// ticksOf are the ticks of the schedules of a database.
func (al *AdvanceLimit) ticksOf(db string) (list []queue.Tick) {
	for i := range al.Ticks {
		if al.Ticks[i].DB == db {
			list = append(list, al.Ticks[i])
		}
	}
	return list
}

// finish records results of attempts of any database.
func (s *State) finish(e *env.Env, n queue.Results) (out queue.Dispositions, err error) {
	for from, to := 0, 0; to == 0 || from < len(n.Items); from = to {
		for to = from + 1; to < len(n.Items) && n.Items[to].DB == n.Items[from].DB; to++ {
		}
		one, err := s.finishIn(e, n.Items[from:min(to, len(n.Items))])
		if err != nil {
			return out, err
		}
		out.Items = append(out.Items, one...)
	}
	return out, nil
}

// finishIn records results of attempts of one database.
func (s *State) finishIn(e *env.Env, items []queue.Result) ([]queue.Disposition, error) {
	d := s.home
	if len(items) > 0 {
		d = s.database(items[0].DB)
	}
	if d == nil || d.quarantined != 0 {
		stale := make([]queue.Disposition, len(items)) // its database was deleted, or is in quarantine
		for i := range stale {
			stale[i].Stale = true
		}
		return stale, nil
	}
	s.applier.at(d)
	d = s.openWork(d)
	defer s.close()
	t := tenant{s, d}
	if left := t.left(e); left != queue.Unlimited {
		growth := int64(0)
		for i := range items {
			growth += d.messages.ResultPrice(&items[i]).Growth
		}
		if growth > left {
			_ = t.reserve(e, growth) // what has no room then is left out, and told
		}
	}
	t.setRoom(e)
	out, err := d.messages.Finish(e, queue.Results{Items: items})
	d.passReports(e)
	t.endRoom()
	return out.Items, err
}

// renew prolongs the leases of attempts of any database.
func (s *State) renew(e *env.Env, n queue.Renewal) (queue.Renewed, error) {
	out := queue.Renewed{Lease: e.Now + queue.Lease}
	for i, ref := range n.Running {
		d := s.database(n.Database(i))
		if d == nil || d.quarantined != 0 {
			out.Lost = append(out.Lost, ref)
			continue
		}
		s.applier.at(d)
		d = s.openWork(d)
		one, err := d.messages.Renew(e, queue.Renewal{Running: n.Running[i : i+1]})
		if err != nil {
			return out, err
		}
		out.Lost = append(out.Lost, one.Lost...)
		s.close()
	}
	return out, nil
}

// Epoch is the epoch of the state: a restored backup has another one than the state it was made of.
func (v *View) Epoch() uint64 { return v.s.epoch }
