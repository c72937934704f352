package slowdisks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/internal/failpoint"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// SnapshotFlags make nodes write snapshots as often as they may.
var SnapshotFlags = []string{"--snapshot-threshold", "200"}

const (
	// snapshotTakes is the time for which each snapshot is held up before it ends, so that snapshots that begin together overlap.
	snapshotTakes = 2 * time.Second
	// fewestSnapshots is the least number of snapshots of each node that say something.
	fewestSnapshots = 2
)

// snapshot is one that a node has written.
type snapshot struct {
	node       string
	began, end time.Time
}

// Turns has three nodes write snapshots for so long under load, and judges that no two overlap. It returns how many each has
// written. The nodes must have been started with SnapshotFlags.
func Turns(ctx context.Context, c *testcluster.Cluster, d time.Duration) (count map[string]int, err error) {
	for _, n := range c.Nodes {
		err = errors.Join(err, n.Arm(fmt.Sprintf("%s=sleep(%s)", failpoint.MidSnapshot, snapshotTakes)))
	}
	l := startLoad(ctx, c, Clients, 1024)
	sleep(ctx, d)
	if err := errors.Join(err, l.end(), ctx.Err()); err != nil {
		return nil, err
	}
	var all []snapshot
	count = map[string]int{}
	for _, n := range c.Nodes {
		of, err := snapshotsOf(n)
		if err != nil {
			return nil, err
		}
		if count[n.ID] = len(of); len(of) < fewestSnapshots {
			return nil, fmt.Errorf("%s wrote %d snapshots in %v, which proves nothing", n.ID, len(of), d)
		}
		all = append(all, of...)
	}
	slices.SortFunc(all, func(a, b snapshot) int { return a.began.Compare(b.began) })
	for i := range all[1:] {
		if a, b := all[i], all[i+1]; b.began.Before(a.end) {
			return count, fmt.Errorf("%s began a snapshot at %s, while %s wrote one from %s to %s", b.node, clock(b.began), a.node, clock(a.began), clock(a.end))
		}
	}
	return count, nil
}

func clock(t time.Time) string { return t.Format("15:04:05.000") }

// snapshotsOf reads from a node's log when its snapshots began and ended.
func snapshotsOf(n *testcluster.Node) (all []snapshot, err error) {
	var began time.Time
	for line := range strings.SplitSeq(n.Tail(1<<30), "\n") {
		begins, ends := strings.Contains(line, `"a snapshot begins"`), strings.Contains(line, `"a snapshot ends"`)
		if !begins && !ends {
			continue
		}
		at, _, _ := strings.Cut(strings.TrimPrefix(line, "time="), " ")
		t, err := time.Parse(time.RFC3339Nano, at)
		if err != nil {
			return nil, fmt.Errorf("the time of a line of %s: %w", n.ID, err)
		}
		if begins {
			began = t
		} else if !began.IsZero() {
			all = append(all, snapshot{n.ID, began, t})
			began = time.Time{}
		}
	}
	return all, nil
}
