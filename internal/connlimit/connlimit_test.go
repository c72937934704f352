package connlimit

import (
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const far = "192.0.2.1"

func limiter(l Limits) (*Limiter, *time.Time) {
	now := time.Unix(1000, 0)
	n := New(l)
	n.now = func() time.Time { return now }
	return n, &now
}

// open is the number of open connections.
func (l *Limiter) open() int { return len(l.slots) + l.local + l.admin }

func enter(t *testing.T, l *Limiter, addr string, want Reason) *Slot {
	t.Helper()
	s, reason := l.Enter(addr, func() { t.Helper(); t.Errorf("a connection of %s was closed", addr) })
	if reason != want || (s == nil) != (want != Admitted) {
		t.Fatalf("%s: %v, want %v", addr, reason, want)
	}
	return s
}

func TestOneAddressHasAQuarter(t *testing.T) {
	l, _ := limiter(Limits{Total: 8, PerAddress: QuarterOfTotal})
	for range 2 {
		enter(t, l, far, Admitted)
	}
	enter(t, l, far, AddressFull)
	enter(t, l, "192.0.2.2", Admitted)
	for range 4 { // a proxy on this machine has many clients
		enter(t, l, "127.0.0.1", Admitted)
	}
	if n := l.OpenOf(far); n != 2 || l.open() != 7 {
		t.Errorf("%d of one address, %d in all", n, l.open())
	}
}

func TestZeroIsUnlimited(t *testing.T) {
	l, _ := limiter(Limits{})
	for range 1000 {
		enter(t, l, far, Admitted)
	}
	if l, _ := limiter(Limits{PerAddress: QuarterOfTotal}); l.Limits().PerAddress != 0 {
		t.Error("a quarter of unlimited is a limit")
	}
}

// A full table closes who has not logged in, the longest silent first, then those who have
// and are idle; nobody who is being answered.
func TestTheLongestSilentIsClosed(t *testing.T) {
	l, now := limiter(Limits{Total: 4})
	var closed []int
	slots := make([]*Slot, 4)
	for i := range slots {
		slots[i], _ = l.Enter(fmt.Sprint("192.0.2.", i), func() { closed = append(closed, i) })
		*now = now.Add(time.Millisecond)
	}
	slots[0].LoggedIn() // and is being answered
	slots[1].LoggedIn()
	slots[1].Idle()
	slots[2].Busy() // without a login that counts for nothing
	for range 2 {
		enter(t, l, far, Admitted).LoggedIn()
	}
	if want := []int{2, 3}; !slices.Equal(closed, want) {
		t.Fatalf("closed %v, want %v", closed, want)
	}
	enter(t, l, far, Full) // the one that is idle was answered just now
	*now = now.Add(SilentAtLeast)
	enter(t, l, far, Admitted).LoggedIn()
	if want := []int{2, 3, 1}; !slices.Equal(closed, want) {
		t.Fatalf("closed %v, want %v", closed, want)
	}
	*now = now.Add(time.Hour)
	enter(t, l, far, Full)
	slots[0].Leave()
	slots[0].Leave()
	enter(t, l, far, Admitted)
	if l.open() != 4 || len(closed) != 3 {
		t.Errorf("%d open, %d closed", l.open(), len(closed))
	}
}

func TestReserve(t *testing.T) {
	l, _ := limiter(Limits{Total: 2, Reserve: 1})
	for range 2 {
		enter(t, l, far, Admitted).LoggedIn()
	}
	enter(t, l, far, Full)
	local := enter(t, l, "127.0.0.1", Admitted)
	local.LoggedIn()
	enter(t, l, "::1", Full)
	s := l.EnterAdmin(far, nil)
	if s == nil || l.EnterAdmin(far, nil) != nil {
		t.Fatal("the reserve for the admin token is not one connection")
	}
	s.Leave()
	local.Leave()
	if l.EnterAdmin(far, nil) == nil {
		t.Error("the reserve is not given back")
	}
	enter(t, l, "::1", Admitted)
}

// TestCounts draws what happens to connections, and compares the counts with a list.
func TestCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, now := limiter(Limits{Total: 5, PerAddress: 3, Reserve: 2})
		open := map[*Slot]string{}
		t.Repeat(map[string]func(*rapid.T){
			"enter": func(t *rapid.T) {
				addr := rapid.SampledFrom([]string{"127.0.0.1", far, "192.0.2.2"}).Draw(t, "addr")
				var s *Slot
				s, _ = l.Enter(addr, func() {
					for other := range open {
						if other.left {
							delete(open, other)
						}
					}
				})
				if s != nil {
					open[s] = addr
				}
			},
			"admin": func(*rapid.T) {
				if s := l.EnterAdmin(far, func() {}); s != nil {
					open[s] = far
				}
			},
			"change": func(t *rapid.T) {
				for s := range open {
					switch rapid.IntRange(0, 3).Draw(t, "how") {
					case 0:
						s.LoggedIn()
					case 1:
						s.Busy()
					case 2:
						s.Idle()
					case 3:
						s.Leave()
						delete(open, s)
					}
					break
				}
				*now = now.Add(time.Duration(rapid.IntRange(0, 2000).Draw(t, "ms")) * time.Millisecond)
			},
			"": func(t *rapid.T) {
				if l.open() != len(open) || len(l.slots) > 5 || l.local > 2 || l.admin > 2 {
					t.Fatalf("%d open, want %d; %d + %d + %d", l.open(), len(open), len(l.slots), l.local, l.admin)
				}
				by := map[string]int{}
				for _, addr := range open {
					by[addr]++
				}
				for addr, n := range by {
					if l.OpenOf(addr) != n {
						t.Fatalf("%d of %s, want %d", l.OpenOf(addr), addr, n)
					}
				}
			},
		})
	})
}

func TestAddressOf(t *testing.T) {
	for text, want := range map[string]string{
		"192.0.2.1:80": "192.0.2.1", "[2001:db8::1:2:3:4]:80": "2001:db8::", "[::ffff:192.0.2.1]:80": "192.0.2.1", "[::1]:80": "::1", "[fe80::1%eth0]:1": "fe80::",
	} {
		addr, err := net.ResolveTCPAddr("tcp", text)
		if err != nil {
			t.Log(err) // an unknown zone
			continue
		}
		if got := AddressOf(remote{addr: addr}); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

type remote struct {
	net.Conn
	addr net.Addr
}

func (r remote) RemoteAddr() net.Addr { return r.addr }

// TestReserveGrowsWithTheTotal: a hundredth is kept, from four connections to 64; without a limit nothing is.
func TestReserveGrowsWithTheTotal(t *testing.T) {
	for total, want := range map[int]int{-1: 0, 0: 0, 1: 4, 100: 4, 400: 4, 500: 5, 1000: 10, 6400: 64, 6500: 64, 1_000_000: 64} {
		if got := ReserveFor(total); got != want {
			t.Errorf("of %d connections %d are kept, want %d", total, got, want)
		}
	}
}
