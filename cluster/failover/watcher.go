package failover

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/raft"
)

const (
	dialTime = 20 * time.Millisecond // a dead port on a live host refuses within a round trip
	poll     = 5 * time.Millisecond
	promise  = 100 * time.Millisecond // how long a voter that agreed does not campaign itself
)

// Ask is the question of a voter that found the leader of Term dead.
type Ask struct {
	From, Leader              string
	Term, LastTerm, LastIndex uint64
}

// Answer is the asked node's reply.
type Answer struct {
	Granted bool
	Leads   bool   // the asked node leads
	Why     string // why not granted
}

// Config describes one node.
type Config struct {
	Raft      *raft.Raft
	Transport raft.Transport // the one NewRaft was given
	ID        raft.ServerID
	// Ask puts a question to another node, whose Watcher.Answer replies, within
	// 100 ms. Without consent half the elections split: measured, docs/design/failover.md.
	Ask func(raft.Server, Ask) (Answer, error)
	// Watch opens an idle connection to a cluster port, which that port keeps open
	// until its process ends. A refused dial must be recognizable as ECONNREFUSED.
	Watch  func(addr raft.ServerAddress, timeout time.Duration) (net.Conn, error)
	Jitter time.Duration // longest random pause between two tries; 40 ms
	Budget int           // most campaigns in 10 s; 5
	Log    func(string)
}

// Stats counts what a watcher saw and did.
type Stats struct {
	Closed, Alive, Unknown, Refused, Denied, Vetoed, Fired atomic.Int64
}

// Watcher watches the leader for one node.
type Watcher struct {
	Stats Stats
	c     Config
	stop  chan struct{}
	wg    sync.WaitGroup

	mu     sync.Mutex
	conn   net.Conn
	quiet  time.Time // until then a promise forbids to campaign
	firing time.Time // until then this node campaigns and promises nothing
	fired  []time.Time
}

// Start begins to watch.
func Start(c Config) *Watcher {
	if c.Jitter == 0 {
		c.Jitter = 40 * time.Millisecond
	}
	if c.Budget == 0 {
		c.Budget = 5
	}
	if c.Log == nil {
		c.Log = func(string) {}
	}
	w := &Watcher{c: c, stop: make(chan struct{})}
	w.wg.Go(w.run)
	return w
}

// Stop ends the watch; call it before the raft node is shut down.
func (w *Watcher) Stop() {
	close(w.stop)
	w.Break()
	w.wg.Wait()
}

// Break closes the watched connection from this side; for tests.
func (w *Watcher) Break() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conn != nil {
		w.conn.Close()
	}
}

func (w *Watcher) run() {
	for w.sleep(poll) {
		addr, id := w.c.Raft.LeaderWithID()
		term := w.c.Raft.CurrentTerm()
		if !w.follows(addr, term) {
			continue
		}
		// Only a leader that could be reached once can be found dead later.
		conn, err := w.c.Watch(addr, 10*dialTime)
		if err != nil {
			continue
		}
		w.watch(conn, raft.Server{ID: id, Address: addr}, term)
	}
}

// sleep is false when the watcher is stopped.
func (w *Watcher) sleep(d time.Duration) bool {
	select {
	case <-w.stop:
		return false
	case <-time.After(d):
		return true
	}
}

// follows reports whether this node still follows leader in term.
func (w *Watcher) follows(leader raft.ServerAddress, term uint64) bool {
	r := w.c.Raft
	addr, id := r.LeaderWithID()
	return addr != "" && addr == leader && id != w.c.ID && r.State() == raft.Follower && r.CurrentTerm() == term
}

// leaderless reports whether this node has no leader but that one: it follows it, or
// another node's campaign has ended its term and no node has won so far.
func (w *Watcher) leaderless(leader raft.ServerAddress) bool {
	addr, _ := w.c.Raft.LeaderWithID()
	return w.c.Raft.State() == raft.Follower && (addr == "" || addr == leader)
}

// watch blocks on the connection until it ends or the leader is another.
func (w *Watcher) watch(conn net.Conn, leader raft.Server, term uint64) {
	for again := poll; conn != nil; again = min(2*again, time.Second) {
		w.mu.Lock()
		w.conn = conn
		w.mu.Unlock()
		ended := make(chan struct{})
		go func() {
			b := make([]byte, 1)
			for {
				if _, err := conn.Read(b); err != nil { // the port never writes first
					close(ended)
					return
				}
			}
		}()
		for open := true; open; {
			select {
			case <-ended:
				open = false
			case <-w.stop:
				conn.Close()
				return
			case <-time.After(4 * poll):
				if !w.leaderless(leader.Address) {
					conn.Close()
					return
				}
				open = w.follows(leader.Address, term)
			}
		}
		conn.Close()
		w.Stats.Closed.Add(1)
		if conn = w.suspect(leader, term); conn != nil && !w.sleep(again) {
			conn.Close()
			return
		}
	}
}

// suspect is called when the connection ended. It campaigns if the leader is dead, and returns a new connection if it
// is not.
func (w *Watcher) suspect(leader raft.Server, term uint64) net.Conn {
	for w.leaderless(leader.Address) {
		switch dead, conn := w.dead(leader, term); {
		case conn != nil:
			w.Stats.Alive.Add(1)
			if w.follows(leader.Address, term) {
				return conn
			}
			conn.Close() // it leads in another term: watch it anew
			return nil
		case dead:
			w.Stats.Refused.Add(1)
			w.campaign(leader, term)
			return nil
		}
		w.Stats.Unknown.Add(1) // a full backlog, a lost host: the timeout decides
		if !w.sleep(dialTime) {
			return nil
		}
	}
	return nil
}

