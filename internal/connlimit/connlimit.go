package connlimit

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// SilentAtLeast is the time without a request after which a connection that has logged in may be
// closed for another. One that has not logged in may be closed at once.
const SilentAtLeast = 5 * time.Second

// QuarterOfTotal as Limits.PerAddress means a quarter of Total, for every address but
// loopback: behind it a proxy may be, with clients of many addresses.
const QuarterOfTotal = -1

// Limits are counts of connections; 0 = unlimited.
type Limits struct {
	Total int
	// PerAddress bounds the connections of each address; see QuarterOfTotal.
	PerAddress int
	// Reserve is the number of connections beyond Total that are kept for loopback, and again for the admin token.
	Reserve int
}

// ReserveFor is the usual reserve beside a total: one in a hundred, 4 to 64.
func ReserveFor(total int) int {
	if total <= 0 {
		return 0
	}
	return min(max(total/100, 4), 64)
}

// Reason says why a connection is refused.
type Reason uint8

// The reasons.
const (
	Admitted Reason = iota
	// Full: there are Total connections, none of which can be closed.
	Full
	// AddressFull: the address has PerAddress connections.
	AddressFull
)

// Limiter counts the connections of a listener. It is safe for concurrent use.
type Limiter struct {
	limits  Limits
	quarter bool // which spares loopback
	now     func() time.Time

	mu     sync.Mutex
	slots  []*Slot // ordinary ones, in no order: of these one is closed for another
	local  int     // of those in the reserve for loopback
	admin  int     // of those in the reserve for the admin token
	byAddr map[string]int
}

// New makes a limiter.
func New(l Limits) *Limiter {
	quarter := l.PerAddress == QuarterOfTotal
	if quarter {
		l.PerAddress = 0
		if l.Total > 0 {
			l.PerAddress = max(l.Total/4, 1)
		}
	}
	return &Limiter{limits: l, quarter: quarter, now: time.Now, byAddr: map[string]int{}}
}

// Limits returns the limits in force, with PerAddress resolved.
func (l *Limiter) Limits() Limits { return l.limits }

// kind selects the count against which a slot is admitted.
type kind uint8

const (
	ordinary kind = iota
	reservedLocal
	reservedAdmin
)

// Slot is the place of one connection. What happens with each request costs no lock.
type Slot struct {
	limiter *Limiter
	addr    string
	kind    kind
	close   func()

	silentSince atomic.Int64 // in unix nanoseconds; 0 while it is being answered
	loggedIn    atomic.Bool

	// Under the limiter's lock.
	index int // in slots
	left  bool
}

// Enter counts a connection of an address (AddressOf). If there is no room, it may close another connection by the function with
// which that one has entered. Without room the slot is nil.
func (l *Limiter) Enter(addr string, closeConn func()) (*Slot, Reason) {
	l.mu.Lock()
	loopback := IsLoopback(addr)
	if own := l.byAddr[addr]; !(loopback && l.quarter) && l.limits.PerAddress > 0 && own >= l.limits.PerAddress {
		l.mu.Unlock()
		return nil, AddressFull
	}
	s := &Slot{limiter: l, addr: addr, close: closeConn}
	var victim *Slot
	switch {
	case l.limits.Total <= 0 || len(l.slots) < l.limits.Total:
	case loopback && l.local < l.limits.Reserve:
		s.kind = reservedLocal
	default:
		if victim = l.victim(); victim == nil {
			l.mu.Unlock()
			return nil, Full
		}
		l.leave(victim)
	}
	l.add(s)
	l.mu.Unlock()
	if victim != nil {
		victim.close()
	}
	return s, Admitted
}

// EnterAdmin counts a connection that has shown the admin token, in the reserve for it; nil if that is full too.
func (l *Limiter) EnterAdmin(addr string, closeConn func()) *Slot {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.admin >= l.limits.Reserve {
		return nil
	}
	s := &Slot{limiter: l, addr: addr, close: closeConn, kind: reservedAdmin}
	s.loggedIn.Store(true)
	l.add(s)
	return s
}

