package stats

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// Node has the statistics of all databases of one node.
type Node struct {
	rows []*command.Command
	dbs  sync.Map // of *Database by name

	mu      sync.Mutex
	clients func(db string) Clients
}

// Clients is the statistics of one database's RESP connections.
type Clients struct {
	Connected, Blocked, Tracking, Subscribed, Watching int64
	WatchedKeys, TrackedKeys, TrackedPrefixes          int64
	Received, Rejected, In, Out, MostConnections       int64
}

// New counts calls of the table's rows.
func New(t *command.Table) *Node { return &Node{rows: t.Rows()} }

// SetClients sets the function that counts connections.
func (n *Node) SetClients(ask func(db string) Clients) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.clients = ask
}

// In returns the statistics of a database.
func (n *Node) In(db string) *Database {
	if d, ok := n.dbs.Load(db); ok {
		return d.(*Database)
	}
	d, _ := n.dbs.LoadOrStore(db, &Database{node: n, name: db, rows: make([]row, len(n.rows)), errors: map[string]int64{}, spikes: map[string]*command.Spike{}})
	return d.(*Database)
}

// Of is In as the command table wants it.
func (n *Node) Of(db string) command.Figures { return n.In(db) }

// row is the statistics of one row of the table.
type row struct {
	calls, failed, rejected, nanos atomic.Int64
	histogram                      [command.Buckets]atomic.Int64
}

// Database has the statistics of one database.
type Database struct {
	node                *Node
	name                string
	rows                []row
	hits, misses        atomic.Int64
	second, now, before atomic.Int64 // the running second, its calls, those of the one before
	mu                  sync.Mutex
	errors              map[string]int64
	slow                []command.SlowCall // oldest first
	slowID              int64
	spikes              map[string]*command.Spike
}

// Caller is the connection of a call; empty over HTTP.
type Caller struct{ Addr, Name string }

const (
	// slowerThan is what SLOWLOG keeps; slowest is how many.
	slowlogThreshold = command.SlowlogMicros * time.Microsecond
	slowlogMaxLen    = command.SlowlogLen
	// spikeFrom is what LATENCY calls an event.
	latencyThreshold = command.LatencyMillis * time.Millisecond
)

// Batch counts the calls of a request that took so long; each is charged an equal share of
// the time.
func (d *Database) Batch(t *command.Table, argvs [][][]byte, values []reply.Value, took time.Duration, by Caller) {
	if len(argvs) == 0 {
		return
	}
	share := took / time.Duration(len(argvs))
	d.tick(int64(len(argvs)))
	for i := range min(len(argvs), len(values)) {
		d.call(t.Find(argvs[i]), argvs[i], &values[i], share, by)
	}
}

// call counts one call.
func (d *Database) call(c *command.Command, argv [][]byte, v *reply.Value, took time.Duration, by Caller) {
	failed := v.IsError()
	if failed {
		d.countError(v.Text())
	}
	if c == nil {
		return
	}
	r := &d.rows[c.Number()]
	if failed && rejects(v.Text()) {
		r.rejected.Add(1)
		return
	}
	r.calls.Add(1)
	r.nanos.Add(int64(took))
	r.histogram[bucket(took)].Add(1)
	switch {
	case failed:
		r.failed.Add(1)
	case c.Flags&command.ReadOnly != 0 && c.Keys.First == 1 && v.IsNil():
		d.misses.Add(1)
	case c.Flags&command.ReadOnly != 0 && c.Keys.First == 1:
		d.hits.Add(1)
	}
	if took >= slowlogThreshold && !d.secret(c) {
		d.addSlow(c, argv, took, by)
	}
}

// secret reports whether a call is left out of the slow log because its words may be
// secrets.
func (d *Database) secret(c *command.Command) bool {
	return c.Name == "auth" || c.Name == "hello" || c.Group == "acl" || c.Name == "exec"
}

// bucket is the index of a duration in a histogram.
func bucket(took time.Duration) (i int) {
	for i = 0; i < command.Buckets-1 && took > 1<<i; i++ {
	}
	return i
}

// rejecting are the beginnings of errors of calls that did not run.
var rejecting = []string{"NOPERM ", "NOAUTH ", "WRONGPASS ", "OOM ", "TRYAGAIN ", "EXECABORT ", "ERR wrong number of arguments", "ERR max "}

func rejects(text string) bool {
	return slices.ContainsFunc(rejecting, func(head string) bool { return strings.HasPrefix(text, head) })
}

// maxErrorClasses bounds the classes of errors, because scripts can invent them.
const maxErrorClasses = 128

// countError counts an error by its class.
func (d *Database) countError(text string) {
	class, _, _ := strings.Cut(text, " ")
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, known := d.errors[class]; known || len(d.errors) < maxErrorClasses {
		d.errors[class]++
	}
}

// tick counts calls by the second.
func (d *Database) tick(n int64) {
	second := time.Now().Unix()
	if was := d.second.Load(); was != second && d.second.CompareAndSwap(was, second) {
		last := d.now.Swap(0)
		if was != second-1 {
			last = 0
		}
		d.before.Store(last)
	}
	d.now.Add(n)
}
