package scenario

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/load"
	"github.com/trireme-dev/trireme/bench/internal/peer"
	"github.com/trireme-dev/trireme/bench/internal/report"
)

const (
	snapshotConns = 64
	// mostAmplified bounds the bytes that the log and snapshots write, as a multiple of the log's bytes.
	mostAmplified = 2
	// snapshotLook is the interval between two reads of the snapshots' directory. A node keeps two, and begins one a second at most.
	snapshotLook = 200 * time.Millisecond
)

// Snapshots measures by how much snapshots amplify the writes of one node, for each of the numbers of keys: random SETs over
// HTTP for that long, beginning right after a snapshot. done reports whether a number was measured before.
func (b *Bench) Snapshots(ctx context.Context, counts []int, long time.Duration, done func(*report.Row) bool, put func([]*report.Row)) {
	for _, keys := range counts {
		row := &report.Row{ID: "snapshots", Part: fmt.Sprint(keys, " keys"), Work: fmt.Sprintf("bytes of log and snapshots, SETs for %v, one node", long), Against: "bytes of log entries",
			Unit: "x", AtMost: true, Line: mostAmplified, AimAt: 1.5}
		if done(row) {
			b.Log("  %s: measured before", row.Part)
			continue
		}
		conclude(b.snapshots(ctx, keys, long, row), row)
		if ctx.Err() != nil {
			return
		}
		put([]*report.Row{row})
	}
}

// writes are the bytes that a node has written.
type writes struct {
	disk, log float64 // disk is 0 if it is not known
	snapshots map[string]int64
}

func (b *Bench) writesOf(ctx context.Context, n *peer.Node) (w writes, err error) {
	if disk, err := n.Written(); err == nil { // else it is not on a disk of its own
		w.disk = float64(disk)
	}
	if w.log, err = n.Figure(ctx, "trireme_apply_batch_bytes_sum"); err != nil {
		return w, err
	}
	w.snapshots, err = n.Snapshots()
	return w, err
}

func (b *Bench) snapshots(ctx context.Context, keys int, long time.Duration, row *report.Row) error {
	t, err := b.Env.StartDev(ctx)
	if err != nil {
		return err
	}
	defer b.stopping(t)()
	b.noteVersion(ctx, t)
	b.Log("  %s: loading", row.Part)
	if err := fillNode(ctx, peer.At(t.Fill, t.URLs()...), keys); err != nil {
		return err
	}
	node := t.Nodes[0]
	if err := node.Snapshot(ctx); err != nil {
		return err
	}
	before, err := b.writesOf(ctx, node)
	if err != nil {
		return err
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	seen, ended := map[string]int64{}, make(chan error, 1)
	go func() { ended <- watchSnapshots(watching, node.Snapshots, seen) }()
	spec := peer.At(t.Set, t.URLs()...)
	spec.Name, spec.Conns, spec.Keys, spec.Duration, spec.Timeout = row.Part, snapshotConns, keys, long, time.Minute
	r, err := load.Run(ctx, spec)
	stop()
	if err := errors.Join(err, r.Failed(), <-ended); err != nil {
		return err
	}
	after, err := b.writesOf(ctx, node)
	if err != nil {
		return err
	}
	tell(row, r, before, after, seen)
	return nil
}

// watchSnapshots keeps the greatest size that it sees of each snapshot, until ctx ends.
func watchSnapshots(ctx context.Context, list func() (map[string]int64, error), seen map[string]int64) error {
	for {
		now, err := list()
		if err != nil {
			return err
		}
		for name, size := range now { // unordered: each is kept alone
			seen[name] = max(seen[name], size)
		}
		if ctx.Err() != nil {
			return nil
		}
		sleep(ctx, snapshotLook)
	}
}

// tell fills the row with what was written between two readings.
func tell(row *report.Row, r load.Result, before, after writes, seen map[string]int64) {
	var total, most int64
	count := 0
	for name, size := range seen { // unordered: sums
		if _, old := before.snapshots[name]; !old {
			count, total, most = count+1, total+size, max(most, size)
		}
	}
	log, disk := after.log-before.log, after.disk-before.disk
	row.Add((log+float64(total))/log, 0)
	sent := float64(r.Requests) * (peer.KeySize + peer.ValueSize)
	row.Note("%s SETs a second for %.0f s: keys and values %s, log entries %s", report.Figure(r.Rate, ""), r.Seconds, report.Figure(sent, "B"), report.Figure(log, "B"))
	row.Note("%d snapshots wrote %s, the largest %s", count, report.Figure(float64(total), "B"), report.Figure(float64(most), "B"))
	if after.disk > 0 {
		row.Note("the disk wrote %s, whatever process it came from, %.2f x the log entries: a disk writes whole blocks, so a small entry takes one of its own", report.Figure(disk, "B"), disk/log)
	}
}
