package failover

import (
	"strconv"
	"time"

	"github.com/hashicorp/raft"
)

// Ask is the question of a voter that found the leader of Term dead, or silent.
type Ask struct {
	From, Leader              string
	Term, LastTerm, LastIndex uint64
	// Silent: not known to be dead. A node of an older version does not know the field: it dials, and refuses.
	Silent bool `json:",omitempty"`
	// SlowDisk: the asking node's disk is slow. A node of an older version goes by the logs alone.
	SlowDisk bool `json:",omitempty"`
}

// Answer is the asked node's reply.
type Answer struct {
	Granted bool
	Leads   bool   // the asked node leads
	Why     string // why not granted
}

// majority asks the other voters.
func (w *Watcher) majority(leader raft.Server, term uint64, silent bool) bool {
	q := Ask{From: string(w.c.ID), Leader: string(leader.Address), Term: term, Silent: silent, SlowDisk: w.slowDisk()}
	q.LastTerm, q.LastIndex = last(w.c.Raft)
	servers := w.c.Raft.GetConfiguration().Configuration().Servers
	voters, yes := 0, 1
	got := make(chan bool, len(servers))
	asked := 0
	for _, s := range servers {
		if s.Suffrage != raft.Voter {
			continue
		}
		voters++
		if s.ID == w.c.ID || silent && s.ID == leader.ID { // it does not answer, and only the others can agree
			continue
		}
		asked++
		go func() {
			a, err := w.c.Ask(s, q)
			if err == nil && !a.Granted && !silent { // who hears the leader says so all the time
				w.c.Log(string(s.ID) + " says no: " + a.Why)
			}
			got <- err == nil && a.Granted
		}()
	}
	for range asked {
		if <-got {
			if yes++; isMajority(yes, voters) {
				return true
			}
		}
	}
	w.Stats.Denied.Add(1)
	return false
}

// isMajority reports whether so many of the voters are more than half of them.
func isMajority(yes, voters int) bool { return yes > voters/2 }

// Answer replies to the question of another node.
func (w *Watcher) Answer(q Ask) Answer {
	r := w.c.Raft
	no := func(why string) Answer { return Answer{Why: why, Leads: r.State() == raft.Leader} }
	addr, id := r.LeaderWithID()
	switch {
	case q.LastIndex == 0:
		return no("only asked whether it leads")
	case r.State() == raft.Leader:
		return no("leads")
	case r.CurrentTerm() > q.Term:
		return no("later term")
	case addr != "" && string(addr) != q.Leader:
		return no("another leader")
	}
	if addr != "" && !w.silent() { // without a leader of its own this node has nothing to object
		if q.Silent { // a process that is stopped, or on a lost host, can't be found dead
			return no("hears the leader")
		}
		if !w.foundDead(raft.Server{ID: id, Address: addr}, q.Term) {
			return no("leader is alive")
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Now().Before(w.firing) {
		return no("campaigns")
	}
	// A candidate that has not won its pre-vote waits for an election timeout: with the same log the other goes first. One whose disk
	// is healthy goes before one whose disk is slow, which leads only if no other voter has as much of the log.
	first := string(w.c.ID) < q.From
	if w.slowDisk() != q.SlowDisk {
		first = q.SlowDisk
	}
	first = first && r.State() == raft.Follower
	t, i := last(r)
	if t > q.LastTerm || t == q.LastTerm && (i > q.LastIndex || i == q.LastIndex && first) {
		return no("ahead")
	}
	w.quiet = time.Now().Add(promise)
	return Answer{Granted: true}
}

// last returns the term and index of the last entry that this node holds.
func last(r *raft.Raft) (term, index uint64) {
	s := r.Stats()
	n := func(k string) uint64 { v, _ := strconv.ParseUint(s[k], 10, 64); return v }
	if n("last_snapshot_index") > n("last_log_index") {
		return n("last_snapshot_term"), n("last_snapshot_index")
	}
	return n("last_log_term"), n("last_log_index")
}
