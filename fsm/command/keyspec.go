package command

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
