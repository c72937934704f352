package balancer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"
)

// Backend is a node by its name, the address of its HTTP API and that of its RESP port, which may be empty.
type Backend struct{ Name, HTTP, RESP string }

// Options are the parts of a balancer.
type Options struct {
	Backends []Backend
	Every    time.Duration // between two polls of a node's /readyz; 0 means 200 ms
}

// Limits of what the balancer waits for.
const (
	pollTime  = 5 * time.Second  // for a reply of /readyz
	queueTime = 15 * time.Second // for a node that takes requests
	dialTime  = 10 * time.Second // for a connection to a node
)

// Balancer is a running proxy.
type Balancer struct {
	web, tcp, resp net.Listener
	server         *http.Server
	life           context.Context
	stop           context.CancelFunc
	all            sync.WaitGroup

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced when anything below changes
	backends []*backend
	next     int
	open     map[net.Conn]struct{}
	failures []error
}

// backend is a node as the balancer sees it.
type backend struct {
	Backend
	proxy    *httputil.ReverseProxy
	ready    bool // by the last poll
	out      bool // an operator has taken it out
	sessions int  // requests and connections under way
}

// New opens the balancer's ports on loopback and starts polling.
func New(o Options) (*Balancer, error) {
	if o.Every == 0 {
		o.Every = 200 * time.Millisecond
	}
	b := &Balancer{changed: make(chan struct{}), open: map[net.Conn]struct{}{}}
	b.life, b.stop = context.WithCancel(context.Background())
	for _, l := range []*net.Listener{&b.web, &b.tcp, &b.resp} {
		var err error
		if *l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			b.Close()
			return nil, fmt.Errorf("balancer: %w", err)
		}
	}
	for _, one := range o.Backends {
		n := &backend{Backend: one}
		n.proxy = b.reverseProxy(n)
		b.backends = append(b.backends, n)
	}
	for _, n := range b.backends {
		b.all.Go(func() { b.poll(n, o.Every) })
	}
	b.server = &http.Server{Handler: http.HandlerFunc(b.serveHTTP)}
	b.all.Go(func() { _ = b.server.Serve(b.web) }) // ends with Close
	b.all.Go(func() { b.accept(b.tcp, func(n Backend) string { return n.HTTP }) })
	b.all.Go(func() { b.accept(b.resp, func(n Backend) string { return n.RESP }) })
	return b, nil
}

// HTTP is the address of the reverse proxy: it chooses a node for each request.
func (b *Balancer) HTTP() string { return b.web.Addr().String() }

// TCP is an address that chooses a node for each connection to the HTTP API.
func (b *Balancer) TCP() string { return b.tcp.Addr().String() }

// RESP is an address that chooses a node for each connection to the RESP port.
func (b *Balancer) RESP() string { return b.resp.Addr().String() }

// Failures are the first errors that the balancer met between itself and the nodes.
func (b *Balancer) Failures() []error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]error(nil), b.failures...)
}

// Close ends the balancer and all connections.
func (b *Balancer) Close() {
	b.stop()
	for _, l := range []net.Listener{b.web, b.tcp, b.resp} {
		if l != nil {
			l.Close()
		}
	}
	if b.server != nil {
		b.server.Close()
	}
	b.mu.Lock()
	for c := range b.open { // unordered: each is closed alike
		c.Close()
	}
	b.mu.Unlock()
	b.all.Wait()
}

// change runs f under the lock and wakes the goroutines that wait for a change.
func (b *Balancer) change(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
	close(b.changed)
	b.changed = make(chan struct{})
}

// await waits until done, which is called under the lock, is true.
func (b *Balancer) await(ctx context.Context, done func() bool) error {
	for {
		b.mu.Lock()
		ok, changed := done(), b.changed
		b.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-b.life.Done():
			return net.ErrClosed
		}
	}
}

func (b *Balancer) fail(n *backend, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.failures) < 10 {
		b.failures = append(b.failures, fmt.Errorf("%s: %w", n.Name, err))
	}
}

