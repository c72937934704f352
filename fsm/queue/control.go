package queue

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/env"
)

const signingPrefix = "sig"

// ChangeFlowControl changes a flow-control key, and returns what it is afterwards.
func (s *Store) ChangeFlowControl(e *env.Env, n FlowControlChange) (FlowControlInfo, error) {
	if n.Key == "" || n.Parallelism < 0 || n.Rate < 0 || n.Period < 0 || n.Period > MaxPeriod || n.Burst < 0 || n.Burst > MaxBurst {
		return FlowControlInfo{}, invalid("a flow-control key, and limits of at least 1, are needed; a period has at most 7 days")
	}
	f := s.flowKeyNamed(n.Key, n.Act == ActPin || n.Act == ActPause, e.Now)
	if f == nil {
		return FlowControlInfo{}, notFound("flowControl %s not found", n.Key)
	}
	f.used = e.Now
	switch n.Act {
	case ActPause, ActResume:
		if f.Paused = n.Act == ActPause; !f.Paused {
			s.goOn(f.no)
		}
	case ActPin:
		f.pin(e, n)
	case ActUnpin:
		f.PinnedParallelism = f.PinnedParallelism && n.Parallelism == 0
		f.PinnedRate = f.PinnedRate && n.Rate == 0
	case ActResetRate, ActReset:
		f.resetRate(e.Now)
	default:
		return FlowControlInfo{}, invalid("a flow-control key can't be changed in this way")
	}
	s.storeFlowKey(f, e.Now)
	return s.flowControlInfo(f, e.Now), nil
}

// pin fixes the parts that n names. Pinning a rate begins a new window, unless it is pinned so already.
func (fk *FlowKey) pin(e *env.Env, n FlowControlChange) {
	if n.Parallelism > 0 {
		fk.Parallelism, fk.PinnedParallelism = n.Parallelism, true
	}
	if n.Rate > 0 {
		period := n.Period
		if period == 0 {
			period = DefaultPeriod
		}
		if fk.PinnedRate && fk.Rate == n.Rate && fk.Period == period && fk.Burst == n.Burst {
			return
		}
		fk.setRate(n.Rate, period, n.Burst, e.Now)
		fk.PinnedRate = true
		fk.WindowStart, fk.Count = e.Now, 0
	}
}

// SetParallelism bounds the attempts under way at once.
func (s *Store) SetParallelism(_ *env.Env, n Parallelism) (Parallelism, error) {
	if n.Max < 0 {
		return Parallelism{}, invalid("invalid parallelism: %d", n.Max)
	}
	s.settings.GlobalParallelism = n.Max
	return n, nil
}

// Configure replaces the settings; sweeps remove the surplus records step by step.
func (s *Store) Configure(_ *env.Env, n Settings) (Settings, error) {
	for _, v := range n.numbers() {
		if *v < 0 {
			return s.settings, invalid("a limit must not be negative")
		}
	}
	for _, v := range n.counts() {
		if *v < 0 {
			return s.settings, invalid("a limit must not be negative")
		}
	}
	s.settings = n
	return n, nil
}

// Rotate changes the signing keys, and returns the new ones.
func (s *Store) Rotate(e *env.Env, n Rotation) (Keys, error) {
	given := n.Current != "" && n.Next != ""
	switch {
	case given && (n.Again || s.keys == Keys{}):
		s.keys = Keys{strings.Clone(n.Current), strings.Clone(n.Next)}
	case given:
	case s.keys == Keys{}:
		s.keys = Keys{e.NewID(signingPrefix), e.NewID(signingPrefix)}
	default:
		s.keys = Keys{s.keys.Next, e.NewID(signingPrefix)}
	}
	return s.keys, nil
}
