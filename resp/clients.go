package resp

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/fsm"
)

// clients are the open connections by their numbers on this node, and by database.
type clients struct {
	mu          sync.Mutex
	byID        map[uint64]*conn
	byDatabase  map[string]*population // by name; "" is default
	withoutUser *population            // connections that have no user yet
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
	return &clients{byID: map[uint64]*conn{}, byDatabase: map[string]*population{}, withoutUser: &population{}}
}

func (cl *clients) add(c *conn) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	c.population = cl.withoutUser
	cl.byID[c.info.number] = c
}

func (cl *clients) remove(c *conn) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	delete(cl.byID, c.info.number)
	cl.forgetID(c)
}

// population returns the population of a database; "" and "default" name the same.
func (cl *clients) population(db string) *population {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	return cl.populationLocked(db)
}

func (cl *clients) populationLocked(db string) *population {
	if db == fsm.DefaultDB {
		db = ""
	}
	p := cl.byDatabase[db]
	if p == nil {
		p = &population{db: db, byID: map[uint64]*conn{}}
		cl.byDatabase[db] = p
	}
	return p
}

// enter counts a connection among those of the database that it has logged in to, if it wasn't, and gives it an id there.
func (cl *clients) enter(c *conn) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	p := cl.populationLocked(c.as.DB)
	if c.population == p {
		return
	}
	cl.forgetID(c)
	c.population = p
	p.received.Add(1)
	p.number(c)
}

// leave moves a connection back to those without a user.
func (cl *clients) leave(c *conn) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	cl.forgetID(c)
	c.population = cl.withoutUser
}

// forgetID takes a connection's id from it; the lock is held.
func (cl *clients) forgetID(c *conn) {
	p := c.population
	if p == cl.withoutUser { // whose ids are of default
		p = cl.populationLocked("")
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
func (cl *clients) number(c *conn) uint64 {
	if id := c.info.id.Load(); id != 0 {
		return id
	}
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if c.info.id.Load() == 0 && cl.byID[c.info.number] == c {
		cl.populationLocked("").number(c)
	}
	return c.info.id.Load()
}

// find returns the connection of a database with an id, or nil.
func (cl *clients) find(db string, id uint64) *conn {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	return cl.populationLocked(db).byID[id]
}

// all returns the open connections in the order in which they were opened.
func (cl *clients) all() []*conn {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	list := make([]*conn, 0, len(cl.byID))
	for _, c := range cl.byID { // unordered: sorted below
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *conn) int { return cmp.Compare(a.info.number, b.info.number) })
	return list
}

func (cl *clients) each(f func(*conn)) {
	for _, c := range cl.all() {
		f(c)
	}
}

// Connection describes an open connection to operators.
type Connection struct {
	ID                       uint64 // on this node: that of CLIENT ID is one in the database
	Addr, Name               string
	Database, User, LastCall string
	Age, Idle                time.Duration
}

// Connections returns the open connections of all databases, by their ids.
func (s *Server) Connections() []Connection {
	var list []Connection
	now := time.Now()
	s.clients.each(func(c *conn) {
		t := c.info.get()
		list = append(list, Connection{
			ID: c.info.number, Addr: c.info.addr, Name: t.name, Database: c.info.database(), User: t.user, LastCall: c.info.command(),
			Age: now.Sub(c.info.opened), Idle: max(0, now.Sub(time.UnixMilli(c.info.active.Load()))),
		})
	})
	slices.SortFunc(list, func(a, b Connection) int { return int(a.ID) - int(b.ID) })
	return list
}

// CloseConnection closes the connection of an id, and reports whether there was one.
func (s *Server) CloseConnection(id uint64) (found bool) {
	s.clients.each(func(c *conn) {
		if c.info.number == id {
			c.kill()
			found = true
		}
	})
	return found
}
