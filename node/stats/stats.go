package stats

import (
	"math/bits"
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
	dbs  sync.Map                  // of *Database by name
	gone [len(originNames)]traffic // of databases that are deleted and had no metrics of their own

	mu         sync.Mutex
	clients    func(db string) Clients
	thresholds func(db string) command.Thresholds
}

// Clients is the statistics of one database's RESP connections.
type Clients struct {
	Connected, Blocked, Tracking, Subscribed, Watching int64
	WatchedKeys, TrackedKeys, TrackedPrefixes          int64
	Received, Rejected, In, Out                        int64
	MostConnections, MostTracked                       int64
}

// New counts calls of the table's rows.
func New(t *command.Table) *Node { return &Node{rows: t.Rows()} }

// SetClients sets the function that counts connections.
func (n *Node) SetClients(ask func(db string) Clients) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.clients = ask
}

// SetThresholds sets the function that returns the durations of slow calls. It is called once a second and
// after each CONFIG SET of this node, never while a command runs.
func (n *Node) SetThresholds(ask func(db string) command.Thresholds) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.thresholds = ask
}

// In returns the statistics of a database.
func (n *Node) In(db string) *Database {
	if d, ok := n.dbs.Load(db); ok {
		return d.(*Database)
	}
	fresh := &Database{node: n, name: db, errors: map[string]int64{}, spikes: map[string]*command.Spike{}}
	fresh.limits.Store(&command.Thresholds{SlowMicros: command.SlowlogMicros, SlowLen: command.SlowlogLen, LatencyMillis: command.LatencyMillis})
	d, _ := n.dbs.LoadOrStore(db, fresh)
	return d.(*Database)
}

// Of is In as the command table wants it.
func (n *Node) Of(db string) command.Figures { return n.In(db) }

// row is the statistics of one row of the table.
type row struct {
	number                         int // of the row in the table
	calls, failed, rejected, nanos atomic.Int64
	histogram                      [command.Buckets]atomic.Int64
}

// Database has the statistics of one database.
type Database struct {
	node                *Node
	name                string
	rows                atomic.Pointer[[]*row] // those that were called, by number; replaced with each new one
	traffic             [len(originNames)]traffic
	hits, misses        atomic.Int64
	second, now, before atomic.Int64 // the running second, its calls, those of the one before
	mu                  sync.Mutex
	errors              map[string]int64
	slow                []command.SlowCall // oldest first
	slowID              int64
	spikes              map[string]*command.Spike

	freed   atomic.Int64
	expired atomic.Int64
	evicted atomic.Int64
	limits  atomic.Pointer[command.Thresholds]
	checked atomic.Int64 // the second in which they were asked for
}

// refresh asks again what is a slow call, at most once a second unless it must.
func (d *Database) refresh(must bool) {
	second := time.Now().Unix()
	if d.checked.Swap(second) == second && !must {
		return
	}
	d.node.mu.Lock()
	ask := d.node.thresholds
	d.node.mu.Unlock()
	if ask == nil {
		return
	}
	limits := ask(d.name)
	d.limits.Store(&limits)
}

// Caller is the connection of a call; empty over HTTP.
type Caller struct{ Addr, Name string }

// Batch counts the calls of a request that took so long; each is charged an equal share of the time.
func (d *Database) Batch(t *command.Table, argvs [][][]byte, values []reply.Value, took time.Duration, by Caller) {
	if len(argvs) == 0 {
		return
	}
	share := took / time.Duration(len(argvs))
	d.tick(int64(len(argvs)))
	d.refresh(false)
	failed := 0
	for i := range min(len(argvs), len(values)) {
		c := t.Find(argvs[i])
		if c != nil && c.Name == "config set" {
			d.refresh(true)
		}
		d.call(c, argvs[i], &values[i], share, by)
		if values[i].IsError() {
			failed++
		}
	}
	d.trafficOf(by).count(len(argvs), failed, share)
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
	r := d.row(c.Number())
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
	limits := d.limits.Load()
	if d.Keeps(took) && c.Name != "exec" { // of EXEC its commands are kept
		d.addSlow(redact(c, argv), took, by, limits.SlowLen)
	}
	if limits.LatencyMillis > 0 && took.Milliseconds() >= limits.LatencyMillis {
		d.addSpike(c, took)
	}
}

// Refused counts a call over RESP that did not run, of a command that there may not be.
func (d *Database) Refused(c *command.Command, why string) {
	d.countError(why)
	d.traffic[overRESP].errors.Add(1)
	if c != nil {
		d.row(c.Number()).rejected.Add(1)
	}
}

// called returns the statistics of the rows that were called.
func (d *Database) called() []*row {
	if rows := d.rows.Load(); rows != nil {
		return *rows
	}
	return nil
}

// row returns the statistics of a row of the table. Most databases call few of them.
func (d *Database) row(number int) *row {
	find := func() (rows []*row, i int, found bool) {
		rows = d.called()
		i, found = slices.BinarySearchFunc(rows, number, func(r *row, number int) int { return r.number - number })
		return rows, i, found
	}
	rows, i, found := find()
	if found {
		return rows[i]
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if rows, i, found = find(); found {
		return rows[i]
	}
	rows = slices.Insert(slices.Clone(rows), i, &row{number: number})
	d.rows.Store(&rows)
	return rows[i]
}

// bucket is the index of a duration in a histogram.
func bucket(took time.Duration) int {
	return min(bits.Len64(uint64(max(took, 1)-1)), command.Buckets-1)
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
