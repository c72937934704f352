package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/jepsen/history"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// backupPlan says how much of backups is performed.
type backupPlan struct {
	clients, keys int           // under load, and beside what the load counts
	backups       int           // taken under load, each restored into a cluster of its own
	warm          time.Duration // of load before the first, and between them
	verifies      int           // places at which the file is harmed and verified, by a flip and by a cut
	restores      int           // the same, and sent to a node
	kills         int           // restores during which the leader is killed
}

var fullBackupPlan = backupPlan{clients: 16, keys: 200_000, backups: 5, warm: 3 * time.Second, verifies: 100, restores: 100, kills: 10}

// backupRound is the result of one round of a plan.
type backupRound struct {
	Writes, Reads, Failed    int64
	Backups, Restored        int
	Verified, Refused, Kills int
	Bytes                    int64
	Longest                  time.Duration
	Problems                 []string
}

// backups is backups: backups under load through every node, restored into empty clusters of three, whose digests are
// equal; harmed files are found by verify and by restore, before anything changes; and the leader is killed while a
// backup is being restored.
func backups(ctx context.Context, s *session) error {
	rounds, err := repeat(s.progress, "backup", s.count(1), func(i int) (backupRound, error) { return backupOnce(ctx, s, fullBackupPlan) })
	if err != nil {
		return err
	}
	var problems int
	for _, r := range rounds {
		problems += len(r.Problems)
		s.printf("%d writes and %d reads, %d failed, the longest took %v; %d backups, the last of %d bytes, restored %d times",
			r.Writes, r.Reads, r.Failed, r.Longest.Round(time.Millisecond), r.Backups, r.Bytes, r.Restored)
		s.printf("harmed files: %d found by verify, %d by restore; leaders killed during a restore: %d", r.Verified, r.Refused, r.Kills)
	}
	if problems > 0 {
		return fmt.Errorf("%d problems, want none", problems)
	}
	return nil
}

// keeper is one performance.
type keeper struct {
	s      *session
	plan   backupPlan
	binary string
	dir    string
	mu     sync.Mutex
	r      backupRound
}

func (k *keeper) fail(format string, args ...any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.r.Problems = append(k.r.Problems, fmt.Sprintf(format, args...))
	k.s.printf("  "+format, args...)
}

func backupOnce(ctx context.Context, s *session, plan backupPlan) (r backupRound, err error) {
	k := &keeper{s: s, plan: plan}
	if k.binary, err = s.product(); err != nil {
		return r, err
	}
	if k.dir, err = s.scratch(); err != nil {
		return r, err
	}
	files, err := k.take(ctx)
	if err != nil {
		return k.r, err
	}
	last := files[len(files)-1]
	k.r.Bytes = int64(len(last.content))
	for _, step := range []func(context.Context) error{
		func(ctx context.Context) error { return k.restoreAll(ctx, files) },
		func(ctx context.Context) error { return k.harm(ctx, last) },
		func(ctx context.Context) error { return k.killLeaders(ctx, last) },
	} {
		if err := step(ctx); err != nil {
			return k.r, err
		}
	}
	return k.r, ctx.Err()
}

// cluster starts an empty one.
func (k *keeper) cluster(ctx context.Context, name string) (*testcluster.Cluster, error) {
	c, err := testcluster.NewCluster(testcluster.Options{Binary: k.binary, Dir: filepath.Join(k.dir, name), Secure: true})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(c.Start(), waitReady(ctx, c, time.Minute)); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// end closes a cluster and tells of nodes that ended by themselves.
func (k *keeper) end(c *testcluster.Cluster) {
	c.Close()
	for _, crash := range c.Crashes() {
		k.fail("%s ended by itself with exit code %d: %s", crash.Node, crash.ExitCode, crash.Log)
	}
}

// tool runs a subcommand of the product against a node.
func (k *keeper) tool(ctx context.Context, n *testcluster.Node, args ...string) (stdout string, err error) {
	cmd := exec.CommandContext(ctx, k.binary, args...)
	cmd.Env = append(os.Environ(), "TRIREME_ADMIN_TOKEN="+testcluster.AdminToken, "GORACE=halt_on_error=1 atexit_sleep_ms=100")
	if n != nil {
		cmd.Env = append(cmd.Env, "TRIREME_URL=http://"+n.HTTP)
	}
	var out, told bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &told
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(told.String()))
	}
	return out.String(), nil
}

// taken is a backup that was taken under load: what every counter was before it was asked for, and after it had come.
type taken struct {
	path          string
	content       []byte
	before, after map[string]int64
}

const fillKey = "fill:"

// take has load on a cluster of three, and takes backups of it through one node after the other.
func (k *keeper) take(ctx context.Context) (files []taken, err error) {
	c, err := k.cluster(ctx, "source")
	if err != nil {
		return nil, err
	}
	defer k.end(c)
	if err := k.fill(ctx, c); err != nil {
		return nil, err
	}
	l := startLoad(c, []int{0, 1, 2}, k.plan.clients, "backup")
	for i := range k.plan.backups {
		sleep(ctx, k.plan.warm)
		f := taken{path: filepath.Join(k.dir, fmt.Sprintf("%d.backup", i+1)), before: k.counters(ctx, c, l)}
		if _, err = k.tool(ctx, c.Nodes[i%3], "backup", "--out", f.path); err != nil {
			break
		}
		f.after = k.counters(ctx, c, l)
		if f.content, err = os.ReadFile(f.path); err != nil {
			break
		}
		files = append(files, f)
	}
	l.end()
	if err != nil {
		return nil, err
	}
	l.verify(ctx, 3)
	k.r.Writes, k.r.Reads, k.r.Failed, k.r.Longest, k.r.Backups = int64(len(l.samples)), l.reads.Load(), l.failed.Load(), l.longest, len(files)
	for _, p := range l.problems {
		k.fail("%s", p)
	}
	if left, _ := filepath.Glob(filepath.Join(k.dir, "*.partial-*")); len(left) > 0 {
		k.fail("%v are left beside the backups", left)
	}
	return files, ctx.Err()
}

