package cluster

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/cluster/session"
	"github.com/trireme-dev/trireme/fsm"
)

const (
	// restFactor is the time for which the place of a long read stays empty after it, as a multiple of the time that the read took.
	restFactor = 5
	// writeStep is about the time that it takes to write a step of a reply, 64 bytes. The write happens after the read and counts as part of it.
	writeStep = 200 * time.Nanosecond
	// mostRest bounds how long a place stays empty.
	mostRest = 200 * time.Millisecond
)

// longReads bounds how many long reads of each database, which run on a fork of the state, a node serves at once. The others of
// that database wait, in the order in which they came. While other databases are active, the place of a read stays empty for
// restFactor times as long as the read and the writing of its reply took. See docs/design/fairness.md.
type longReads struct {
	most int // of one database
	// others reports whether databases other than db are active.
	others func(now time.Time, db string) bool
	now    func() time.Time
	after  func(d time.Duration, f func())

	mu        sync.Mutex
	databases map[string]*databaseReads // that have some
}

// databaseReads are the long reads of one database.
type databaseReads struct {
	running int
	waiting []chan struct{} // closed when it may run
}

func newLongReads(others func(now time.Time, db string) bool) *longReads {
	return &longReads{
		most: max(1, runtime.GOMAXPROCS(0)/2), others: others, now: time.Now,
		after:     func(d time.Duration, f func()) { time.AfterFunc(d, f) }, // it ends by itself
		databases: map[string]*databaseReads{},
	}
}

// acquire waits until a long read of the database may run, session.Deadline at most: fsm.ErrReadShare then. The caller
// calls release when it is done, with the work of its reply.
func (lr *longReads) acquire(ctx context.Context, db string) (release func(replied int64), err error) {
	turn := lr.enter(db)
	if turn == nil {
		return lr.began(db), nil
	}
	ctx, cancel := context.WithTimeout(ctx, session.Deadline)
	defer cancel()
	select {
	case <-turn:
		return lr.began(db), nil
	case <-ctx.Done():
	}
	if !lr.giveUp(db, turn) { // its turn has come meanwhile
		lr.leave(db)
	}
	return nil, fsm.ErrReadShare
}

// began starts a read, and returns the function that ends it.
func (lr *longReads) began(db string) (release func(replied int64)) {
	began := lr.now()
	return func(replied int64) {
		ended := lr.now()
		if lr.others(ended, db) {
			took := ended.Sub(began) + time.Duration(replied)*writeStep
			lr.after(min(restFactor*took, mostRest), func() { lr.leave(db) })
		} else {
			lr.leave(db)
		}
	}
}

// enter counts a read that runs, or returns what it has to wait for.
func (lr *longReads) enter(db string) (turn chan struct{}) {
	lr.mu.Lock()
	defer lr.mu.Unlock()
	d := lr.databases[db]
	if d == nil {
		d = &databaseReads{}
		lr.databases[db] = d
	}
	if d.running < lr.most {
		d.running++
		return nil
	}
	turn = make(chan struct{})
	d.waiting = append(d.waiting, turn)
	return turn
}

// leave ends a read: the next one of its database takes its place.
func (lr *longReads) leave(db string) {
	lr.mu.Lock()
	defer lr.mu.Unlock()
	d := lr.databases[db]
	if len(d.waiting) > 0 {
		close(d.waiting[0])
		d.waiting = slices.Delete(d.waiting, 0, 1)
		return
	}
	if d.running--; d.running == 0 {
		delete(lr.databases, db)
	}
}

// giveUp withdraws a read that waits; it returns false if the read runs already.
func (lr *longReads) giveUp(db string, turn chan struct{}) bool {
	lr.mu.Lock()
	defer lr.mu.Unlock()
	d := lr.databases[db]
	if d == nil {
		return false
	}
	i := slices.Index(d.waiting, turn)
	if i >= 0 {
		d.waiting = slices.Delete(d.waiting, i, i+1)
	}
	return i >= 0
}

// held returns the number of long reads that wait.
func (lr *longReads) held() (n int) {
	lr.mu.Lock()
	defer lr.mu.Unlock()
	for _, d := range lr.databases {
		n += len(d.waiting)
	}
	return n
}

// admitLong waits for the turn of a long read, unless there is only one database: then there is nobody to wait.
func (n *Node) admitLong(ctx context.Context, r *fsm.Reading) (release func(replied int64), err error) {
	if n.machine.Databases() < 2 {
		return func(int64) {}, nil
	}
	db := r.Database
	if db == "" {
		db = fsm.DefaultDB
	}
	return n.longReads.acquire(ctx, db)
}
