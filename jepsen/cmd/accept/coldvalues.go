package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/jepsen/history"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// What cold-values does, and demands.
const (
	coldValues   = 2_600_000 // 10.6 GB
	coldLength   = 4 << 10
	coldHot      = 500 // values that are read all the time
	coldLimit    = 2 * time.Hour
	coldAfter    = "10s"
	coldMemory   = 3 << 30 // the memory limit of a node's process
	coldSample   = 3000    // values that are read back at a node
	coldSingle   = 2000    // values that one client reads, for the time of a cold GET
	coldGet      = time.Millisecond
	coldReaders  = 4
	coldMeasure  = 3 * time.Second
	coldMeasures = 7
	coldSlower   = 1.1 // the p99 of a hot GET, as a part of what it is before there are cold values
	coldEach     = 220 // bytes of resident memory for a cold value; the collector lets the heap grow beyond what lives
	coldFull     = 1_000_000
)

// coldRun is a cluster with more values than memory.
type coldRun struct {
	s     *session
	c     *testcluster.Cluster
	count int
}

func coldKey(n int) string { return "value:" + strconv.Itoa(n) }

func coldText(n int) string { return waitingBodyOf(n, coldLength) }

// coldGets are the times of some GETs.
type coldGets struct{ p50, p99 time.Duration }

// cold is cold-values: values of 4 KiB go to the disk, while a few are read all the time. It measures memory, hot and cold GETs, and a
// restart, damages segments of each node, replaces a node, and reads values back at every node.
func cold(ctx context.Context, s *session) error {
	ctx, cancel := context.WithTimeout(ctx, coldLimit)
	defer cancel()
	s.flags = []string{"--cold-after", coldAfter, "--max-memory", "0"}
	s.env = append(s.env, fmt.Sprintf("GOMEMLIMIT=%d", coldMemory))
	c, err := s.nodes(ctx)
	if err != nil {
		return err
	}
	r := &coldRun{s: s, c: c, count: cmp.Or(s.messages, coldValues)}
	if err := r.load(ctx, 0, coldHot); err != nil {
		return err
	}
	before, err := r.hot(ctx)
	if err != nil {
		return err
	}
	memoryBefore, err := r.memory()
	if err != nil {
		return err
	}
	s.printf("hot GETs before: p50 %v, p99 %v; resident memory %d MiB", before.p50, before.p99, slices.Max(memoryBefore)>>20)
	began := time.Now()
	if err := r.whileHot(ctx, func() error { return r.load(ctx, coldHot, r.count) }); err != nil {
		return err
	}
	s.printf("%d values of %d bytes, %d MB, written in %v", r.count, coldLength, int64(r.count)*coldLength/1e6, time.Since(began).Round(time.Second))
	began = time.Now()
	if err := r.whileHot(ctx, func() error { return r.settled(ctx) }); err != nil {
		return err
	}
	s.printf("all but those that are read were on the disk %v later", time.Since(began).Round(time.Second))
	after, err := r.hot(ctx)
	if err != nil {
		return err
	}
	s.printf("hot GETs beside them: p50 %v, p99 %v, %.2f × what it was", after.p50, after.p99, float64(after.p99)/float64(before.p99))
	var failed []error
	demand := func(holds bool, format string, args ...any) {
		if !holds {
			failed = append(failed, fmt.Errorf(format, args...))
		}
	}
	demand(float64(after.p99) <= coldSlower*float64(before.p99), "the p99 of hot GETs is %v, and was %v", after.p99, before.p99)
	each, err := r.fits(ctx, memoryBefore)
	if err != nil {
		return err
	}
	demand(each <= coldEach || r.count < coldFull, "a cold value takes %d bytes of resident memory, at most %d are allowed", each, coldEach)
	gets, err := r.coldGets(ctx)
	if err != nil {
		return err
	}
	demand(gets.p50 <= coldGet, "the p50 of cold GETs is %v, at most %v are allowed", gets.p50, coldGet)
	if err := r.outlive(ctx); err != nil {
		return err
	}
	return errors.Join(failed...)
}

