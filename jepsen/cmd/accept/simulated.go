package main

import (
	"context"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/trireme-dev/trireme/jepsen/sim"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

const (
	// simulatedRound is the number of histories of a round. An interrupted run continues at its round.
	simulatedRound = 10_000
	// simulatedRounds is the number of rounds of the run.
	simulatedRounds = 50
	// histories a minute that the simulation has to reach.
	simulatedPace = 10_000
	// simulatedGarbage is GOGC: the heap's growth, in percent, before a collection. Every history discards a whole cluster, so
	// rare collections double the rate of histories.
	simulatedGarbage = 1600
)

// simulatedPart is one finished round.
type simulatedPart struct {
	From    uint64
	Minutes float64
}

// simulation is simulation: histories of a whole cluster in virtual time, none of which may break a rule.
func simulation(ctx context.Context, s *session) error {
	defer debug.SetGCPercent(debug.SetGCPercent(simulatedGarbage))
	parts, err := repeat(s.progress, "histories", s.count(simulatedRounds), func(i int) (simulatedPart, error) {
		p := simulatedPart{From: 1 + uint64(i)*simulatedRound}
		begin := time.Now()
		_, err := sim.Search(ctx, p.From, simulatedRound)
		p.Minutes = time.Since(begin).Minutes()
		if err == nil {
			err = ctx.Err() // an interrupted round is no round
		}
		s.printf("seeds from %d on: %.0f histories a minute", p.From, simulatedRound/p.Minutes)
		return p, err
	})
	if err != nil {
		return err
	}
	minutes := 0.0
	for _, p := range parts {
		minutes += p.Minutes
	}
	pace := float64(len(parts)*simulatedRound) / minutes
	s.printf("%d histories, none breaks a rule; %.0f a minute", len(parts)*simulatedRound, pace)
	if pace < simulatedPace {
		s.printf("that is less than %d a minute: the machine was busy with other things, or the simulation has become slow", simulatedPace)
	}
	return nil
}

// seededFaults is seeded-faults: every fault of package mutant is noticed within 90 seconds.
func seededFaults(ctx context.Context, s *session) error {
	return s.command(ctx, "go", "run", "-tags", testcluster.Tags, "./jepsen/cmd/mutants", "-table", filepath.Join("docs", "reports", "mutants.md"))
}
