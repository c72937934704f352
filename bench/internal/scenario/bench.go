package scenario

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/load"
	"github.com/trireme-dev/trireme/bench/internal/peer"
	"github.com/trireme-dev/trireme/bench/internal/report"
)

// Bench is the settings of one run.
type Bench struct {
	Env         *peer.Env
	Pairs       int               // pairs for each row, at least seven for a verdict that counts
	Duration    time.Duration     // counted time of one measurement
	Warm        time.Duration     // load before counting
	Keys        int               // keys in the rows that load over HTTP
	BigKeys     int               // keys in the rows about snapshots
	Vectors     int               // vectors in row 19
	Documents   int               // documents in row 20
	Kills       int               // leader kills in row 8
	KillClients int               // connections that write to the survivors meanwhile
	Quiet       time.Duration     // length of row 18
	BusyLoops   int               // busy loops beside it
	WritesToAll bool              // rows 1 to 3 and 6 write through all nodes, not only the leader; in etcd too
	Profile     string            // folder for processor profiles of the leader, none when empty
	Commands    string            // of beside that are measured, separated by commas; all when empty
	Self        string            // this program, for busy and idle loops
	Servers     map[string]string // versions seen, for the report
	Log         func(format string, args ...any)
}

// subject is one thing measured again and again in turns with others.
type subject struct {
	name    string
	measure func(context.Context) (load.Result, error)
	results []load.Result
	err     error // why there are no (more) results
}

// loading is a subject that runs spec; any failed request fails it.
func (b *Bench) loading(name string, spec load.Spec) *subject {
	spec.Name, spec.Warm, spec.Duration = name, b.Warm, b.Duration
	return &subject{name: name, measure: func(ctx context.Context) (load.Result, error) {
		r, err := load.Run(ctx, spec)
		if err == nil {
			err = r.Failed()
		}
		return r, err
	}}
}

// rounds measures all subjects in turns, b.Pairs times. The order turns with
// each round, so that none is always measured right after the same neighbour.
func (b *Bench) rounds(ctx context.Context, subjects ...*subject) {
	for round := range b.Pairs {
		for i := range subjects {
			s := subjects[(i+round)%len(subjects)]
			if s.err == nil {
				b.once(ctx, s, round)
			}
		}
	}
}

// once measures s and keeps the result, or why there is none.
func (b *Bench) once(ctx context.Context, s *subject, round int) {
	r, err := s.measure(ctx)
	if err != nil {
		s.err = err
		b.Log("  %s: %v", s.name, err)
		return
	}
	s.results = append(s.results, r)
	b.Log("  %d/%d %-24s %9.0f cmd/s  p50 %7.0f  p99 %7.0f  max %7.0f us  own processor time %.1f us",
		round+1, b.Pairs, s.name, r.Commands, r.P50, r.P99, r.Max, r.OwnCPU)
}

// rate, p50ms and p99ms are figures of a result that rows compare.
func rate(r load.Result) float64  { return r.Commands }
func p50ms(r load.Result) float64 { return r.P50 / 1e3 }
func p99ms(r load.Result) float64 { return r.P99 / 1e3 }

// median is the median of one figure over the results of s.
func (s *subject) median(figure func(load.Result) float64) float64 {
	var vs []float64
	for _, r := range s.results {
		vs = append(vs, figure(r))
	}
	return report.Quantile(vs, .5)
}

// compare fills row with the pairs of two subjects and judges it. When one of
// them failed, what the other reached alone is noted.
func compare(row *report.Row, ours, other *subject, figure func(load.Result) float64) {
	if ours.err != nil || other.err != nil {
		for _, s := range []*subject{ours, other} {
			if len(s.results) > 0 {
				row.Note("%s alone: %s, median of %d", s.name, report.Figure(s.median(figure), row.Unit), len(s.results))
			}
		}
		row.Fail(verdictOf(ours.err, other.err), errors.Join(ours.err, other.err))
		return
	}
	for i := range min(len(ours.results), len(other.results)) {
		row.Add(figure(ours.results[i]), figure(other.results[i]))
	}
	row.Judge()
	for _, s := range []*subject{ours, other} {
		if p50 := s.median(p50ms); p50 > 0 {
			row.Note("%s: p50 %.2f ms, p99 %.2f ms (medians)", s.name, p50, s.median(p99ms))
		}
	}
}

// verdictOf is NoPeer when the only trouble is a peer that is not installed.
func verdictOf(ours, other error) report.Verdict {
	if ours == nil && errors.Is(other, peer.ErrMissing) {
		return report.NoPeer
	}
	return report.Failed
}

// asked reports whether any row has one of the ids, each a number with its part.
func asked(rows []*report.Row, ids ...string) bool {
	return slices.ContainsFunc(rows, func(r *report.Row) bool { return slices.Contains(ids, r.ID+r.Part) })
}