// load writes the values with the numbers from to to, less one.
func (r *coldRun) load(ctx context.Context, from, to int) error {
	return each(waitingClients, from, to, waitingBatch, func(client, from, to int) error {
		var commands [][]string
		for n := from; n < to; n++ {
			commands = append(commands, []string{"SET", coldKey(n), coldText(n)})
		}
		return testcluster.Poll(ctx, 100*time.Millisecond, func() error {
			client++
			rows, reply := r.c.Nodes[client%r.c.Size()].Client().Pipeline(ctx, commands)
			if reply.Outcome != history.OK {
				return fmt.Errorf("write values from %d: %s %s", from, reply.Outcome, reply.Error)
			}
			for _, row := range rows {
				if row.Error != "" {
					return testcluster.Permanent(fmt.Errorf("write values from %d: %s", from, row.Error))
				}
			}
			return nil
		})
	})
}

// get reads a value at a node, and says how long that took.
func (r *coldRun) get(ctx context.Context, n *testcluster.Node, number int) (time.Duration, error) {
	began := time.Now()
	reply := n.Client().Do(ctx, "GET", coldKey(number))
	took := time.Since(began)
	var text string
	if reply.Outcome != history.OK || json.Unmarshal(reply.Result, &text) != nil || text != coldText(number) {
		return took, fmt.Errorf("%s: value %d: %s %s, %d bytes: %.60q", n.ID, number, reply.Outcome, reply.Error, len(text), text)
	}
	return took, nil
}

// hot is the median of some measurements of GETs of the values that are read all the time, each at the node that leads.
func (r *coldRun) hot(ctx context.Context) (g coldGets, err error) {
	var halves, tails []time.Duration
	for range coldMeasures {
		times := make([][]time.Duration, coldReaders)
		errs := make([]error, coldReaders)
		leader, err := r.c.WaitLeader(ctx)
		if err != nil {
			return g, err
		}
		began := time.Now()
		var all sync.WaitGroup
		for i := range coldReaders {
			all.Go(func() {
				for time.Since(began) < coldMeasure && errs[i] == nil {
					var took time.Duration
					took, errs[i] = r.get(ctx, r.c.Nodes[leader.Node], rand.IntN(coldHot))
					times[i] = append(times[i], took)
				}
			})
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			return g, err
		}
		sorted := slices.Sorted(slices.Values(slices.Concat(times...)))
		halves, tails = append(halves, sorted[len(sorted)/2]), append(tails, sorted[len(sorted)*99/100])
	}
	slices.Sort(halves)
	slices.Sort(tails)
	return coldGets{halves[coldMeasures/2], tails[coldMeasures/2]}, nil
}

// whileHot has every node read the hot values once a second while do runs.
func (r *coldRun) whileHot(ctx context.Context, do func() error) error {
	over := make(chan struct{})
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	for _, n := range r.c.Nodes {
		all.Go(func() {
			for tick := time.NewTicker(time.Second); ; {
				select {
				case <-over:
					tick.Stop()
					return
				case <-tick.C:
				}
				for number := 0; number < coldHot && failed.Load() == nil; number++ {
					if _, err := r.get(ctx, n, number); err != nil {
						failed.Store(&err)
					}
				}
			}
		})
	}
	err := do()
	close(over)
	all.Wait()
	if f := failed.Load(); f != nil {
		err = errors.Join(err, *f)
	}
	return err
}

