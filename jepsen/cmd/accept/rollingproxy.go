package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
	"github.com/trireme-dev/trireme/jepsen/testcluster/balancer"
)

const (
	// proxiedDrain is the drain time of a node of the release, as the packages set it.
	proxiedDrain = 5 * time.Second
	// proxiedRequests is the minimum number of requests in each half of the run.
	proxiedRequests = 100_000
	// quietLimit bounds an operator's wait until a node that is taken out has no connections.
	quietLimit = 30 * time.Second
)

// drainSetting has nodes drain. It is a variable, because the release before doesn't know the flag.
func drainSetting(d time.Duration) string { return "TRIREME_DRAIN=" + d.String() }

// rollingProxy is a cluster behind a reverse proxy that follows /readyz, under clients none of which sends anything
// twice. First it is upgraded from the previous version, downgraded and upgraded again; then nodes of the
// release are restarted one after the other. No request fails.
func rollingProxy(ctx context.Context, s *session) error {
	old, next, err := s.versions()
	if err != nil {
		return err
	}
	if s.next == "" { // the release as it is: it must not raise the level while nodes go back
		if next, err = s.product(); err != nil {
			return err
		}
	}
	upgrades := func(p *proxied) error {
		for _, to := range []string{next, old, next} {
			if err := p.rollTo(ctx, to, old); err != nil {
				return err
			}
		}
		return nil
	}
	if err := s.proxied(ctx, "upgraded, downgraded, upgraded", old, previousRoutes, upgrades); err != nil {
		return err
	}
	return s.proxied(ctx, "restarted", next, allRoutes, func(p *proxied) error { return p.rollTo(ctx, next, "") })
}

// proxied runs a cluster that starts with one version, and repeats an operation on it until there were enough requests.
func (s *session) proxied(ctx context.Context, name, first string, routes []route, operation func(*proxied) error) error {
	dir, err := s.scratch()
	if err != nil {
		return err
	}
	p, err := newProxied(ctx, testcluster.Options{Binary: first, Dir: filepath.Join(dir, "nodes"), Env: []string{drainSetting(proxiedDrain)}}, routes)
	if err != nil {
		return err
	}
	defer p.close()
	p.report = s.printf
	for err == nil && (p.rounds == 0 || p.clients.requests() < proxiedRequests) {
		err = operation(p)
		p.rounds++
	}
	err = errors.Join(err, p.judge(ctx))
	s.printf("%s %d times: %s", name, p.rounds, p.clients)
	return err
}

// proxied is a cluster behind a balancer, under load.
type proxied struct {
	c       *testcluster.Cluster
	b       *balancer.Balancer
	clients *proxyClients
	runs    map[*testcluster.Node]string // the binary of its process
	rounds  int
	late    time.Duration // the longest time that the balancer took to notice that a node drains
	report  func(format string, args ...any)
}

func newProxied(ctx context.Context, o testcluster.Options, routes []route) (*proxied, error) {
	o.RESP = true
	c, err := testcluster.NewCluster(o)
	if err != nil {
		return nil, err
	}
	p := &proxied{c: c, runs: map[*testcluster.Node]string{}, report: func(string, ...any) {}}
	if err := errors.Join(c.Start(), waitReady(ctx, c, rollingLimit)); err != nil {
		p.close()
		return nil, err
	}
	var backends []balancer.Backend
	for _, n := range c.Nodes {
		p.runs[n] = o.Binary
		backends = append(backends, balancer.Backend{Name: n.ID, HTTP: n.HTTP, RESP: n.RESP})
	}
	if p.b, err = balancer.New(balancer.Options{Backends: backends}); err != nil {
		p.close()
		return nil, err
	}
	for _, n := range c.Nodes {
		err = errors.Join(err, p.inUse(ctx, n))
	}
	if err != nil {
		p.close()
		return nil, err
	}
	p.clients = startProxyClients(p.b, routes)
	return p, nil
}

func (p *proxied) close() {
	if p.clients != nil {
		p.clients.end()
	}
	if p.b != nil {
		p.b.Close()
	}
	p.c.Close()
}

// inUse waits until the balancer has found a node ready.
func (p *proxied) inUse(ctx context.Context, n *testcluster.Node) error {
	ctx, cancel := context.WithTimeout(ctx, rollingLimit)
	defer cancel()
	return p.b.WaitReady(ctx, n.ID)
}

// rollTo has all nodes run a binary, one after the other. Those of the version before don't drain, so the
// operator takes them out of the balancer first.
func (p *proxied) rollTo(ctx context.Context, binary, before string) error {
	for _, n := range p.c.Nodes {
		began, stop := time.Now(), p.stopDraining
		if p.runs[n] == before {
			stop = p.stopTakenOut
		}
		if err := stop(ctx, n); err != nil {
			return err
		}
		if binary == before && n.Logged(logUpgraded) > 0 {
			if err := goBack(ctx, p.runs[n], n); err != nil {
				return err
			}
		}
		n.Use(binary)
		p.runs[n] = binary
		if err := n.Start(); err != nil {
			return err
		}
		if err := errors.Join(p.inUse(ctx, n), p.b.PutBack(n.ID)); err != nil {
			return fmt.Errorf("%w; its log ends:\n%s", err, n.Tail(20))
		}
		p.report("%s: %5.1f s, %s", n.ID, time.Since(began).Seconds(), p.clients)
	}
	return ctx.Err()
}

// stopDraining stops a node of the release: the balancer finds out by itself.
func (p *proxied) stopDraining(ctx context.Context, n *testcluster.Node) error {
	noticed := make(chan time.Duration, 1)
	began := time.Now()
	go func() { // ends with the node
		_ = p.b.WaitUnready(ctx, n.ID)
		noticed <- time.Since(began)
	}()
	if err := n.Stop(rollingStop); err != nil {
		return err
	}
	p.late = max(p.late, <-noticed)
	return nil
}

// stopTakenOut stops a node as docs/upgrading.md says for versions that don't drain.
func (p *proxied) stopTakenOut(ctx context.Context, n *testcluster.Node) error {
	if err := p.b.TakeOut(n.ID); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, quietLimit)
	defer cancel()
	if err := p.b.WaitQuiet(ctx, n.ID); err != nil {
		return err
	}
	if err := n.Stop(rollingStop); err != nil {
		return err
	}
	return p.b.WaitUnready(ctx, n.ID)
}

// judge ends the clients and reports what went wrong.
func (p *proxied) judge(ctx context.Context) (err error) {
	p.clients.end()
	p.clients.verify(ctx)
	for _, problem := range p.clients.problems {
		p.report("  %s", problem)
	}
	for _, failure := range p.b.Failures() {
		p.report("  balancer: %v", failure)
	}
	for _, crash := range p.c.Crashes() {
		err = errors.Join(err, fmt.Errorf("%s ended by itself with exit code %d: %s", crash.Node, crash.ExitCode, crash.Log))
	}
	if n := p.clients.failed.Load(); n > 0 {
		err = errors.Join(err, fmt.Errorf("%d of %d requests failed", n, p.clients.requests()))
	}
	return err
}
