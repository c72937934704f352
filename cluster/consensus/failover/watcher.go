package failover

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"net"
	"slices"
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

	budget     = 5 // most campaigns in budgetTime
	budgetTime = 10 * time.Second
)

// Config describes one node.
type Config struct {
	Raft *raft.Raft
	ID   raft.ServerID
	// Campaign makes this node a candidate of the next term, whatever its state.
	Campaign func() error
	// Ask puts a question to another node, whose Watcher.Answer replies, within 100 ms.
	Ask func(raft.Server, Ask) (Answer, error)
	// Watch opens an idle connection to a cluster port, which that port keeps open until its process ends. A refused dial must
	// be recognizable as ECONNREFUSED.
	Watch func(addr raft.ServerAddress, timeout time.Duration) (net.Conn, error)
	// Silent reports whether this node hears nothing from the leader that it follows, for as long as raft would wait at
	// least. With nil only dead leaders are replaced.
	Silent func() bool
	// SlowDisk reports whether this node's disk is slow: then a voter with as long a log goes first. Nil: it is not.
	SlowDisk func() bool
	Jitter   time.Duration // longest random pause between two tries; 40 ms
	Log      func(string)
}

// Stats counts what a watcher saw and did.
type Stats struct {
	Closed, Alive, Unknown, Refused, Silent, Denied, Fired atomic.Int64
}

// Watcher watches the leader for one node.
type Watcher struct {
	Stats Stats
	c     Config
	stop  chan struct{}
	wg    sync.WaitGroup

	mu     sync.Mutex
	quiet  time.Time // until then a promise forbids to campaign
	firing time.Time // until then this node campaigns and promises nothing
	fired  []time.Time
}

// Start begins to watch.
func Start(c Config) *Watcher {
	c.Jitter = cmp.Or(c.Jitter, 40*time.Millisecond)
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
	w.wg.Wait()
}

func (w *Watcher) run() {
	for w.sleep(poll) {
		addr, id := w.c.Raft.LeaderWithID()
		term := w.c.Raft.CurrentTerm()
		if !w.follows(addr, term) {
			continue
		}
		leader := raft.Server{ID: id, Address: addr}
		// Only a leader that could be reached once can be found dead later.
		conn, err := w.c.Watch(addr, 10*dialTime)
		if err != nil {
			w.listen(leader, term)
			continue
		}
		w.watch(conn, leader, term)
	}
}

// sleep returns false when the watcher is stopped.
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

// leaderless reports whether this node has no leader but that one: it follows it, or another node's campaign has ended its term
// and no node has won so far.
func (w *Watcher) leaderless(leader raft.ServerAddress) bool {
	addr, _ := w.c.Raft.LeaderWithID()
	return w.c.Raft.State() == raft.Follower && (addr == "" || addr == leader)
}

// watch blocks on the connection until it ends or the leader is another.
func (w *Watcher) watch(conn net.Conn, leader raft.Server, term uint64) {
	for again := poll; conn != nil; again = min(2*again, time.Second) {
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
				w.listen(leader, term)
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

// suspect is called when the connection ended. It campaigns if the leader is dead, and returns a new connection if it is not.
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
			w.campaign(leader, term, false)
			return nil
		}
		w.Stats.Unknown.Add(1) // a full backlog, a lost host: its silence decides
		w.listen(leader, term)
		if !w.sleep(dialTime) {
			return nil
		}
	}
	return nil
}

// listen campaigns if the leader of this node is silent.
func (w *Watcher) listen(leader raft.Server, term uint64) {
	if w.follows(leader.Address, term) && w.silent() {
		w.Stats.Silent.Add(1)
		w.campaign(leader, term, true)
	}
}

func (w *Watcher) slowDisk() bool { return w.c.SlowDisk != nil && w.c.SlowDisk() }

func (w *Watcher) silent() bool { return w.c.Silent != nil && w.c.Silent() }

// dead reports whether the process that led in term has certainly ended: its port refuses, or a new process behind it
// says that it does not lead. It returns a connection if the leader is there. With neither it is not known.
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

// campaign runs until there is a leader or raft itself has taken over, or a leader that was only silent is heard.
func (w *Watcher) campaign(leader raft.Server, term uint64, silent bool) {
	r, watched := w.c.Raft, term
	// The voters still store what the leader sent last. A candidate that asks for votes before that may find another
	// ahead of it, and be stuck.
	if !w.sleep(poll) {
		return
	}
	for range 8 {
		addr, _ := r.LeaderWithID()
		if !w.leaderless(leader.Address) || !w.voter() || silent && !w.silent() {
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
		if w.majority(leader, term, silent) && w.fire(leader, watched, term, silent) {
			w.sleep(promise)
			continue // at the top: won, lost, or still a candidate: return
		}
		if !w.sleep(poll + time.Duration(rand.Int64N(int64(w.c.Jitter)))) {
			return
		}
	}
}

// fire makes this node a candidate, unless anything has changed meanwhile: the leader of term watched must still be dead, or
// silent if that is all that was known.
func (w *Watcher) fire(leader raft.Server, watched, term uint64, silent bool) bool {
	if silent && !w.silent() || !silent && !w.foundDead(leader, watched) {
		return false
	}
	w.mu.Lock()
	now := time.Now()
	for len(w.fired) > 0 && now.Sub(w.fired[0]) > budgetTime {
		w.fired = w.fired[1:]
	}
	if now.Before(w.quiet) || len(w.fired) >= budget || w.c.Raft.CurrentTerm() != term || !w.leaderless(leader.Address) {
		w.mu.Unlock()
		return false
	}
	w.firing = now.Add(promise)
	w.fired = append(w.fired, now)
	w.mu.Unlock()
	w.Stats.Fired.Add(1)
	if silent {
		w.c.Log("a majority hears nothing of the leader " + string(leader.ID) + ", campaigning")
	}
	return w.c.Campaign() == nil
}

// foundDead does what dead does, and keeps no connection.
func (w *Watcher) foundDead(leader raft.Server, term uint64) bool {
	dead, conn := w.dead(leader, term)
	if conn != nil {
		conn.Close()
	}
	return dead
}

// voter reports whether this node may be elected. A nonvoter that campaigns disturbs the cluster for nothing.
func (w *Watcher) voter() bool {
	return slices.ContainsFunc(w.c.Raft.GetConfiguration().Configuration().Servers, func(s raft.Server) bool {
		return s.ID == w.c.ID && s.Suffrage == raft.Voter
	})
}
