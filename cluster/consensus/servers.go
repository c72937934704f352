package consensus

import (
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

const (
	changeTimeout = 10 * time.Second // for one change of the servers
	slowFor       = time.Second      // for which a voter that answered late is asked last
	// votersTTL bounds how long the voters are cached. A change of the servers can begin only after the last one was
	// applied, which drops the cache. So the cache is never more than one change old, and majorities of neighbouring
	// configurations have a node in common.
	votersTTL = 50 * time.Millisecond
)

// voters caches the voters of the configuration.
type voters struct {
	taken  time.Time
	others []Server
	needed int
}

// Servers returns the newest configuration in this node's log.
func (r *Replica) Servers() []Server {
	return serversOf(r.raft.GetConfiguration().Configuration())
}

func serversOf(c raft.Configuration) []Server {
	list := c.Servers
	all := make([]Server, len(list))
	for i, s := range list {
		all[i] = Server{ID: string(s.ID), Addr: string(s.Address), Voter: s.Suffrage == raft.Voter}
	}
	return all
}

// Voters returns the other voters, slow ones last, and how many of them make a majority with this node.
func (r *Replica) Voters() (others []Server, needed int) {
	if v := r.voters.Load(); v != nil && time.Since(v.taken) < votersTTL {
		return v.others, v.needed
	}
	v := &voters{taken: time.Now()}
	var slow []Server
	count, self := 0, 0
	for _, s := range r.Servers() {
		if !s.Voter {
			continue
		}
		count++
		switch {
		case s.ID == r.c.ID:
			self = 1
		case r.slow.has(s.ID):
			slow = append(slow, s)
		default:
			v.others = append(v.others, s)
		}
	}
	v.others, v.needed = append(v.others, slow...), max(count/2+1-self, 0)
	r.voters.Store(v)
	return v.others, v.needed
}

// forgetVoters drops the cached voters.
func (r *Replica) forgetVoters() { r.voters.Store(nil) }

// slowVoters are voters that answered a confirmation late.
type slowVoters struct {
	mu    sync.Mutex
	until map[string]time.Time
}

// add marks voters to be asked last for a while.
func (sv *slowVoters) add(late []Server) {
	sv.mu.Lock()
	defer sv.mu.Unlock()
	if sv.until == nil {
		sv.until = map[string]time.Time{}
	}
	for _, p := range late {
		sv.until[p.ID] = time.Now().Add(slowFor)
	}
}

func (sv *slowVoters) has(id string) bool {
	sv.mu.Lock()
	defer sv.mu.Unlock()
	until, is := sv.until[id]
	return is && time.Now().Before(until)
}

// SetServer adds a server, or changes its address or its vote.
func (r *Replica) SetServer(s Server) (index uint64, err error) {
	set := r.raft.AddNonvoter
	if s.Voter {
		set = r.raft.AddVoter
	}
	return r.changed(set(raft.ServerID(s.ID), raft.ServerAddress(s.Addr), 0, changeTimeout))
}

// RemoveServer removes a server.
func (r *Replica) RemoveServer(id string) (index uint64, err error) {
	return r.changed(r.raft.RemoveServer(raft.ServerID(id), 0, changeTimeout))
}

// changed waits until a change of the servers is committed.
func (r *Replica) changed(f raft.IndexFuture) (index uint64, err error) {
	if err := f.Error(); err != nil {
		return 0, err
	}
	r.forgetVoters()
	return f.Index(), nil
}

// Transfer hands leadership to a voter.
func (r *Replica) Transfer(to Server) error {
	return r.raft.LeadershipTransferToServer(raft.ServerID(to.ID), raft.ServerAddress(to.Addr)).Error()
}