// dead reports whether the process that led in term has certainly ended: its port refuses,
// or a new process behind it says that it does not lead. A connection is
// returned if the leader is there. Neither means: not known.
func (w *Watcher) dead(leader raft.Server, term uint64) (bool, net.Conn) {
	conn, err := w.c.Watch(leader.Address, dialTime)
	if err != nil {
		return errors.Is(err, syscall.ECONNREFUSED), nil
	}
	a, err := w.c.Ask(leader, Ask{From: string(w.c.ID), Leader: string(leader.Address), Term: term})
	if err == nil && a.Leads {
		return false, conn
	}
	conn.Close()
	return err == nil, nil
}

// campaign runs until there is a leader or raft itself has taken over.
func (w *Watcher) campaign(leader raft.Server, term uint64) {
	r, watched := w.c.Raft, term
	// What the leader sent last is still being stored here and there; who asks
	// for votes before it is may find the other ahead, and be stuck.
	if !w.sleep(poll) {
		return
	}
	for range 8 {
		addr, _ := r.LeaderWithID()
		if r.State() != raft.Follower || (addr != "" && addr != leader.Address) || !w.voter() {
			return
		}
		if r.CurrentTerm() != term {
			// Another campaigns: let it win, and go on only if it does not.
			if addr != "" || !w.sleep(promise) {
				return
			}
			term = r.CurrentTerm()
			continue
		}
		if w.majority(leader, watched, term) && w.fire(leader, watched, term) {
			w.sleep(promise)
			continue // at the top: won, lost, or still a candidate: return
		}
		if !w.sleep(poll + time.Duration(rand.Int64N(int64(w.c.Jitter)))) {
			return
		}
	}
}

// majority asks the other voters.
func (w *Watcher) majority(leader raft.Server, watched, term uint64) bool {
	q := Ask{From: string(w.c.ID), Leader: string(leader.Address), Term: term}
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
		if s.ID == w.c.ID {
			continue
		}
		asked++
		go func() {
			a, err := w.c.Ask(s, q)
			if err == nil && !a.Granted {
				w.c.Log(string(s.ID) + " says no: " + a.Why)
			}
			got <- err == nil && a.Granted
		}()
	}
	for range asked {
		if <-got {
			if yes++; yes > voters/2 {
				return true
			}
		}
	}
	w.Stats.Denied.Add(1)
	return false
}

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
	if addr != "" { // without a leader of its own this node has nothing to object
		dead, conn := w.dead(raft.Server{ID: id, Address: addr}, q.Term)
		if conn != nil {
			conn.Close()
		}
		if !dead {
			return no("leader is alive")
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Now().Before(w.firing) {
		return no("campaigns")
	}
	t, i := last(r)
	if t > q.LastTerm || t == q.LastTerm && (i > q.LastIndex || i == q.LastIndex && string(w.c.ID) < q.From) {
		return no("ahead")
	}
	w.quiet = time.Now().Add(promise)
	return Answer{Granted: true}
}

// fire makes this node a candidate, unless anything has changed meanwhile.
func (w *Watcher) fire(leader raft.Server, watched, term uint64) bool {
	if dead, conn := w.dead(leader, watched); !dead {
		if conn != nil {
			conn.Close()
		}
		w.Stats.Vetoed.Add(1)
		return false
	}
	w.mu.Lock()
	now := time.Now()
	for len(w.fired) > 0 && now.Sub(w.fired[0]) > 10*time.Second {
		w.fired = w.fired[1:]
	}
	addr, _ := w.c.Raft.LeaderWithID()
	if now.Before(w.quiet) || len(w.fired) >= w.c.Budget || w.c.Raft.State() != raft.Follower ||
		w.c.Raft.CurrentTerm() != term || (addr != "" && addr != leader.Address) {
		w.mu.Unlock()
		w.Stats.Vetoed.Add(1)
		return false
	}
	w.firing = now.Add(promise)
	w.fired = append(w.fired, now)
	w.mu.Unlock()
	w.Stats.Fired.Add(1)
	return TimeoutNow(w.c.Transport, w.c.ID) == nil
}

// TimeoutNow makes the node behind t campaign in the next term, whatever its
// state: a leader, too, steps down.
func TimeoutNow(t raft.Transport, id raft.ServerID) error {
	h := raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax}
	return t.TimeoutNow(id, t.LocalAddr(), &raft.TimeoutNowRequest{RPCHeader: h}, &raft.TimeoutNowResponse{})
}

// voter reports whether this node may be elected. TimeoutNow does not ask: a
// nonvoter that gets one disturbs the cluster for nothing.
func (w *Watcher) voter() bool {
	for _, s := range w.c.Raft.GetConfiguration().Configuration().Servers {
		if s.ID == w.c.ID {
			return s.Suffrage == raft.Voter
		}
	}
	return false
}

// last is the term and index of the last entry that this node holds.
func last(r *raft.Raft) (term, index uint64) {
	s := r.Stats()
	n := func(k string) uint64 { v, _ := strconv.ParseUint(s[k], 10, 64); return v }
	if n("last_snapshot_index") > n("last_log_index") {
		return n("last_snapshot_term"), n("last_snapshot_index")
	}
	return n("last_log_term"), n("last_log_index")
}
