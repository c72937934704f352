package keyspace

import "github.com/trireme-dev/trireme/fsm/cow"

// WarmGroup is the number of keys that Warm takes at a time.
const WarmGroup = cow.WarmGroup

// Warm reads what commands on these keys will read, at most WarmGroup of them, side by
// side: a batch of commands on random keys otherwise spends most of its time waiting
// for memory, one key after the other. Nothing changes. It returns a number without meaning.

func (db *DB) Warm(keys [][]byte) uint64 {
	var heads [WarmGroup]uint64
	n := min(len(keys), WarmGroup)
	for i := range n {
		heads[i] = hashOf(probe(keys[i]))
	}
	return db.keys.Warm(heads[:n], touch)
}

// touch reads the head of an object and the first byte of its key, which are near each other.
func touch(o *Object, _ struct{}) uint64 {
	sum := uint64(o.Expire)
	if key := o.key(); len(key) > 0 {
		sum += uint64(key[0])
	}
	return sum
}
