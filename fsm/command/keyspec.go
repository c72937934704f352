package command

import (
	"bytes"
	"math"

	"github.com/trireme-dev/trireme/fsm/acl"
)

// KeySpec says which arguments of a command are keys and what it does with them. The zero
// value is for commands without keys. One is made from keyPlaces by with or uses, so that no row
// can name a key without saying what it does with it.
type KeySpec struct {
	keyPlaces
	uses []keyUse
}

// keyPlaces are the positions of keys: First to Last in steps, where the command's name is 0 and
// a negative Last counts from the end. First 0 means none. Find, if set, returns the
// positions for commands that need a look at their words.
type keyPlaces struct {
	First, Last, Step int
	Find              func(argv [][]byte) []int
	counted, every    int // the position of the number of keys that follow, one every so many words; 0 where there is none
}

// The usual places of keys.
var (
	firstKey = keyPlaces{First: 1, Last: 1, Step: 1}
	twoKeys  = keyPlaces{First: 1, Last: 2, Step: 1}
	allKeys  = keyPlaces{First: 1, Last: -1, Step: 1}
	keyPairs = keyPlaces{First: 1, Last: -1, Step: 2}
)

// with says what a command does with each of these keys.
func (p keyPlaces) with(does keyFlags) KeySpec {
	use := rest(does, p.First, p.Last, p.Step)
	switch {
	case p.counted > 0:
		use = keyUse{does: does, from: p.counted, step: p.every, counted: true}
	case p.First == 0:
		use = unknownKeys(does)
	case p.Last >= 0:
		use.last = p.Last - p.First
	}
	return p.uses(use)
}

// uses says what a command does with these keys where it differs from one to the next. The
// last use is that of all keys that follow.
func (p keyPlaces) uses(uses ...keyUse) KeySpec { return KeySpec{keyPlaces: p, uses: uses} }

// but is for the few commands of which a user needs other rights than their flags in COMMAND
// INFO tell.
func (ks KeySpec) but(rights acl.Access) KeySpec {
	for i := range ks.uses {
		ks.uses[i].rights = rights
	}
	return ks
}

// countedKeys is for commands whose word at position at says how many keys follow
// it, one every step words.
func countedKeys(at, step int) keyPlaces {
	return keyPlaces{counted: at, every: step, Find: func(argv [][]byte) []int {
		if at >= len(argv) {
			return nil
		}
		n, ok := ParseInt(argv[at])
		if !ok {
			n, ok = leadingInt(argv[at])
		}
		if !ok || n < 0 || n > int64(len(argv)) {
			return nil
		}
		var keys []int
		for i := at + 1; i < len(argv) && int64(len(keys)) < n; i += step {
			keys = append(keys, i)
		}
		return keys
	}}
}

// leadingInt is the number that a word begins with, as atoi of C reads it: so Redis finds the
// keys behind a count that the command itself will refuse.
func leadingInt(word []byte) (n int64, ok bool) {
	digits := bytes.TrimLeft(word, " \t\n\v\f\r")
	sign := int64(1)
	if len(digits) > 0 && (digits[0] == '-' || digits[0] == '+') {
		if digits[0] == '-' {
			sign = -1
		}
		digits = digits[1:]
	}
	for _, d := range digits {
		if d < '0' || d > '9' {
			break
		}
		if n = 10*n + int64(d-'0'); n > math.MaxInt32 {
			return 0, false
		}
	}
	return sign * n, true
}

// Positions are the places of the keys in argv, which has passed the arity check.
func (p keyPlaces) Positions(argv [][]byte) []int {
	if p.Find != nil {
		return p.Find(argv)
	}
	if p.First == 0 {
		return nil
	}
	last := p.Last
	if last < 0 {
		last += len(argv)
	}
	var keys []int
	for i := p.First; i <= last && i < len(argv); i += p.Step {
		keys = append(keys, i)
	}
	return keys
}
