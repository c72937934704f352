package resp

import (
	"cmp"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
)

// info is the part of a connection that other goroutines may use.
type info struct {
	number  uint64        // on this node
	id      atomic.Uint64 // in its database, as clients see it; see clients
	addr    string
	local   string
	opened  time.Time
	last    atomic.Pointer[command.Command] // the command that ran last
	active  atomic.Int64                    // when it came, unix milliseconds
	killed  atomic.Bool
	blocked atomic.Pointer[waiter]
	script  atomic.Pointer[readScript]
	paused  atomic.Bool // a command waits for the end of CLIENT PAUSE
	sizes   sizes

	mu       sync.Mutex
	stopping bool // no deadline but the past is set any more
	attributes
}

// sizes count the memory that a connection holds, in bytes. The connection publishes them whenever it waits, so while it runs
// commands they are those of its last wait.
type sizes struct {
	unread, spare     atomic.Int64 // of the read buffer: what is in it, and what is free
	words             atomic.Int64 // of the command that waits
	replies, maxReply atomic.Int64 // the reply buffer, and the most that was in it
}

// attributes are the fields of CLIENT LIST that commands change. info's lock guards them.
type attributes struct {
	user, db         string
	as               acl.Identity
	tracks, bcast    bool // reads are tracked
	broken           bool // the connection to redirect to is gone
	redirect         int64
	name             string
	library, version string
	proto            int
	subs, psubs      int
	ssubs            int
	queued           int // commands of a transaction; -1 without
	queuedBytes      int // that they hold
	monitors         bool
	watches          int
	noEvict, noTouch bool
}

func (i *info) begin(number uint64, nc net.Conn) {
	i.number, i.addr, i.local, i.opened = number, nc.RemoteAddr().String(), nc.LocalAddr().String(), time.Now()
	i.active.Store(i.opened.UnixMilli())
	i.attributes = attributes{proto: 2, queued: -1, redirect: -1}
}

// set changes the attributes.
func (i *info) set(change func(*attributes)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change(&i.attributes)
}

// get returns a copy of the attributes.
func (i *info) get() attributes {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.attributes
}

// database names the keyspace that the connection works on.
func (i *info) database() string { return cmp.Or(i.get().db, fsm.DefaultDB) }

// deadline sets a deadline for reading, unless the connection has been told to stop.
func (i *info) deadline(nc net.Conn, at time.Time) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.stopping {
		return nil
	}
	return nc.SetReadDeadline(at)
}

// interrupt makes all reads fail at once from now on.
func (i *info) interrupt(nc net.Conn) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.stopping = true
	// An error means that the connection is closed, which ends reading too.
	_ = nc.SetReadDeadline(longAgo)
}