// settled waits until every node has all values on its disk but those that are read.
func (r *coldRun) settled(ctx context.Context) error {
	for _, n := range r.c.Nodes {
		err := testcluster.Poll(ctx, time.Second, func() error {
			have, err := gauge(ctx, n, "trireme_cold_values")
			if err == nil && int(have) < r.count-coldHot {
				err = fmt.Errorf("%s has %v values on its disk, %d are to be there", n.ID, have, r.count-coldHot)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// gauge is a metric of a node without labels.
func gauge(ctx context.Context, n *testcluster.Node, name string) (float64, error) {
	status, body, err := n.Admin().Get(ctx, "/metrics")
	if err != nil || status != http.StatusOK {
		return 0, fmt.Errorf("metrics of %s: status %d: %w", n.ID, status, err)
	}
	_, rest, _ := strings.Cut(string(body), "\n"+name+" ")
	value, _, _ := strings.Cut(rest, "\n")
	return strconv.ParseFloat(value, 64)
}

// memory is the resident memory of each node in bytes.
func (r *coldRun) memory() (list []int64, err error) {
	for _, n := range r.c.Nodes {
		now, _, err := memoryOf(n.Pid())
		if err != nil {
			return nil, err
		}
		list = append(list, now)
	}
	return list, nil
}

// fits says what a value takes on the node that takes least, and what 16 GiB so hold. Every node takes a snapshot before.
func (r *coldRun) fits(ctx context.Context, before []int64) (each int64, err error) {
	for _, n := range r.c.Nodes {
		took, err := timedSnapshot(ctx, n)
		if err != nil {
			return 0, err
		}
		r.s.printf("a snapshot of %s: %v", n.ID, took.Round(10*time.Millisecond))
	}
	now, err := r.memory()
	if err != nil {
		return 0, err
	}
	for i, n := range r.c.Nodes {
		_, most, err := memoryOf(n.Pid())
		if err != nil {
			return 0, err
		}
		disk, err := sizeOf(n.DataDir)
		if err != nil {
			return 0, err
		}
		mine := (now[i] - before[i]) / int64(r.count)
		r.s.printf("%s: resident memory %d MiB, at most %d MiB, %d bytes a value; data directory %d MiB", n.ID, now[i]>>20, most>>20, mine, disk>>20)
		if i == 0 || mine < each {
			each = mine
		}
	}
	r.s.printf("16 GiB of memory, of which live memory may be 60 %%, so hold the keys of %.0f GB of such values", 0.6*16*(1<<30)/float64(max(each, 1))*coldLength/1e9)
	return each, nil
}

// coldGets has one client read values that nobody has read for long at a node, whose pages the kernel has dropped if that is allowed.
func (r *coldRun) coldGets(ctx context.Context) (g coldGets, err error) {
	dropped := "the kernel's cache was dropped before"
	if err := os.WriteFile("/proc/sys/vm/drop_caches", []byte("1"), 0); err != nil {
		dropped = "the kernel's cache was not dropped: " + err.Error()
	}
	n := r.c.Nodes[rand.IntN(r.c.Size())]
	var times []time.Duration
	for range coldSingle {
		took, err := r.get(ctx, n, coldHot+rand.IntN(r.count-coldHot))
		if err != nil {
			return g, err
		}
		times = append(times, took)
	}
	slices.Sort(times)
	g = coldGets{times[len(times)/2], times[len(times)*99/100]}
	r.s.printf("cold GETs at %s: p50 %v, p99 %v, longest %v; %s", n.ID, g.p50, g.p99, times[len(times)-1], dropped)
	return g, nil
}

// look reads some values at a node.
func (r *coldRun) look(ctx context.Context, n *testcluster.Node) error {
	return each(waitingClients, 0, coldSample, coldSample/waitingClients, func(_, from, to int) error {
		for range to - from {
			if _, err := r.get(ctx, n, rand.IntN(r.count)); err != nil {
				return err
			}
		}
		return nil
	})
}

// outlive kills a node, damages a segment of each, replaces one, and reads values at all after each of that.
func (r *coldRun) outlive(ctx context.Context) error {
	w := &waitingRun{c: r.c}
	took, err := w.restart(ctx)
	if err != nil {
		return err
	}
	r.s.printf("a node that was killed is ready %v after it was started", took.Round(10*time.Millisecond))
	for _, n := range r.c.Nodes {
		if err := r.look(ctx, n); err != nil {
			return err
		}
	}
	for _, n := range r.c.Nodes {
		files, err := filepath.Glob(filepath.Join(n.DataDir, "payloads", "*.pay"))
		if err != nil || len(files) == 0 {
			return errors.Join(err, fmt.Errorf("%s has no segment of payloads", n.ID))
		}
		for _, name := range files {
			if err := flipBits(name); err != nil {
				return err
			}
		}
		if err := r.look(ctx, n); err != nil {
			return fmt.Errorf("after damage: %w", err)
		}
	}
	began := time.Now()
	if err := w.replace(ctx); err != nil {
		return err
	}
	r.s.printf("a node without a disk replaced in %v", time.Since(began).Round(10*time.Millisecond))
	for _, n := range r.c.Nodes {
		if err := r.look(ctx, n); err != nil {
			return err
		}
	}
	r.s.printf("%d values were right at each node after the restart, after bits of each segment of it were flipped, and after the replacement", coldSample)
	return nil
}
