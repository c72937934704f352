package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/trireme-dev/trireme/jepsen/slowdisks"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

const (
	greyRounds   = 3
	greySync     = 200 * time.Millisecond
	greySnapshot = 90 * time.Second
)

// greyDisk is grey-disk: a leader, and then all nodes, whose syncs take 200 ms more under load, and snapshots in turn.
func greyDisk(ctx context.Context, s *session) error {
	binary, err := testcluster.Build(filepath.Join(s.dir, "bin"), testcluster.BuildOptions{Race: s.race, Failpoints: true})
	if err != nil {
		return err
	}
	var all []error
	times := slowdisks.Times{Before: 10 * time.Second, During: 30 * time.Second, After: 10 * time.Second}
	for i := range s.count(greyRounds) {
		all = append(all, s.onNodes(ctx, binary, nil, func(c *testcluster.Cluster) error {
			r, err := slowdisks.Leader(ctx, c, greySync, times)
			s.printf("round %d: syncs of the leader take %v longer: gave way after %v, %d change(s) of leader", i+1, greySync, r.Moved.Round(time.Millisecond), r.Changes)
			s.printf("  before:           %v", r.Before)
			s.printf("  until it gave way: %v", r.Waiting)
			s.printf("  after that:       %v", r.During)
			s.printf("  disk mended:      %v", r.After)
			return err
		}))
	}
	all = append(all, s.onNodes(ctx, binary, nil, func(c *testcluster.Cluster) error {
		r, err := slowdisks.All(ctx, c, greySync, times)
		s.printf("syncs of all nodes take %v longer: %d changes of leader", greySync, r.Changes)
		s.printf("  before: %v", r.Before)
		s.printf("  during: %v", r.During)
		s.printf("  after:  %v", r.After)
		return err
	}), s.onNodes(ctx, binary, slowdisks.SnapshotFlags, func(c *testcluster.Cluster) error {
		count, err := slowdisks.Turns(ctx, c, greySnapshot)
		s.printf("snapshots in %v under load, each of %v and more: %v, overlapping: %t", greySnapshot, 2*time.Second, count, err != nil)
		return err
	}))
	return errors.Join(all...)
}

// onNodes runs an experiment on a cluster of its own.
func (s *session) onNodes(ctx context.Context, binary string, args []string, experiment func(*testcluster.Cluster) error) error {
	dir, err := s.scratch()
	if err != nil {
		return err
	}
	c, err := testcluster.NewCluster(testcluster.Options{Binary: binary, Dir: dir, Args: args})
	if err != nil {
		return err
	}
	defer c.Close()
	if err := errors.Join(c.Start(), waitReady(ctx, c, 30*time.Second)); err != nil {
		return err
	}
	err = experiment(c)
	for _, crash := range c.Crashes() {
		err = errors.Join(err, fmt.Errorf("%s ended by itself with exit code %d; its log ends:\n%s", crash.Node, crash.ExitCode, crash.Log))
	}
	return err
}