// begin chooses the next node in turn and counts a session of it; it waits for a node that takes any.
func (b *Balancer) begin(ctx context.Context) (chosen *backend, err error) {
	ctx, cancel := context.WithTimeout(ctx, queueTime)
	defer cancel()
	err = b.await(ctx, func() bool {
		for range b.backends {
			n := b.backends[b.next%len(b.backends)]
			if b.next++; n.ready && !n.out {
				n.sessions++
				chosen = n
				return true
			}
		}
		return false
	})
	return chosen, err
}

func (b *Balancer) end(n *backend) { b.change(func() { n.sessions-- }) }

// poll follows a node's /readyz. Whatever isn't 200 is not ready.
func (b *Balancer) poll(n *backend, every time.Duration) {
	client := &http.Client{Timeout: pollTime, Transport: &http.Transport{DisableKeepAlives: true}}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		ready := check(b.life, client, "http://"+n.HTTP+"/readyz")
		b.mu.Lock()
		same := n.ready == ready
		b.mu.Unlock()
		if !same {
			b.change(func() { n.ready = ready })
		}
		select {
		case <-ticker.C:
		case <-b.life.Done():
			return
		}
	}
}

func check(ctx context.Context, client *http.Client, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	res, err := client.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return err == nil && res.StatusCode == http.StatusOK
}

// reverseProxy passes requests on to a node. A transport repeats only what it can read again, and bodies of
// requests that a server got can't be.
func (b *Balancer) reverseProxy(n *backend) *httputil.ReverseProxy {
	dialer := &net.Dialer{Timeout: dialTime}
	return &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: n.HTTP}) },
		Transport: &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: 1024, DisableCompression: true},
		ErrorLog:  log.New(io.Discard, "", 0),
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() == nil {
				b.fail(n, err)
			}
			http.Error(w, "balancer: "+n.Name+": "+err.Error(), http.StatusBadGateway)
		},
	}
}

func (b *Balancer) serveHTTP(w http.ResponseWriter, r *http.Request) {
	n, err := b.begin(r.Context())
	if err != nil {
		http.Error(w, "balancer: no node is ready", http.StatusServiceUnavailable)
		return
	}
	defer b.end(n)
	n.proxy.ServeHTTP(w, r)
}

var errNoBackend = errors.New("balancer: no such node")

// find returns the node of that name.
func (b *Balancer) find(name string) (*backend, error) {
	for _, n := range b.backends {
		if n.Name == name {
			return n, nil
		}
	}
	return nil, fmt.Errorf("%w: %s", errNoBackend, name)
}

// TakeOut sends nothing new to a node, whatever its /readyz says, until PutBack.
func (b *Balancer) TakeOut(name string) error { return b.setOut(name, true) }

// PutBack ends TakeOut.
func (b *Balancer) PutBack(name string) error { return b.setOut(name, false) }

func (b *Balancer) setOut(name string, out bool) error {
	n, err := b.find(name)
	if err == nil {
		b.change(func() { n.out = out })
	}
	return err
}

// WaitQuiet returns when no request and no connection is under way at a node.
func (b *Balancer) WaitQuiet(ctx context.Context, name string) error {
	n, err := b.find(name)
	if err != nil {
		return err
	}
	if err := b.await(ctx, func() bool { return n.sessions == 0 }); err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		return fmt.Errorf("balancer: %s still has %d requests and connections: %w", name, n.sessions, err)
	}
	return nil
}

// WaitReady returns when the last poll found the node ready.
func (b *Balancer) WaitReady(ctx context.Context, name string) error {
	return b.waitFor(ctx, name, true)
}

// WaitUnready returns when the last poll found the node not ready.
func (b *Balancer) WaitUnready(ctx context.Context, name string) error {
	return b.waitFor(ctx, name, false)
}

func (b *Balancer) waitFor(ctx context.Context, name string, ready bool) error {
	n, err := b.find(name)
	if err != nil {
		return err
	}
	if err := b.await(ctx, func() bool { return n.ready == ready }); err != nil {
		return fmt.Errorf("balancer: wait for %s to be ready: %t: %w", name, ready, err)
	}
	return nil
}
