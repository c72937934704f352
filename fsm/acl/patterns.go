package acl

import (
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/glob"
)

// patternSet finds whether one of many patterns matches a name. Names and prefixes are looked up in sorted lists; only the
// other patterns are matched one after the other, and that has a price: see walkPrice.
type patternSet struct {
	exact    []string // sorted
	prefixes []string // sorted, and none begins with another
	walked   []string
	price    walkPrice
}

// walkPrice is the price of matching a name with patterns, in 1/64 of a step: each pattern, and each byte of the name.
type walkPrice struct{ name, byte int64 }

// matchPrice is the price of a match with a short name, in 1/64 of a step.
const matchPrice = 4 * 64

func (p *walkPrice) add(o walkPrice) {
	p.name += o.name
	p.byte += o.byte
}

// add takes a pattern in. Sort must be called before the first look-up.
func (s *patternSet) add(pattern string) {
	switch shape, text := glob.ShapeOf(pattern); shape {
	case glob.Exact:
		s.exact = append(s.exact, text)
	case glob.Prefix:
		s.prefixes = append(s.prefixes, text)
	default:
		s.walked = append(s.walked, pattern)
		s.price.add(walkPrice{matchPrice, glob.PerByte(pattern)})
	}
}

func (s *patternSet) sort() {
	slices.Sort(s.exact)
	slices.Sort(s.prefixes)
	kept := s.prefixes[:0]
	for _, p := range s.prefixes {
		if n := len(kept); n == 0 || !strings.HasPrefix(p, kept[n-1]) {
			kept = append(kept, p)
		}
	}
	s.prefixes = slices.Clip(kept)
}

// hasPrefix reports whether a pattern opens everything that begins with name. Since no prefix begins with another, only the
// last one that is not behind the name can be its beginning.
func (s *patternSet) hasPrefix(name string) bool {
	i, found := slices.BinarySearch(s.prefixes, name)
	return found || i > 0 && strings.HasPrefix(name, s.prefixes[i-1])
}

// matches reports whether a pattern matches the name.
func (s *patternSet) matches(name string) bool {
	if _, found := slices.BinarySearch(s.exact, name); found || s.hasPrefix(name) {
		return true
	}
	return slices.ContainsFunc(s.walked, func(p string) bool { return glob.Match(p, name) })
}

// keySets are the key patterns of a selector by what they open: reading, writing, or both.
type keySets [ReadKey | WriteKey]patternSet

// compileKeys sorts key patterns into their sets.
func compileKeys(keys []keyPattern) *keySets {
	if len(keys) == 0 {
		return nil
	}
	sets := new(keySets)
	for _, k := range keys {
		if access := k.access & (ReadKey | WriteKey); access != 0 {
			sets[access-1].add(k.pattern)
		}
	}
	for i := range sets {
		sets[i].sort()
	}
	return sets
}

// any reports whether a set that opens the access meets a condition.
func (s *keySets) any(access Access, meets func(*patternSet) bool) bool {
	if s == nil {
		return false
	}
	for i := range s {
		if Access(i+1)&access == access && meets(&s[i]) {
			return true
		}
	}
	return false
}

// channelSet are the channel patterns of a selector.
type channelSet struct {
	names    []string // of the patterns themselves, sorted
	patterns patternSet
}

func compileChannels(channels []string) *channelSet {
	if len(channels) == 0 {
		return nil
	}
	s := &channelSet{names: slices.Clone(channels)}
	slices.Sort(s.names)
	for _, p := range channels {
		s.patterns.add(p)
	}
	s.patterns.sort()
	return s
}

// price returns the price of checking a name with the selector.
func (s *selector) price() (p walkPrice) {
	if s.keySets != nil {
		for i := range s.keySets {
			p.add(s.keySets[i].price)
		}
	}
	if s.channelSet != nil {
		p.add(s.channelSet.patterns.price)
	}
	return p
}
