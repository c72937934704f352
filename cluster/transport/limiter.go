package transport

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"
)

// The most connections that a port takes at a time. A node opens about six to each other one: raft's pool of three, one
// or two for calls, one or two that watch.
const (
	maxHandshakes     = 256 // unfinished, of all hosts
	maxHostHandshakes = 64  // unfinished, of one host
	maxProved         = 64  // of one node whose certificate names it
	maxUnproved       = 512 // of one host, where connections are plain: several nodes may run there
)

// ErrTooMany says that a peer, or all peers together, have too many connections open.
var ErrTooMany = errors.New("cluster: too many connections")

// limiter counts the connections of a port.
type limiter struct {
	mu         sync.Mutex
	handshakes []*handshake   // the oldest first
	byHost     map[string]int // of them
	byPeer     map[peer]int   // accepted connections
}

// peer identifies the node or host whose connections are counted together.
type peer struct {
	name   string // a node id, or a host
	proved bool
}

// peer returns the node, or the host as long as nothing proves which node calls.
func (h *Hello) peer(host string) peer {
	if h.Proved {
		return peer{h.Node, true}
	}
	return peer{host, false}
}

// handshake is a handshake that is not finished.
type handshake struct {
	host string
	conn net.Conn
	over bool // it made room for another, or has ended
}

// startHandshake counts a handshake with a host; endHandshake must follow unless there is an error. If there are too many, the
// oldest handshake of the host with the most is given up for one of a host with fewer. So unfinished handshakes, from however
// many addresses, keep out nobody who finishes theirs.
func (l *limiter) startHandshake(host string, c net.Conn) (*handshake, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.byHost[host]
	if own >= maxHostHandshakes {
		return nil, fmt.Errorf("%w: %d handshakes with %s are unfinished", ErrTooMany, own, host)
	}
	if len(l.handshakes) >= maxHandshakes {
		victim := l.handshakes[0]
		for _, h := range l.handshakes {
			if l.byHost[h.host] > l.byHost[victim.host] {
				victim = h
			}
		}
		if l.byHost[victim.host] <= own {
			return nil, fmt.Errorf("%w: %d handshakes are unfinished, %d of them with %s", ErrTooMany, len(l.handshakes), own, host)
		}
		l.forget(victim)
		victim.conn.Close()
	}
	if l.byHost == nil {
		l.byHost = map[string]int{}
	}
	h := &handshake{host: host, conn: c}
	l.handshakes = append(l.handshakes, h)
	l.byHost[host]++
	return h, nil
}

// endHandshake returns false if the handshake was given up.
func (l *limiter) endHandshake(h *handshake) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h.over {
		return false
	}
	l.forget(h)
	return true
}

// forget takes a handshake off the list; the lock is held.
func (l *limiter) forget(h *handshake) {
	h.over = true
	at := slices.Index(l.handshakes, h)
	l.handshakes = slices.Delete(l.handshakes, at, at+1)
	if l.byHost[h.host]--; l.byHost[h.host] == 0 {
		delete(l.byHost, h.host)
	}
}

// open counts an accepted connection; close must follow unless there is an error.
func (l *limiter) open(p peer) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	most := maxUnproved
	if p.proved {
		most = maxProved
	}
	if l.byPeer[p] >= most {
		return fmt.Errorf("%w: %s has %d", ErrTooMany, p.name, l.byPeer[p])
	}
	if l.byPeer == nil {
		l.byPeer = map[peer]int{}
	}
	l.byPeer[p]++
	return nil
}

func (l *limiter) close(p peer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byPeer[p]--; l.byPeer[p] == 0 {
		delete(l.byPeer, p)
	}
}

const (
	// repeatAfter is the least time between two log lines with the same reason.
	repeatAfter = 10 * time.Second
	// maxReasons bounds the reasons that are remembered.
	maxReasons = 256
)

// Reasons bounds how often the same reason is logged.
type Reasons struct {
	mu     sync.Mutex
	logged map[string]time.Time
}

// IsDue reports whether a reason is to be logged now: it was not within repeatAfter.
func (r *Reasons) IsDue(reason string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.logged[reason]) < repeatAfter {
		return false
	}
	if r.logged == nil || len(r.logged) >= maxReasons {
		r.logged = map[string]time.Time{}
	}
	r.logged[reason] = time.Now()
	return true
}
