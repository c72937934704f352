package sim

import "slices"

// shrinkTries bounds the histories that are tried to make one smaller.
const shrinkTries = 3000

// Shrink makes a failing history smaller: it leaves out steps, then makes their numbers small, as long as the same rule
// is broken.
func Shrink(h History) (History, *Violation) {
	found := Run(h)
	if found == nil {
		return h, nil
	}
	s := &shrinker{best: h, found: found, left: shrinkTries}
	for before := -1; before != len(s.best.Steps) && s.left > 0; {
		before = len(s.best.Steps)
		s.leaveOut()
	}
	s.makeSmall()
	return s.best, s.found
}

type shrinker struct {
	best  History
	found *Violation
	left  int
}

// try keeps a history if it breaks the same rule.
func (s *shrinker) try(steps []Step) bool {
	if s.left--; s.left < 0 {
		return false
	}
	h := History{s.best.Seed, steps}
	v := Run(h)
	if v == nil || v.Rule != s.found.Rule {
		return false
	}
	s.best, s.found = h, v
	return true
}

// leaveOut tries to do without runs of steps, long ones first.
func (s *shrinker) leaveOut() {
	for size := len(s.best.Steps) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(s.best.Steps); {
			if !s.try(slices.Concat(s.best.Steps[:at], s.best.Steps[at+size:])) {
				at += size
			}
		}
	}
}

// makeSmall tries smaller numbers.
func (s *shrinker) makeSmall() {
	for i := range s.best.Steps {
		for _, number := range []func(*Step) *uint16{
			func(p *Step) *uint16 { return &p.A }, func(p *Step) *uint16 { return &p.B }, func(p *Step) *uint16 { return &p.C },
		} {
			for _, v := range []uint16{0, 1, 2, 3, 4, 5, 6, 7} {
				steps := slices.Clone(s.best.Steps)
				if *number(&steps[i]) <= v {
					break
				}
				*number(&steps[i]) = v
				if s.try(steps) {
					break
				}
			}
		}
	}
}
