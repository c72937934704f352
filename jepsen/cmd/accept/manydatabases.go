package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// What many-databases does.
const (
	manyDatabases      = 100_000
	manyClients        = 32
	manyCreators       = 64
	manyLoad           = 8 * time.Second // of each measurement, three of which are made; the median counts
	manyCreationRate   = 1000            // databases a second
	manyEmpty          = 1 << 10         // bytes of an empty database
	manyRestart        = 5 * time.Second
	manySlower         = 1.25   // the most processor time of a SET, as a part of what it takes with one database
	ticksPerSecond     = 100    // of /proc/PID/stat
	manyEmptyPerFigure = 50_000 // databases below which the memory of one can't be told
)

// manyRun is a cluster with one database, and then with many.
type manyRun struct {
	s     *session
	c     *testcluster.Cluster
	count int
}

// setLoad is what SETs have come to.
type setLoad struct {
	rate, cpu float64 // a second, and microseconds of processor time of all nodes for each
	p99       time.Duration
}

func (l setLoad) String() string {
	return fmt.Sprintf("%.0f SETs a second, p99 %.1f ms, %.0f µs of processor time each", l.rate, float64(l.p99.Microseconds())/1000, l.cpu)
}

// many is many-databases: SETs in one database before and after 100,000 others are made, SETs in any of them, memory, and restarts.
func many(ctx context.Context, s *session) error {
	c, err := s.nodes(ctx)
	if err != nil {
		return err
	}
	r := &manyRun{s: s, c: c, count: manyDatabases}
	if s.databases > 0 {
		r.count = s.databases
	}
	one := func() string { return "/db/default" }
	before, err := r.load(ctx, one)
	if err != nil {
		return err
	}
	s.printf("with one database: %v", before)
	restartBefore, err := r.restart(ctx)
	if err != nil {
		return err
	}
	memoryBefore, err := r.memory()
	if err != nil {
		return err
	}
	rate, err := r.create(ctx)
	if err != nil {
		return err
	}
	s.printf("%d databases created, %.0f a second", r.count-1, rate)
	after, err := r.load(ctx, one)
	if err != nil {
		return err
	}
	s.printf("with %d databases: %v; %.2f × the processor time", r.count, after, after.cpu/before.cpu)
	restartAfter, err := r.restart(ctx) // and the memory is that of a process that has read them
	if err != nil {
		return err
	}
	memoryAfter, err := r.memory()
	if err != nil {
		return err
	}
	each := (memoryAfter - memoryBefore) / int64(r.count)
	s.printf("a node is ready %v after it was started, %v with one database; it has %d MiB of resident memory, %d MiB with one: %d bytes a database",
		restartAfter.Round(10*time.Millisecond), restartBefore.Round(10*time.Millisecond), memoryAfter>>20, memoryBefore>>20, each)
	anywhere, err := r.load(ctx, func() string { return "/db/" + manyName(rand.IntN(r.count-1)) })
	if err != nil {
		return err
	}
	s.printf("in any of %d databases: %v", r.count, anywhere)
	if err := r.pages(ctx); err != nil {
		return err
	}
	var all []error
	if rate < manyCreationRate {
		all = append(all, fmt.Errorf("%.0f databases were created a second, want %d", rate, manyCreationRate))
	}
	if after.cpu > before.cpu*manySlower {
		all = append(all, fmt.Errorf("a SET takes %.0f µs of processor time, and %.0f with one database", after.cpu, before.cpu))
	}
	if restartAfter > manyRestart {
		all = append(all, fmt.Errorf("a node was ready after %v, want %v", restartAfter, manyRestart))
	}
	if each > 2*manyEmpty && r.count >= manyEmptyPerFigure { // the collector lets the heap grow to twice what lives
		all = append(all, fmt.Errorf("a database takes %d bytes, want %d", each, 2*manyEmpty))
	}
	return errors.Join(all...)
}

func manyName(i int) string { return fmt.Sprintf("tenant-%06d", i) }

// create makes the databases.
func (r *manyRun) create(ctx context.Context) (rate float64, err error) {
	var next atomic.Int64
	errs := make([]error, manyCreators)
	var all sync.WaitGroup
	began := time.Now()
	for i := range manyCreators {
		all.Go(func() {
			for errs[i] == nil {
				n := int(next.Add(1)) - 1
				if n >= r.count-1 {
					return
				}
				body, _ := json.Marshal(map[string]string{"name": manyName(n)}) // a text
				status, _, reply, err := r.c.Nodes[i%r.c.Size()].Admin().Call(ctx, http.MethodPost, "/admin/databases", nil, body)
				if err != nil || status != http.StatusCreated {
					errs[i] = fmt.Errorf("create %s: status %d, %.200s: %w", manyName(n), status, reply, err)
				}
			}
		})
	}
	all.Wait()
	return float64(r.count-1) / time.Since(began).Seconds(), errors.Join(errs...)
}

