package proc

import (
	"fmt"
	"net"
	"sync"

	"github.com/trireme-dev/trireme/internal/testports"
)

// Ports hands out free loopback ports outside the ephemeral range: a port
// from inside could be taken by any outgoing connection while its server is
// down, as happens when a killed node is started again. They come in blocks that no other program of the product draws while
// this process lives (package testports), and none is handed out twice.
type Ports struct {
	mu    sync.Mutex
	block *testports.Block
	next  int                // of the block
	full  []*testports.Block // they stay reserved as long as they are known
}

// NewPorts reserves the first block.
func NewPorts() (*Ports, error) {
	block, err := testports.Reserve()
	if err != nil {
		return nil, fmt.Errorf("ports: %w", err)
	}
	return &Ports{block: block}, nil
}

// Take returns a port on which no process listens now.
func (p *Ports) Take() (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if p.next == p.block.Size() {
			block, err := testports.Reserve()
			if err != nil {
				return 0, fmt.Errorf("ports: %w", err)
			}
			p.full = append(p.full, p.block)
			p.block, p.next = block, 0
		}
		p.next++
		l, err := net.Listen("tcp", p.block.Addr(p.next-1))
		if err != nil {
			continue
		}
		l.Close()
		return p.block.Port(p.next - 1), nil
	}
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
