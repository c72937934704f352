package egresstest

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// Resolver is a DNS server on loopback. Each question for a name takes the next of its
// addresses; the last one stays.
type Resolver struct {
	conn net.PacketConn
	done sync.WaitGroup

	mu    sync.Mutex
	names map[string][]netip.Addr
	asked map[string]int
}

// NewResolver starts a resolver that ends with the test.
func NewResolver(t testing.TB) *Resolver {
	t.Helper()
	r, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// Start starts a resolver outside tests. Close it.
func Start() (*Resolver, error) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &Resolver{conn: conn, names: map[string][]netip.Addr{}, asked: map[string]int{}}
	r.done.Go(r.serve)
	return r, nil
}

// Close ends the resolver.
func (r *Resolver) Close() {
	r.conn.Close()
	r.done.Wait()
}

// Addr returns the address at which it answers, host:port.
func (r *Resolver) Addr() string { return r.conn.LocalAddr().String() }

// Set says what a name resolves to, one answer after the other.
func (r *Resolver) Set(name string, addrs ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []netip.Addr
	for _, a := range addrs {
		all = append(all, netip.MustParseAddr(a))
	}
	r.names[name], r.asked[name] = all, 0
}

// Asked returns the number of a name's addresses that were given out.
func (r *Resolver) Asked(name string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked[name]
}

// Net is the resolver for a dialer.
func (r *Resolver) Net() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", r.conn.LocalAddr().String())
	}}
}

func (r *Resolver) serve() {
	buf := make([]byte, 1500)
	for {
		n, from, err := r.conn.ReadFrom(buf)
		if err != nil {
			return
		}
		if reply, ok := r.answer(buf[:n]); ok {
			r.conn.WriteTo(reply, from)
		}
	}
}

func (r *Resolver) answer(question []byte) ([]byte, bool) {
	var m dnsmessage.Message
	if err := m.Unpack(question); err != nil || len(m.Questions) != 1 {
		return nil, false
	}
	q := m.Questions[0]
	m.Response, m.Additionals = true, nil
	addr, known := r.next(strings.TrimSuffix(q.Name.String(), "."), q.Type)
	if !known {
		m.RCode = dnsmessage.RCodeNameError
	}
	head := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
	switch {
	case addr.Is4() && q.Type == dnsmessage.TypeA:
		m.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AResource{A: addr.As4()}}}
	case addr.Is6() && q.Type == dnsmessage.TypeAAAA:
		m.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}}}
	}
	reply, err := m.Pack()
	return reply, err == nil
}

// next is the address for a question; none if it is of another type.
func (r *Resolver) next(name string, kind dnsmessage.Type) (netip.Addr, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.names[name]
	if len(all) == 0 {
		return netip.Addr{}, false
	}
	addr := all[min(r.asked[name], len(all)-1)]
	if addr.Is4() != (kind == dnsmessage.TypeA) {
		return netip.Addr{}, true
	}
	r.asked[name]++
	return addr, true
}
