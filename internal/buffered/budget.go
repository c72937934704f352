package buffered

import (
	"strconv"
	"sync"
	"sync/atomic"
)

// A database other than default may hold a part of the limit, counted from largeBytes for a holder on, and no more than its own
// memory limit, but always at least leastPart.
const (
	tenantPart = 2
	largeBytes = 64 << 10
	leastPart  = 64 << 20
)

// Budget is the memory of a node for what is under way.
type Budget struct {
	limit int64 // 0 = unlimited
	used  atomic.Int64
	// memory returns the memory limit of a database, 0 = unlimited; nil if there are no such limits.
	memory atomic.Pointer[func(db string) int64]

	mu      sync.Mutex
	tenants map[string]*tenant // of databases that have something large under way
}

// tenant is the part of one database.
type tenant struct {
	used    int64
	limit   int64 // as the database's was when its first holder came
	holders int   // that refer to it
}

// New makes a budget of limit bytes; 0 or less is unlimited.
func New(limit int64) *Budget { return &Budget{limit: max(limit, 0), tenants: map[string]*tenant{}} }

// DatabaseLimits bounds what a database may hold by its memory limit: memory returns it in bytes, 0 for no limit. Any goroutine may call memory.
func (b *Budget) DatabaseLimits(memory func(db string) int64) { b.memory.Store(&memory) }

// part returns the most bytes that a database may hold.
func (b *Budget) part(db string) int64 {
	part := b.limit / tenantPart
	if memory := b.memory.Load(); memory != nil {
		if own := (*memory)(db); own > 0 {
			part = min(part, max(own, leastPart))
		}
	}
	return part
}

// Used is the number of bytes that are held.
func (b *Budget) Used() int64 { return b.used.Load() }

// Excess is the refusal of what there is no room for now: a moment later there may be.
type Excess struct {
	database      bool // it is the part of a database
	limit, actual int64
}

func (e *Excess) Error() string {
	of := ""
	if e.database {
		of = " of a database"
	}
	return "max bytes of requests and replies under way" + of + " exceeded. Limit: " + strconv.FormatInt(e.limit, 10) +
		", Actual: " + strconv.FormatInt(e.actual, 10) + ". Setting: max-buffered-bytes"
}

// Holding is the share of a budget that one request or one connection holds. It is not safe for concurrent use; its zero
// value holds nothing.
type Holding struct {
	of         *Budget
	db         string
	tenant     *tenant
	held, owed int64 // owed is the part of held that counts for the tenant
}

// take holds n bytes more if there is room, and returns how many would be held. Refused bytes are never held, so they take no room from others.
func (b *Budget) take(n int64) (would int64, ok bool) {
	for {
		used := b.used.Load()
		if would = used + n; b.limit > 0 && would > b.limit {
			return would, false
		}
		if b.used.CompareAndSwap(used, would) {
			return would, true
		}
	}
}

// Take holds n bytes more, for a database; empty is default, which has no part of its own. The error is an *Excess.
func (h *Holding) Take(b *Budget, db string, n int64) error {
	h.of = b
	if db != "" && (h.tenant != nil || h.held+n >= largeBytes) {
		if e := h.takeFor(db, n); e != nil {
			return e
		}
	}
	if would, ok := b.take(n); !ok {
		h.owe(h.held) // without those
		return &Excess{false, b.limit, would}
	}
	h.held += n
	return nil
}

// takeFor counts n bytes more for a database, unless it has its part already.
func (h *Holding) takeFor(db string, n int64) *Excess {
	b, part := h.of, int64(0)
	if h.tenant == nil {
		part = b.part(db)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if h.tenant == nil {
		t := b.tenants[db]
		if t == nil {
			t = &tenant{limit: part}
			b.tenants[db] = t
		}
		t.holders++
		h.db, h.tenant, h.owed = db, t, 0
	}
	due := h.held + n - h.owed
	if t := h.tenant; b.limit > 0 && t.used+due > t.limit {
		return &Excess{true, t.limit, t.used + due}
	}
	h.tenant.used += due
	h.owed += due
	return nil
}

// owe has n bytes count for the tenant, if there is one.
func (h *Holding) owe(n int64) {
	if h.tenant == nil {
		return
	}
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	h.tenant.used += n - h.owed
	h.owed = n
}

// Keep holds bytes that are there already, whatever the limit.
func (h *Holding) Keep(b *Budget, n int64) {
	h.of = b
	b.used.Add(n)
	h.held += n
}

// Set holds n bytes, more or fewer than so far; more only if there is room. The error is an *Excess: then it holds what it held.
func (h *Holding) Set(b *Budget, db string, n int64) error {
	switch {
	case n == h.held:
		return nil
	case n == 0 || h.tenant != nil && h.db != db:
		if h.End(); n == 0 {
			return nil
		}
	}
	if n > h.held {
		return h.Take(b, db, n-h.held)
	}
	b.used.Add(n - h.held)
	h.held = n
	h.owe(n)
	return nil
}

// End gives everything back.
func (h *Holding) End() {
	if h.of == nil {
		return
	}
	h.of.used.Add(-h.held)
	if t := h.tenant; t != nil {
		h.of.mu.Lock()
		t.used -= h.owed
		if t.holders--; t.holders == 0 {
			delete(h.of.tenants, h.db)
		}
		h.of.mu.Unlock()
	}
	*h = Holding{}
}
