package network

import (
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// Relay carries TCP connections to the nodes. It knows who calls by the process that owns
// the other end of the connection.
type Relay struct {
	nodes  int
	caller func(from net.Addr, to net.Addr) int // the node that calls; nodes for a client
	gates  [][]*gate                            // by from and to
	stop   chan struct{}

	mu    sync.Mutex
	ports []net.Listener
	all   sync.WaitGroup
}

// NewRelay makes a relay; caller says which node owns a connection with these ends.
func NewRelay(nodes int, caller func(from, to net.Addr) int) *Relay {
	r := &Relay{nodes: nodes, caller: caller, stop: make(chan struct{})}
	for range nodes + 1 {
		row := make([]*gate, nodes+1)
		for to := range row {
			row[to] = &gate{changed: make(chan struct{})}
		}
		r.gates = append(r.gates, row)
	}
	return r
}

// Carry accepts connections at an address and carries them to a node's.
func (r *Relay) Carry(at string, node int, to string) error {
	l, err := net.Listen("tcp", at)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.ports = append(r.ports, l)
	r.mu.Unlock()
	r.all.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return // closed
			}
			r.all.Go(func() { r.connect(in, node, to) })
		}
	})
	return nil
}

// connect opens the other half of a connection and carries both directions. Who reaches
// nobody is answered as a closed port answers: with a reset.
func (r *Relay) connect(in net.Conn, node int, to string) {
	defer in.Close()
	from := r.caller(in.RemoteAddr(), in.LocalAddr())
	if !r.gates[from][node].pass(0, r.stop) || !r.gates[node][from].pass(0, r.stop) {
		return
	}
	out, err := net.DialTimeout("tcp", to, time.Second)
	if err != nil {
		in.(*net.TCPConn).SetLinger(0)
		return
	}
	defer out.Close()
	over := make(chan struct{}, 2)
	var both sync.WaitGroup
	both.Go(func() { r.carry(in, out, r.gates[from][node], over) })
	both.Go(func() { r.carry(out, in, r.gates[node][from], over) })
	select { // whichever direction ends, ends the other; so does the relay
	case <-over:
	case <-r.stop:
	}
	in.Close()
	out.Close()
	both.Wait()
}

// carry copies one direction until it ends.
func (r *Relay) carry(from, to net.Conn, g *gate, over chan struct{}) {
	defer func() { over <- struct{}{} }()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if !g.pass(n, r.stop) {
				return
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// Clients implements Network.
func (r *Relay) Clients() int { return r.nodes }

// Frames implements Network.
func (r *Relay) Frames() bool { return false }

// Set implements Network.
func (r *Relay) Set(from, to int, rule Rule) { r.gates[from][to].set(rule) }

// Heal implements Network.
func (r *Relay) Heal() {
	for _, row := range r.gates {
		for _, g := range row {
			g.set(Rule{})
		}
	}
}

// Close implements Network.
func (r *Relay) Close() {
	close(r.stop)
	r.mu.Lock()
	var errs []error
	for _, l := range r.ports {
		errs = append(errs, l.Close())
	}
	r.mu.Unlock()
	if errors.Join(errs...) == nil {
		r.all.Wait()
	}
}

// gate holds up one direction.
type gate struct {
	mu      sync.Mutex
	rule    Rule
	changed chan struct{} // closed when the rule changes
}

func (g *gate) set(r Rule) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rule = r
	close(g.changed)
	g.changed = make(chan struct{})
}

func (g *gate) get() (Rule, <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.rule, g.changed
}

// retransmission is the least delay with which TCP sends a lost segment again.
const retransmission = 200 * time.Millisecond

// pass waits for as long as the rule holds so many bytes up; false if the relay ends.
func (g *gate) pass(n int, stop <-chan struct{}) bool {
	for {
		r, changed := g.get()
		if !r.Drop {
			return wait(r.hold(n), stop)
		}
		select {
		case <-changed:
		case <-stop:
			return false
		}
	}
}

// hold returns the delay of n bytes.
func (r Rule) hold(n int) time.Duration {
	d := r.Delay
	if r.Jitter > 0 {
		d += rand.N(r.Jitter)
	}
	if r.Rate > 0 {
		d += time.Duration(int64(n) * int64(time.Second) / r.Rate)
	}
	if r.Loss > 0 && rand.Float64() < r.Loss {
		d += retransmission
	}
	return d
}

func wait(d time.Duration, stop <-chan struct{}) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-stop:
		return false
	}
}
