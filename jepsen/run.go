package jepsen

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/jepsen/history"
	"github.com/trireme-dev/trireme/jepsen/nemesis"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
	"github.com/trireme-dev/trireme/jepsen/workload"
)

// startGrace bounds the start of a fresh cluster.
const startGrace = 30 * time.Second

// finalGrace bounds the reads at the end of a run.
const finalGrace = time.Minute

// Run performs one run. An error means that it could not be performed; what was
// found wrong with the product is in the summary.
func Run(ctx context.Context, c Config) (*Summary, error) {
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("run: %w", err)
	}
	cluster, err := testcluster.NewCluster(c.options())
	if err != nil {
		return nil, err
	}
	defer cluster.Close()
	schedule, err := c.schedule(cluster.Size())
	if err != nil {
		return nil, err
	}
	if err := start(ctx, cluster); err != nil {
		return nil, err
	}
	r := &run{Config: c, cluster: cluster, began: time.Now()}
	if r.workloads, err = c.workloads(r.began, cluster); err != nil {
		return nil, err
	}
	r.play(ctx, schedule)
	r.finish(ctx)
	return r.summarize()
}

// start brings a fresh cluster up.
func start(ctx context.Context, cluster *testcluster.Cluster) error {
	if err := cluster.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startGrace)
	defer cancel()
	if err := cluster.WaitReady(ctx); err != nil {
		return fmt.Errorf("start the cluster: %w", err)
	}
	return nil
}

// run is one run under way.
type run struct {
	Config
	cluster   *testcluster.Cluster
	workloads []workload.Workload
	began     time.Time
	took      time.Duration
	events    []nemesis.Event
	watch     watch
	final     error // why the reads at the end are incomplete
}

// play runs the workloads and the nemesis side by side for the duration.
func (r *run) play(ctx context.Context, s nemesis.Schedule) {
	ctx, cancel := context.WithTimeout(ctx, r.Duration)
	defer cancel()
	var all sync.WaitGroup
	for _, w := range r.workloads {
		all.Go(func() { w.Run(ctx, r.cluster) })
	}
	all.Go(func() { r.watch.run(ctx, r.cluster) })
	all.Go(func() { r.watch.stalls = stalls(ctx, r.began) })
	r.events = nemesis.Run(ctx, r.cluster, s, r.began)
	all.Wait()
	r.took = min(r.Duration, time.Since(r.began)) // rounds under way are played to their end beyond it
}

// finish waits for the healed cluster and reads what the checkers need.
func (r *run) finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, finalGrace)
	defer cancel()
	if r.final = nemesis.WaitReady(r.cluster); r.final != nil {
		return
	}
	for _, w := range r.workloads {
		r.final = errors.Join(r.final, w.Final(ctx, r.cluster))
	}
}

// summarize judges the histories and keeps those that fail.
func (r *run) summarize() (*Summary, error) {
	s := newSummary(r)
	var all []history.Op
	for _, w := range r.workloads {
		ops := w.History()
		all = append(all, ops...)
		s.count(w.Name(), ops)
		began := time.Now()
		report := w.Check()
		s.judge(w.Name(), report, time.Since(began))
		if rounds, ok := w.(*rounds); ok {
			s.Messages[w.Name()] = rounds.Done()
			s.Duplicates += rounds.twice
			s.Rounds = append(s.Rounds, rounds.lines...)
		}
		if len(report.Anomalies) > 0 || r.final != nil {
			if err := history.Save(filepath.Join(r.Dir, w.Name()+".jsonl"), ops); err != nil {
				return nil, err
			}
		}
	}
	s.replay(all)
	s.measure()
	return s, errors.Join(s.Save(filepath.Join(r.Dir, "summary.json")), s.SavePage(filepath.Join(r.Dir, "report.html")))
}
