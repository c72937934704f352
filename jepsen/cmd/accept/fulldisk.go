package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

const (
	fullDiskRounds = 3
	fullDiskBytes  = 256 << 20
	fullDiskLimit  = 5 * time.Second // for another node to lead
	fullDiskLoad   = 8 * time.Second
)

// fullRound is one leader whose disk ran full under load.
type fullRound struct {
	Moved        time.Duration // until another node led
	Acknowledged int64
	Unknown      int64
	Wrong        int64
	Problems     []string
}

// fullDisks fills the disk of the leader, a small file system of its own, to the
// last byte. Another node must lead soon, nothing acknowledged may be lost, and
// the node must be ready again, in the same process, when there is room.
func fullDisks(ctx context.Context, s *session) error {
	if os.Geteuid() != 0 {
		s.printf("full disk of a whole node: left out, since only root can mount a small file system")
		return nil
	}
	rounds, err := repeat(s.progress, "full disk", s.count(fullDiskRounds), func(i int) (fullRound, error) {
		return fillDisk(ctx, s, i)
	})
	if err != nil {
		return err
	}
	moved := durations(rounds, func(r fullRound) time.Duration { return r.Moved })
	wrong := total(rounds, func(r fullRound) int64 { return r.Wrong })
	s.printf("disk of the leader full %d times: another led after p50 %v, max %v; %d acknowledged writes, %d wrong values",
		len(rounds), middle(moved), last(moved), total(rounds, func(r fullRound) int64 { return r.Acknowledged }), wrong)
	if wrong > 0 {
		err = fmt.Errorf("%d values lost or invented beside a full disk, want 0", wrong)
	}
	return errors.Join(err, atMost("another leader after the disk ran full", last(moved), fullDiskLimit))
}

// fillDisk runs one round on a cluster of its own.
func fillDisk(ctx context.Context, s *session, i int) (r fullRound, err error) {
	c, unmount, err := s.smallDisk()
	if err != nil {
		return r, err
	}
	defer unmount()
	defer c.Close()
	n := c.Nodes[0]
	if err := errors.Join(c.Start(), waitReady(ctx, c, 30*time.Second), makeLead(ctx, c, n)); err != nil {
		return r, err
	}
	pid := n.Pid()
	w := startWriters(c, fmt.Sprint("full:", i))
	sleep(ctx, time.Second)
	filler, began := filepath.Join(n.DataDir, "filler"), time.Now()
	err = errors.Join(fill(filler), waitOtherLeader(ctx, c, n))
	r.Moved = time.Since(began)
	sleep(ctx, time.Until(began.Add(fullDiskLoad)))
	w.end()
	if err := errors.Join(err, os.Remove(filler), waitReady(ctx, c, 30*time.Second)); err != nil {
		return r, err
	}
	if n.Pid() != pid {
		return r, fmt.Errorf("%s ended while its disk was full; its log ends:\n%s", n.ID, n.Tail(20))
	}
	w.verify(ctx)
	r.Acknowledged, r.Unknown = total(w.clients, acknowledged), total(w.clients, unknown)
	r.Wrong, r.Problems = w.wrong, w.problems
	s.printf("round %d: another led after %v, %d acknowledged, %d unknown, %d wrong", i+1, r.Moved.Round(time.Millisecond), r.Acknowledged, r.Unknown, r.Wrong)
	for _, p := range r.Problems {
		s.printf("  %s", p)
	}
	return r, nil
}

// smallDisk is a cluster whose first node has a small file system of its own.
func (s *session) smallDisk() (c *testcluster.Cluster, unmount func(), err error) {
	binary, err := s.product()
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "trireme-full-")
	if err != nil {
		return nil, nil, err
	}
	if c, err = testcluster.NewCluster(testcluster.Options{Binary: binary, Dir: dir}); err != nil {
		return nil, nil, err
	}
	data := c.Nodes[0].DataDir
	if err := os.Mkdir(data, 0o700); err != nil {
		return nil, nil, err
	}
	if err := syscall.Mount("tmpfs", data, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", fullDiskBytes)); err != nil {
		return nil, nil, fmt.Errorf("mount a small file system: %w", err)
	}
	return c, func() {
		if err := syscall.Unmount(data, syscall.MNT_DETACH); err == nil {
			os.RemoveAll(dir)
		}
	}, nil
}

// makeLead hands leadership to the node.
func makeLead(ctx context.Context, c *testcluster.Cluster, n *testcluster.Node) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return testcluster.Poll(ctx, 100*time.Millisecond, func() error {
		l, err := c.Leader(ctx)
		if err == nil && c.Nodes[l.Node] == n {
			return nil
		}
		return errors.Join(fmt.Errorf("%s does not lead", n.ID), c.TransferLeadershipTo(ctx, n))
	})
}

// waitOtherLeader waits until another node leads.
func waitOtherLeader(ctx context.Context, c *testcluster.Cluster, n *testcluster.Node) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	return testcluster.Poll(ctx, 10*time.Millisecond, func() error {
		if l, err := c.Leader(ctx); err != nil || c.Nodes[l.Node] == n {
			return fmt.Errorf("%s still leads with a full disk; its log ends:\n%s", n.ID, n.Tail(20))
		}
		return nil
	})
}

// fill writes a file until there is no room for another byte.
func fill(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	for _, size := range []int{1 << 20, 1 << 12, 1} {
		chunk := make([]byte, size)
		for err = nil; err == nil; {
			_, err = file.Write(chunk)
		}
		if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, io.ErrShortWrite) {
			return err
		}
	}
	return nil
}
