package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// What big-join does, and demands.
const (
	bigMessages = 5_000 // unless -messages says otherwise: 5,000,000 are 20 GB of bodies
	bigSnapshot = 5 * time.Second
	bigRestart  = 20 * time.Second
	bigWritten  = 2.5 // bytes written for each byte that clients sent
	// bigLeast is the size in bytes of all bodies from which on it demands the last: until a log has all its files, each new one is
	// filled first, 0.6 GB of them.
	bigLeast = 1 << 30
)

// bigJoin is big-join: messages with large bodies wait. It measures a snapshot, a restart, and a node that joins and fetches all
// bodies from the others; every node then reads the right ones.
func bigJoin(ctx context.Context, s *session) error {
	ctx, cancel := context.WithTimeout(ctx, waitingLimit)
	defer cancel()
	c, err := s.nodes(ctx)
	if err != nil {
		return err
	}
	r := &waitingRun{c: c, count: bigMessages, body: waitingBody, ids: map[int]string{}}
	if s.messages > 0 {
		r.count = s.messages
	}
	if s.body > 0 {
		r.body = s.body
	}
	leader, err := c.WaitLeader(ctx)
	if err != nil {
		return err
	}
	r.to = c.Nodes[leader.Node] // so the others write to their disks what they write, and forward nothing
	sent := int64(r.count) * int64(r.body)
	began := time.Now()
	if err := r.publish(ctx, 0, r.count); err != nil {
		return err
	}
	s.printf("%d messages with bodies of %d bytes, %d MB, published in %v", r.count, r.body, sent/1e6, time.Since(began).Round(time.Second))
	r.to = nil
	if leader, err = c.WaitLeader(ctx); err != nil {
		return err
	}
	var failed []error
	demand := func(what string, took, most time.Duration) {
		s.printf("%s: %v", what, took.Round(10*time.Millisecond))
		if took > most {
			failed = append(failed, fmt.Errorf("%s took %v, at most %v are allowed", what, took, most))
		}
	}
	for _, n := range c.Nodes {
		if _, err := timedSnapshot(ctx, n); err != nil { // it writes the bodies that are in memory still
			return err
		}
		if err := r.one(ctx); err != nil {
			return err
		}
		took, err := timedSnapshot(ctx, n)
		if err != nil {
			return err
		}
		demand("a snapshot of "+n.ID, took, bigSnapshot)
		if n == c.Nodes[leader.Node] {
			continue
		}
		written, err := writtenBy(n.Pid())
		if err != nil {
			return err
		}
		share := float64(written) / float64(sent)
		segments, log, err := writtenTo(ctx, n)
		if err != nil {
			return err
		}
		s.printf("%s has written %d MB, %.2f times what clients sent: %d MB to segments of payloads; the log's files have %d MB", n.ID, written/1e6, share, segments/1e6, log/1e6)
		if share > bigWritten && sent >= bigLeast {
			failed = append(failed, fmt.Errorf("%s has written %.2f times what clients sent, at most %.1f is allowed", n.ID, share, bigWritten))
		}
	}
	took, err := r.restart(ctx)
	if err != nil {
		return err
	}
	demand("a restart", took, bigRestart)
	began = time.Now()
	if err := r.replace(ctx); err != nil {
		return err
	}
	took = time.Since(began)
	s.printf("a node without a disk replaced in %v, %.0f MB/s", took.Round(10*time.Millisecond), float64(sent)/1e6/took.Seconds())
	for _, n := range c.Nodes {
		if err := r.verify(ctx, n); err != nil {
			return err
		}
	}
	s.printf("each node has all messages, and the right body of each of %d that were read", len(r.ids))
	return errors.Join(failed...)
}

// one publishes a message more, so that there is something for a snapshot.
func (r *waitingRun) one(ctx context.Context) error {
	r.count++
	return r.publish(ctx, r.count-1, r.count)
}

// timedSnapshot has a node take a snapshot, and returns how long that took.
func timedSnapshot(ctx context.Context, n *testcluster.Node) (time.Duration, error) {
	began := time.Now()
	status, body, err := n.Admin().Post(ctx, "/admin/snapshot")
	if err != nil || status != http.StatusOK {
		return 0, fmt.Errorf("take a snapshot: status %d: %s: %w", status, body, err)
	}
	return time.Since(began), nil
}

// restart kills a node that does not lead, and returns how long it takes from its start until it is ready.
func (r *waitingRun) restart(ctx context.Context) (time.Duration, error) {
	leader, err := r.c.WaitLeader(ctx)
	if err != nil {
		return 0, err
	}
	n := r.c.Nodes[(leader.Node+1)%r.c.Size()]
	if err := n.Kill(); err != nil {
		return 0, err
	}
	began := time.Now()
	if err := n.Start(); err != nil {
		return 0, err
	}
	err = r.c.WaitNodeReady(ctx, n)
	return time.Since(began), err
}

// writtenTo returns the bytes that a node has written to segments of payloads, and the size in bytes of the log's files, which were filled
// once before they were used.
func writtenTo(ctx context.Context, n *testcluster.Node) (segments, log int64, err error) {
	status, body, err := n.Admin().Get(ctx, "/metrics")
	if err != nil || status != http.StatusOK {
		return 0, 0, fmt.Errorf("metrics of %s: status %d: %w", n.ID, status, err)
	}
	_, rest, _ := strings.Cut(string(body), "\ntrireme_payload_written_bytes_total ")
	value, _, _ := strings.Cut(rest, "\n")
	counted, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return 0, 0, fmt.Errorf("metrics of %s: bytes of payloads: %w", n.ID, err)
	}
	files, err := os.ReadDir(filepath.Join(n.DataDir, "log"))
	if err != nil {
		return 0, 0, err
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			continue // it was used again meanwhile
		}
		log += info.Size()
	}
	return int64(counted), log, nil
}

// writtenBy returns the bytes that a process has written, to connections too: a follower writes little to these. What the kernel counts
// as written to disks (write_bytes) is no measure: it has a large page again each time that a part of it is written.
func writtenBy(pid int) (int64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "wchar:"); ok {
			return strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
		}
	}
	return 0, errors.New("the kernel does not count what processes write")
}