// victim is the connection that is closed to make room: the longest silent one that has not logged in, else the longest silent
// one that has, if it is that for long enough. Looking at all of them costs less than the connection that is accepted.
func (l *Limiter) victim() *Slot {
	var unknown, known *Slot
	for _, s := range l.slots {
		since, best := s.silentSince.Load(), &unknown
		if s.loggedIn.Load() {
			best = &known
		}
		if since != 0 && (*best == nil || since < (*best).silentSince.Load()) {
			*best = s
		}
	}
	if unknown == nil && known != nil && l.now().UnixNano()-known.silentSince.Load() >= int64(SilentAtLeast) {
		return known
	}
	return unknown
}

func (l *Limiter) add(s *Slot) {
	switch s.kind {
	case ordinary:
		s.index = len(l.slots)
		l.slots = append(l.slots, s)
	case reservedLocal:
		l.local++
	case reservedAdmin:
		l.admin++
	}
	l.byAddr[s.addr]++
	s.silentSince.Store(l.now().UnixNano())
}

func (l *Limiter) leave(s *Slot) {
	if s.left {
		return
	}
	s.left = true
	switch s.kind {
	case ordinary:
		last := len(l.slots) - 1
		l.slots[s.index] = l.slots[last]
		l.slots[s.index].index = s.index
		l.slots[last] = nil
		l.slots = l.slots[:last]
	case reservedLocal:
		l.local--
	case reservedAdmin:
		l.admin--
	}
	if l.byAddr[s.addr]--; l.byAddr[s.addr] == 0 {
		delete(l.byAddr, s.addr)
	}
}

// Leave gives the place back.
func (s *Slot) Leave() {
	if s == nil {
		return
	}
	s.limiter.mu.Lock()
	defer s.limiter.mu.Unlock()
	s.limiter.leave(s)
}

// Busy says that the connection is being answered: until Idle it is not closed for another. A connection that has not logged in
// yet stays so: a client that sends requests that are refused could hold its place otherwise.
func (s *Slot) Busy() {
	if s != nil && s.loggedIn.Load() {
		s.silentSince.Store(0)
	}
}

// Idle says that the connection waits for a request, from now on.
func (s *Slot) Idle() {
	if s != nil {
		s.silentSince.Store(s.limiter.now().UnixNano())
	}
}

// LoggedIn says that the connection has shown a token or a password that opens something, and is being answered.
func (s *Slot) LoggedIn() {
	if s != nil && !s.loggedIn.Load() {
		s.loggedIn.Store(true)
		s.silentSince.Store(0)
	}
}

// HasLoggedIn reports whether LoggedIn was called.
func (s *Slot) HasLoggedIn() bool { return s != nil && s.loggedIn.Load() }

// OpenOf returns the number of an address's open connections.
func (l *Limiter) OpenOf(addr string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byAddr[addr]
}

// AddressOf is the address of a connection's other end, as limits count it.
func AddressOf(c net.Conn) string { return HostOf(c.RemoteAddr().String()) }

// HostOf is an address without its port, as limits count it: IPv6 addresses by their /64, which one host has to itself.
func HostOf(text string) string {
	if host, _, err := net.SplitHostPort(text); err == nil {
		text = host
	}
	addr, err := netip.ParseAddr(text)
	if err != nil {
		return text
	}
	addr = addr.Unmap().WithZone("")
	if addr.Is6() && !addr.IsLoopback() {
		if p, err := addr.Prefix(64); err == nil {
			return p.Addr().String()
		}
	}
	return addr.String()
}

// IsLoopback reports whether an address as of AddressOf is this machine's own.
func IsLoopback(addr string) bool {
	a, err := netip.ParseAddr(addr)
	return err == nil && a.IsLoopback()
}