// load sends SETs from many clients to all nodes, in the database at path, and returns the median of three measurements.
func (r *manyRun) load(ctx context.Context, path func() string) (setLoad, error) {
	var all []setLoad
	for range 3 {
		l, err := r.loadOnce(ctx, path)
		if err != nil {
			return l, err
		}
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b setLoad) int { return int(a.cpu*1000) - int(b.cpu*1000) })
	return all[1], nil
}

func (r *manyRun) loadOnce(ctx context.Context, path func() string) (setLoad, error) {
	var all sync.WaitGroup
	times, errs := make([][]time.Duration, manyClients), make([]error, manyClients)
	cpuBefore, err := r.processorTime()
	if err != nil {
		return setLoad{}, err
	}
	began := time.Now()
	for i := range manyClients {
		all.Go(func() {
			for time.Since(began) < manyLoad && errs[i] == nil {
				sent := time.Now()
				body := fmt.Appendf(nil, `["SET","key:%d","value"]`, rand.IntN(1000))
				status, _, reply, err := r.c.Nodes[i%r.c.Size()].Admin().Call(ctx, http.MethodPost, path(), nil, body)
				if err != nil || status != http.StatusOK {
					errs[i] = fmt.Errorf("SET: status %d, %.200s: %w", status, reply, err)
				}
				times[i] = append(times[i], time.Since(sent))
			}
		})
	}
	all.Wait()
	took := time.Since(began)
	cpuAfter, err := r.processorTime()
	if err = errors.Join(append(errs, err)...); err != nil {
		return setLoad{}, err
	}
	sorted := slices.Sorted(slices.Values(slices.Concat(times...)))
	n := len(sorted)
	return setLoad{rate: float64(n) / took.Seconds(), p99: sorted[n*99/100], cpu: float64((cpuAfter - cpuBefore).Microseconds()) / float64(n)}, nil
}

// restart kills a node that does not lead, starts it again and returns the time until it was ready.
func (r *manyRun) restart(ctx context.Context) (time.Duration, error) {
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
	if err := r.c.WaitNodeReady(ctx, n); err != nil {
		return 0, err
	}
	return time.Since(began), nil
}

// memory is the least resident memory of a node in bytes.
func (r *manyRun) memory() (least int64, err error) {
	for _, n := range r.c.Nodes {
		now, _, err := memoryOf(n.Pid())
		if err != nil {
			return 0, err
		}
		if least == 0 || now < least {
			least = now
		}
	}
	return least, nil
}

// processorTime is that of all nodes since they were started.
func (r *manyRun) processorTime() (sum time.Duration, err error) {
	for _, n := range r.c.Nodes {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", n.Pid()))
		if err != nil {
			return 0, err
		}
		fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
		for _, text := range fields[11:13] { // of the process, and of the kernel for it
			ticks, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return 0, err
			}
			sum += time.Duration(ticks) * time.Second / ticksPerSecond
		}
	}
	return sum, nil
}

// pages reads the whole list of databases, page by page, on every node.
func (r *manyRun) pages(ctx context.Context) error {
	for _, n := range r.c.Nodes {
		cursor, seen, longest := "", 0, time.Duration(0)
		for {
			began := time.Now()
			status, body, err := n.Admin().Get(ctx, "/admin/databases?cursor="+cursor)
			var page struct {
				Cursor    string
				Databases []struct{ Name string }
			}
			if err == nil && status == http.StatusOK {
				err = json.Unmarshal(body, &page)
			}
			if err != nil || status != http.StatusOK {
				return fmt.Errorf("list of databases: status %d, %.200s: %w", status, body, err)
			}
			longest = max(longest, time.Since(began))
			if seen, cursor = seen+len(page.Databases), page.Cursor; cursor == "" {
				break
			}
		}
		began := time.Now()
		status, _, err := n.Admin().Get(ctx, "/metrics")
		if err != nil || status != http.StatusOK {
			return fmt.Errorf("metrics: status %d: %w", status, err)
		}
		r.s.printf("%s lists %d databases, the slowest page in %v, and gives its metrics in %v", n.ID, seen, longest.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
		if seen != r.count {
			return fmt.Errorf("%s has %d databases, want %d", n.ID, seen, r.count)
		}
	}
	return nil
}
