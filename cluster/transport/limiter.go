package transport

import (
	"errors"
	"fmt"
	"net"
	"sync"
)

// The most connections that a port takes at a time. A node opens about six to each other one: raft's pool of three, one
// or two for calls, one or two that watch.
const (
	maxHandshakes     = 256 // unfinished, of all hosts
	maxHostHandshakes = 64  // unfinished, of one host
	maxProved         = 64  // of one node whose certificate names it
	maxUnproved       = 512 // of one host, where connections are plain: several nodes may run there
)

// ErrTooMany says that a peer, or everybody together, has too many connections open.
var ErrTooMany = errors.New("cluster: too many connections")

// limiter counts the connections of a port.
type limiter struct {
	mu         sync.Mutex
	handshakes int
	byHost     map[string]int // unfinished handshakes
	byPeer     map[peer]int   // accepted connections
}

// peer is whose connections are counted together.
type peer struct {
	name   string // a node id, or a host
	proved bool
}

// peer is the node, or, as long as nothing proves that it is the node, the host.
func (h *Hello) peer(host string) peer {
	if h.Proved {
		return peer{h.Node, true}
	}
	return peer{host, false}
}

func hostOf(a net.Addr) string {
	host, _, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	return host
}

func (l *limiter) startHandshake(host string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.handshakes >= maxHandshakes || l.byHost[host] >= maxHostHandshakes {
		return fmt.Errorf("%w: %d handshakes are unfinished, %d of them with %s", ErrTooMany, l.handshakes, l.byHost[host], host)
	}
	if l.byHost == nil {
		l.byHost = map[string]int{}
	}
	l.handshakes++
	l.byHost[host]++
	return nil
}

func (l *limiter) endHandshake(host string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.handshakes--
	if l.byHost[host]--; l.byHost[host] == 0 {
		delete(l.byHost, host)
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
