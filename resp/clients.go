package resp

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/trireme-dev/trireme/fsm"
)

// clients are the open connections by their numbers on this node, and by database.
type clients struct {
	mu    sync.Mutex
	byID  map[uint64]*conn
	of    map[string]*population // by name; "" is default
	apart *population            // connections that have no user yet
}

// A population holds the connections of one database and counts all that it ever had.
type population struct {
	db     string
	lastID uint64           // of the ids that its clients see
	byID   map[uint64]*conn // by those ids
	// received are the connections that have ever logged in to it.
	received, in, out atomic.Int64
}

func newClients() *clients {
	return &clients{byID: map[uint64]*conn{}, of: map[string]*population{}, apart: &population{}}
}

func (l *clients) add(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.own = l.apart
	l.byID[c.info.number] = c
}

func (l *clients) remove(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.byID, c.info.number)
	l.forgetID(c)
}

// in returns the population of a database; "" and "default" name the same.
func (l *clients) in(db string) *population {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inLocked(db)
}

func (l *clients) inLocked(db string) *population {
	if db == fsm.DefaultDB {
		db = ""
	}
	p := l.of[db]
	if p == nil {
		p = &population{db: db, byID: map[uint64]*conn{}}
		l.of[db] = p
	}
	return p
}

// enter counts a connection among those of the database that it has logged in to, if it wasn't, and gives it an id there.
func (l *clients) enter(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.inLocked(c.as.DB)
	if c.own == p {
		return
	}
	l.forgetID(c)
	c.own = p
	p.received.Add(1)
	p.number(c)
}

// leave moves a connection back to those without a user.
func (l *clients) leave(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forgetID(c)
	c.own = l.apart
}

// forgetID takes a connection's id from it; the lock is held.
func (l *clients) forgetID(c *conn) {
	p := c.own
	if p == l.apart { // whose ids are of default
		p = l.inLocked("")
	}
	delete(p.byID, c.info.id.Swap(0))
}

// number gives a connection the next id; the lock of clients is held.
func (p *population) number(c *conn) {
	p.lastID++
	p.byID[p.lastID] = c
	c.info.id.Store(p.lastID)
}

// number returns the id of a connection as the clients of its database see it. A connection without a user belongs to the
// default database and gets its id at the first call. A closed connection may have none: 0.
func (l *clients) number(c *conn) uint64 {
	if id := c.info.id.Load(); id != 0 {
		return id
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.info.id.Load() == 0 && l.byID[c.info.number] == c {
		l.inLocked("").number(c)
	}
	return c.info.id.Load()
}

// find returns the connection of a database with an id, or nil.
func (l *clients) find(db string, id uint64) *conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inLocked(db).byID[id]
}

// all returns the open connections in the order in which they were opened.
func (l *clients) all() []*conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]*conn, 0, len(l.byID))
	for _, c := range l.byID { // unordered: sorted below
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *conn) int { return cmp.Compare(a.info.number, b.info.number) })
	return list
}

func (l *clients) each(f func(*conn)) {
	for _, c := range l.all() {
		f(c)
	}
}