// fill writes keys, so that a backup takes a while and a restore some parts.
func (k *keeper) fill(ctx context.Context, c *testcluster.Cluster) error {
	const rows = 1000
	r := rand.New(rand.NewPCG(1, 3))
	for from := 0; from < k.plan.keys; from += rows {
		var commands [][]string
		for i := from; i < min(from+rows, k.plan.keys); i++ {
			commands = append(commands, []string{"SET", fillKey + strconv.Itoa(i), fmt.Sprintf("%016x%016x%016x%016x", r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64())})
		}
		if _, reply := c.Nodes[0].Client().Pipeline(ctx, commands); reply.Outcome != history.OK {
			return fmt.Errorf("fill: %s %s", reply.Outcome, reply.Error)
		}
	}
	later := map[string]string{"Svc-Delay": "1h"}
	status, _, body, err := c.Nodes[0].Messages().Call(ctx, http.MethodPost, "/v2/publish/https://example.com/later", later, nil)
	if err == nil && status/100 != 2 {
		err = fmt.Errorf("publish: status %d: %.200s", status, body)
	}
	return err
}

// counters reads the present values of the load's counters.
func (k *keeper) counters(ctx context.Context, c *testcluster.Cluster, l *load) map[string]int64 {
	now := map[string]int64{}
	for id := range l.own {
		now[l.ownKey(id)] = 0
	}
	now[l.sharedKey()] = 0
	for key := range now {
		n, err := count(c.Nodes[0].Client().Do(ctx, "GET", key))
		if err != nil {
			k.fail("read %s: %v", key, err)
		}
		now[key] = n
	}
	return now
}

// restoreAll restores every file into a cluster of its own, through one node after the other.
func (k *keeper) restoreAll(ctx context.Context, files []taken) error {
	for i, f := range files {
		if err := k.restore(ctx, i, f); err != nil {
			return err
		}
		k.r.Restored++
	}
	return nil
}

func (k *keeper) restore(ctx context.Context, i int, f taken) error {
	if out, err := k.tool(ctx, nil, "backup", "verify", f.path); err != nil || !strings.Contains(out, " 1, 0 dead letters") {
		k.fail("verify: %v %s", err, out)
	}
	c, err := k.cluster(ctx, fmt.Sprintf("target%d", i+1))
	if err != nil {
		return err
	}
	defer k.end(c)
	if _, err := k.tool(ctx, c.Nodes[i%3], "restore", f.path); err != nil {
		return err
	}
	k.compare(ctx, c, f)
	if _, err := k.tool(ctx, c.Nodes[0], "restore", f.path); err == nil || !strings.Contains(err.Error(), "empty cluster only") {
		k.fail("restored twice: %v", err)
	}
	return nil
}

// compare holds what three nodes have against what was counted when the backup was taken, and their digests against one
// another.
func (k *keeper) compare(ctx context.Context, c *testcluster.Cluster, f taken) {
	for _, n := range c.Nodes {
		for key, least := range f.before {
			got, err := count(n.Client().Do(ctx, "GET", key))
			if err != nil || got < least || got > f.after[key] {
				k.fail("%s through %s is %d (%v), it was %d before the backup and %d after it", key, n.ID, got, err, least, f.after[key])
			}
		}
		last := fillKey + strconv.Itoa(k.plan.keys-1)
		if r := n.Client().Do(ctx, "GET", last); r.Outcome != history.OK || len(r.Result) != 66 {
			k.fail("%s through %s: %s %.100s", last, n.ID, r.Outcome, r.Result)
		}
	}
	if err := k.equal(ctx, c, time.Minute); err != nil {
		k.fail("%v", err)
	}
}

// equal takes a backup of what every node has, until all are of one index, and compares their digests. A backup that is
// not stale asks for a read point, which moves the index on.
func (k *keeper) equal(ctx context.Context, c *testcluster.Cluster, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return testcluster.Poll(ctx, 100*time.Millisecond, func() error {
		outs, failed := make([]string, len(c.Nodes)), make([]error, len(c.Nodes))
		var backups sync.WaitGroup // at once: the log of an idle cluster goes on, too
		for i, n := range c.Nodes {
			backups.Go(func() {
				path := filepath.Join(k.dir, "compare-"+strconv.Itoa(i)+".backup")
				defer os.Remove(path)
				outs[i], failed[i] = k.tool(ctx, n, "backup", "--stale", "--json", "--force", "--out", path)
			})
		}
		backups.Wait()
		if err := errors.Join(failed...); err != nil {
			return err
		}
		var all []string
		for _, out := range outs {
			var b struct {
				Index  uint64
				Digest string
			}
			if err := json.Unmarshal([]byte(out), &b); err != nil || b.Digest == "" {
				return testcluster.Permanent(fmt.Errorf("backup --json printed %q: %w", out, err))
			}
			all = append(all, fmt.Sprintf("%d %s", b.Index, b.Digest))
		}
		if len(slices.Compact(all)) == 1 {
			return nil
		}
		first, _, _ := strings.Cut(all[0], " ")
		for _, other := range all {
			if index, _, _ := strings.Cut(other, " "); index != first {
				return fmt.Errorf("the nodes are at different indexes: %v", all)
			}
		}
		return testcluster.Permanent(fmt.Errorf("digests differ: %v", all))
	})
}
