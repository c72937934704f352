package resp

import (
	"cmp"
	"slices"
	"sync"
)

// clients are the open connections by id.
type clients struct {
	mu   sync.Mutex
	byID map[uint64]*conn
}

func newClients() *clients { return &clients{byID: map[uint64]*conn{}} }

func (l *clients) add(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.byID[c.info.id] = c
}

func (l *clients) remove(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.byID, c.info.id)
}

func (l *clients) find(id uint64) *conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byID[id]
}

// all are the connections in the order in which they were opened.
func (l *clients) all() []*conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]*conn, 0, len(l.byID))
	for _, c := range l.byID { // unordered: sorted below
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *conn) int { return cmp.Compare(a.info.id, b.info.id) })
	return list
}

func (l *clients) each(f func(*conn)) {
	for _, c := range l.all() {
		f(c)
	}
}
