package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trireme-dev/trireme/jepsen/attack"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

const (
	// attackTime is the time for which each attack is repeated, and that of the measurement without one.
	attackTime = 10 * time.Second
	// slowerUnderAttack bounds the factor by which the p99 of another database's clients may grow.
	slowerUnderAttack = 10
	// ofFew bounds the p99 if fewer than fewRequests requests were served: it is then the time of the slowest two or three.
	ofFew, fewRequests = time.Second, 1000
)

// attacks is attacks: each is tried on a cluster while clients of another database are served. None succeeds, and the
// clients see little of it.
func attacks(ctx context.Context, s *session) error { return besideVictims(ctx, s, attack.All()) }

// neighbours is neighbours: the same with clients that keep to the limits of their database and ask for as much as they can.
func neighbours(ctx context.Context, s *session) error {
	return besideVictims(ctx, s, attack.Neighbours())
}

// prices is prices: the same with requests whose work or memory was counted nowhere.
func prices(ctx context.Context, s *session) error { return besideVictims(ctx, s, attack.Priced()) }

// besideVictims tries attacks one after the other.
func besideVictims(ctx context.Context, s *session, all []attack.Attack) error {
	binary, err := s.product()
	if err != nil {
		return err
	}
	dir, err := s.scratch()
	if err != nil {
		return err
	}
	options, secret, gossipKey := attack.Options(binary, dir)
	c, err := testcluster.NewCluster(options)
	if err != nil {
		return err
	}
	s.cluster = c
	if err := errors.Join(c.Start(), waitReady(ctx, c, 30*time.Second)); err != nil {
		return err
	}
	target, err := attack.NewTarget(ctx, c, secret, gossipKey)
	if err != nil {
		return err
	}
	if _, err := served(ctx, target); err != nil { // connections and caches
		return err
	}
	idle, err := served(ctx, target)
	if err != nil {
		return err
	}
	s.printf("| %-17s | %8s | %8s | %8s | %8s | %5s | %12s | %5s | %s |", "attack", "p50", "idle p99", "p99", "max", "ratio", "delivery p99", "ratio", "outcome")
	s.printf("|---|---:|---:|---:|---:|---:|---:|---:|---|")
	s.printf("%s %d requests of the victims |", figures("none", idle, idle), idle.Requests)
	var failed []error
	for _, a := range all {
		if len(s.attacks) > 0 && !slices.Contains(s.attacks, a.Name) {
			continue
		}
		if err := s.attacked(ctx, target, a, idle); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", a.Name, err))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return errors.Join(failed...)
}

// served measures the victims without an attack.
func served(ctx context.Context, target *attack.Target) (attack.Measurements, error) {
	end, err := target.Serve(ctx)
	if err != nil {
		return attack.Measurements{}, err
	}
	select {
	case <-time.After(attackTime):
	case <-ctx.Done():
	}
	seen, err := end()
	if err != nil {
		return seen, err
	}
	if seen.Failed > 0 {
		return seen, fmt.Errorf("in peace %d of %d requests of the victims failed: %q", seen.Failed, seen.Requests, seen.Problems)
	}
	return seen, ctx.Err()
}

// attacked tries one attack and judges it.
func (s *session) attacked(ctx context.Context, target *attack.Target, a attack.Attack, idle attack.Measurements) error {
	if a.Before != nil {
		if err := a.Before(ctx, target); err != nil {
			return err
		}
	}
	end, err := target.Serve(ctx)
	if err != nil {
		return err
	}
	outcome, tries, err := a.Repeat(ctx, target, attackTime)
	seen, problem := end()
	if problem != nil {
		return errors.Join(err, problem)
	}
	if err == nil && a.After != nil {
		var more string
		more, err = a.After(ctx, target)
		outcome += "; " + more
	}
	if err != nil {
		outcome += "SUCCEEDED: " + err.Error()
	}
	s.printf("%s %s (%d times) |", figures(a.Name, seen, idle), outcome, tries)
	if seen.Failed > 0 {
		err = errors.Join(err, fmt.Errorf("%d of %d requests of the victims failed: %q", seen.Failed, seen.Requests, seen.Problems))
	}
	limit := slowerUnderAttack * idle.P99
	if a.Least != nil {
		limit = max(limit, a.Least(target))
	}
	if seen.Requests < fewRequests {
		limit = max(limit, ofFew)
	}
	if seen.P99 > limit {
		err = errors.Join(err, fmt.Errorf("the victims' p99 is %v, at most %v allowed", seen.P99, limit))
	}
	if limit := max(slowerUnderAttack*idle.DeliveryP99, limit); seen.DeliveryP99 > limit {
		err = errors.Join(err, fmt.Errorf("the victims' messages arrive after %v (p99), at most %v allowed", seen.DeliveryP99, limit))
	}
	return err
}

// figures are the first columns of a row: what the victims saw, beside their p99 in peace.
func figures(name string, s, idle attack.Measurements) string {
	ms := func(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond)) }
	ratio := func(a, b time.Duration) float64 { return float64(a) / float64(max(b, 1)) }
	return fmt.Sprintf("| %-17s | %8s | %8s | %8s | %8s | %5.1f | %12s | %5.1f |", name, ms(s.P50), ms(idle.P99), ms(s.P99), ms(s.Max), ratio(s.P99, idle.P99),
		ms(s.DeliveryP99), ratio(s.DeliveryP99, idle.DeliveryP99))
}
