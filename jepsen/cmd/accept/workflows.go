package main

import (
	"context"
	"errors"
	"time"

	"github.com/trireme-dev/trireme/jepsen/workload/runs"
)

// runsPatience bounds the runs of one experiment.
const runsPatience = 5 * time.Minute

// mixedRuns is workflow-steps.
func mixedRuns(ctx context.Context, s *session) error {
	_, err := mailed(ctx, s, "200 runs", 1, func(i int) (runs.MixedResult, error) {
		return runs.Mixed{
			Cluster: s.cluster, Label: s.label(i), Runs: 200, Failing: 10, KillEvery: 5 * time.Second, Down: mailDown, Patience: runsPatience,
		}.Run(ctx)
	})
	return err
}

// waitRace is workflow-waiters, in blocks that begin to wait in time.
func waitRace(ctx context.Context, s *session) error {
	blocks, err := mailed(ctx, s, "block of 250", 4, func(i int) (runs.RaceResult, error) {
		return runs.Race{Cluster: s.cluster, Label: s.label(i), Runs: 250, Group: 5, Timeout: 40 * time.Second, Patience: runsPatience}.Run(ctx)
	})
	var all runs.RaceResult
	for _, b := range blocks {
		all.Notified, all.Late, all.Canceled = all.Notified+b.Notified, all.Late+b.Late, all.Canceled+b.Canceled
	}
	s.printf("in all: %v", all)
	return err
}

// revivedRuns is workflow-resume.
func revivedRuns(ctx context.Context, s *session) error {
	_, err := mailed(ctx, s, "resume", 1, func(i int) (runs.ReviveResult, error) {
		return runs.Revive{Cluster: s.cluster, Label: s.label(i), Steps: 50, Bulk: 120, Others: 60, Patience: runsPatience}.Run(ctx)
	})
	return err
}

// outages is workflow-outages.
func outages(ctx context.Context, s *session) error {
	rounds, err := mailed(ctx, s, "outage", 100, func(i int) (runs.OutageResult, error) {
		return runs.Outage{Cluster: s.cluster, Label: s.label(i), Runs: 5, Within: 4 * time.Second, Patience: runsPatience}.Run(ctx)
	})
	if err != nil || len(rounds) == 0 {
		return err
	}
	back := durations(rounds, func(r runs.OutageResult) time.Duration { return r.Back })
	s.printf("%d outages, %d runs: all ended right; ready again p50 %v, max %v", len(rounds), 5*len(rounds), middle(back), last(back))
	return nil
}

// workflowCost is workflow-step-cost: the rows beside the peer, and what a step costs.
func workflowCost(ctx context.Context, s *session) error {
	return errors.Join(bench("-rows", "14,15")(ctx, s), bench("workflows")(ctx, s))
}

// workflowClients is workflow-clients: the newest release, and the last of 0.2.
func workflowClients(ctx context.Context, s *session) error {
	return errors.Join(longTests("./clients", "TestWorkflows.*")(ctx, s), longTests("./clients", "TestWorkflowExample")(ctx, s))
}
