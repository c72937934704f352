package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/trireme-dev/trireme/clients"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
	"github.com/trireme-dev/trireme/jepsen/workload/blocking"
)

// respPorts are the RESP ports of the line's cluster.
func (s *session) respPorts(ctx context.Context) ([]string, error) {
	c, err := s.nodes(ctx)
	if err != nil {
		return nil, err
	}
	addrs := make([]string, c.Size())
	for i, n := range c.Nodes {
		addrs[i] = n.RESP
	}
	return addrs, nil
}

// urls returns the URLs of the session's cluster, which runs.
func (s *session) urls() (urls []string) {
	for _, n := range s.cluster.Nodes {
		urls = append(urls, "http://"+n.HTTP)
	}
	return urls
}

// respClients is resp-clients: our programs for ordinary clients.
func respClients(ctx context.Context, s *session) error {
	if err := s.command(ctx, "make", "setup"); err != nil {
		return err
	}
	addrs, err := s.respPorts(ctx)
	if err != nil {
		return err
	}
	if output, err := clients.Limits(ctx, s.urls(), testcluster.Token); err != nil {
		return fmt.Errorf("the rate limiter and the lock: %w\n%s", err, output)
	}
	s.printf("the rate limiter and the lock over HTTP: passed")
	for _, c := range clients.RESPClients() {
		began := time.Now()
		if output, err := c.Run(ctx, addrs, testcluster.Token); err != nil {
			return fmt.Errorf("%s: %w\n%s", c.Name, err, output)
		}
		s.printf("%s: passed in %v", c.Name, time.Since(began).Round(time.Millisecond))
	}
	return nil
}

// clientMethods is client-methods: every method that the published client has.
func clientMethods(ctx context.Context, s *session) error {
	if err := s.command(ctx, "make", "setup"); err != nil {
		return err
	}
	if _, err := s.nodes(ctx); err != nil {
		return err
	}
	output, err := clients.Methods(ctx, s.urls(), testcluster.Token)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, output)
	}
	s.printf("%s", output)
	return nil
}

const (
	popWaiters  = 100
	popElements = 10_000
	popRounds   = 100
	// popTime bounds the whole experiment.
	popTime = 10 * time.Minute
)

// blockingPops is blocking-pops.
func blockingPops(ctx context.Context, s *session) error {
	addrs, err := s.respPorts(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, popTime)
	defer cancel()
	r, err := blocking.Run(ctx, blocking.Options{
		Addrs: addrs, Token: testcluster.Token, Waiters: popWaiters, Elements: popElements, Rounds: s.count(popRounds), Seed: rand.Uint64(),
	})
	s.printf("%d elements taken once each, by every client between %d and %d; %d more in rounds of %d clients, those of a node in turn",
		r.Taken, r.Fewest, r.Most, r.Ordered, popWaiters)
	return err
}
