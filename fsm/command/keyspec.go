package command

import (
	"bytes"
	"math"
)

// The usual places of keys.
var (
	noKeys   = KeySpec{}
	firstKey = KeySpec{First: 1, Last: 1, Step: 1}
	twoKeys  = KeySpec{First: 1, Last: 2, Step: 1}
	allKeys  = KeySpec{First: 1, Last: -1, Step: 1}
	keyPairs = KeySpec{First: 1, Last: -1, Step: 2}
)

// countedKeys is for commands whose word at position at says how many keys follow
// it, one every step words.
func countedKeys(at, step int) KeySpec {
	return KeySpec{Find: func(argv [][]byte) []int {
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
func (k KeySpec) Positions(argv [][]byte) []int {
	if k.Find != nil {
		return k.Find(argv)
	}
	if k.First == 0 {
		return nil
	}
	last := k.Last
	if last < 0 {
		last += len(argv)
	}
	var keys []int
	for i := k.First; i <= last && i < len(argv); i += k.Step {
		keys = append(keys, i)
	}
	return keys
}
