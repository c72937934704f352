package proc

import (
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
)

// Ports hands out free loopback ports outside the ephemeral range: a port
// from inside could be taken by any outgoing connection while its server is
// down, as happens when a killed node is started again.
type Ports struct {
	mu        sync.Mutex
	next, end int
}

// NewPorts reads the ephemeral range from the kernel and takes the larger side
// outside it. Where it begins depends on the process id, so that benchmarks
// side by side rarely meet.
func NewPorts() (*Ports, error) {
	b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return nil, err
	}
	var low, high int
	if _, err := fmt.Sscan(strings.TrimSpace(string(b)), &low, &high); err != nil {
		return nil, fmt.Errorf("ephemeral port range %q: %w", b, err)
	}
	first, end := outside(low, high)
	if end-first < 100 {
		return nil, fmt.Errorf("ephemeral ports %d to %d leave no room for servers", low, high)
	}
	return &Ports{next: first + os.Getpid()%((end-first)/2), end: end}, nil
}

// outside returns the larger of the unprivileged spans beside [low, high].
func outside(low, high int) (first, end int) {
	const unprivileged, all = 10000, 65536
	if low-unprivileged >= all-high-1 {
		return unprivileged, low
	}
	return high + 1, all
}

// Take returns a port on which nobody listens now.
func (p *Ports) Take() (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for ; p.next < p.end; p.next++ {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", p.next))
		if err != nil {
			continue
		}
		l.Close()
		p.next++
		return p.next - 1, nil
	}
	return 0, fmt.Errorf("no free port below %d", p.end)
}

// Addr returns 127.0.0.1 with a port from Take.
func (p *Ports) Addr() (string, error) {
	n, err := p.Take()
	return fmt.Sprintf("127.0.0.1:%d", n), err
}

// Addrs returns n addresses.
func (p *Ports) Addrs(n int) ([]string, error) {
	all := make([]string, n)
	for i := range all {
		var err error
		if all[i], err = p.Addr(); err != nil {
			return nil, err
		}
	}
	return all, nil
}
