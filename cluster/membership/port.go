package membership

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/trireme-dev/trireme/cluster/transport"
)

// gossipPort is memberlist's own transport, except for connections that begin with the cluster port's magic: those come from
// nodes that want to join and ask which cluster this is (discovery.go). memberlist's own messages never begin with its
// first letter.
type gossipPort struct {
	*memberlist.NetTransport
	answer func(net.Conn) error
	log    *log.Logger

	streams chan net.Conn
	ctx     context.Context
	cancel  context.CancelFunc
	wg      sync.WaitGroup
}

// openGossipPort listens on the gossip address, for TCP and UDP.
func openGossipPort(config *memberlist.Config, answer func(net.Conn) error) (*gossipPort, error) {
	inner, err := memberlist.NewNetTransport(&memberlist.NetTransportConfig{
		BindAddrs: []string{config.BindAddr}, BindPort: config.BindPort, Logger: config.Logger,
	})
	if err != nil {
		return nil, err
	}
	p := &gossipPort{NetTransport: inner, answer: answer, log: config.Logger, streams: make(chan net.Conn)}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.wg.Go(p.dispatch)
	return p, nil
}

// dispatch separates discovery from gossip by the first byte.
func (p *gossipPort) dispatch() {
	for {
		select {
		case c := <-p.NetTransport.StreamCh():
			p.wg.Go(func() { p.accept(c) })
		case <-p.ctx.Done():
			return
		}
	}
}

func (p *gossipPort) accept(c net.Conn) {
	stop := context.AfterFunc(p.ctx, func() { c.Close() })
	defer stop()
	_ = c.SetDeadline(time.Now().Add(transport.HandshakeTimeout))
	first := make([]byte, 1)
	if _, err := io.ReadFull(c, first); err != nil {
		c.Close()
		return
	}
	c = transport.Unread(c, first)
	if first[0] == transport.Magic[0] {
		defer c.Close()
		if what, err := transport.ReadHead(c); err != nil || what != transport.ForDiscovery {
			return
		}
		if err := p.answer(c); err != nil {
			p.log.Printf("[DEBUG] a node that asked which cluster this is was not answered: %v", err)
		}
		return
	}
	_ = c.SetDeadline(time.Time{})
	select {
	case p.streams <- c:
	case <-p.ctx.Done():
		c.Close()
	}
}

// StreamCh returns memberlist's connections.
func (p *gossipPort) StreamCh() <-chan net.Conn { return p.streams }

// Shutdown closes the port.
func (p *gossipPort) Shutdown() error {
	p.cancel()
	err := p.NetTransport.Shutdown()
	p.wg.Wait()
	return err
}

// keyLog passes memberlist's lines on, and explains when a node with another key, or of another cluster, calls again and
// again: memberlist says only that it could not read a packet.
type keyLog struct {
	inner  io.Writer
	logged transport.Reasons
}

// foreign are memberlist's lines about callers that it can't read, and what they mean.
var foreign = []struct{ line, reason string }{
	{"unacceptable label", "it belongs to another cluster"},
	{"encryption is configured but remote state is not encrypted", "it has no gossip key, this node has one"},
	{"remote state is encrypted and encryption is not configured", "it has a gossip key, this node has none"},
	{"no installed keys could decrypt", "its gossip key is not this node's"},
	{"Decrypt packet failed", "its gossip key is not this node's"},
}

// Write takes one line. That our own port is closed, which memberlist notices when the node stops, is left out.
func (kl *keyLog) Write(b []byte) (int, error) {
	if strings.Contains(string(b), net.ErrClosed.Error()) {
		return len(b), nil
	}
	for _, s := range foreign {
		if strings.Contains(string(b), s.line) && kl.logged.IsDue(s.reason) {
			fmt.Fprintf(kl.inner, "[WARN] gossip of a node is rejected: %s (%s)", s.reason, strings.TrimSpace(string(b)))
		}
	}
	return kl.inner.Write(b)
}
