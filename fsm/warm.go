package fsm

import (
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// warmRequests reads what the next requests of an entry will read of their keys, side by side. Requests of single commands
// on random keys otherwise wait for memory one after the other, as the rows of a pipeline would: see warm. It is only about
// time, and nothing changes.
func (s *State) warmRequests(requests []Request) {
	var keys [keyspace.WarmGroup][]byte
	var in *database
	n := 0
	for i := range requests[:min(len(requests), keyspace.WarmGroup)] {
		q := &requests[i]
		if q.Code != Exec.Code {
			continue
		}
		name, key := singleKey(q.Body)
		if len(key) == 0 {
			continue
		}
		d := s.database(string(name))
		if d == nil {
			continue
		}
		if d != in && n > 0 {
			in.keys.Warm(keys[:n])
			n = 0
		}
		in, keys[n] = d, key
		n++
	}
	if n > 0 {
		in.keys.Warm(keys[:n])
	}
}

// singleKey is the database and the first argument of a batch of one row, which is the key of most commands; there is no
// key if it has none or has several rows, which warm their keys themselves. It reads the fields of Batch as far as that.
func singleKey(body []byte) (database, key []byte) {
	r := wire.NewReader(body)
	database = r.Bytes()
	r.Fixed(1) // By
	r.Bytes()  // User
	r.Uvarint()
	r.Fixed(2) // Origin, Mode
	r.Uvarint()
	if rows, words := r.Uvarint(), uint64(0); rows == 1 {
		if words = r.Uvarint(); words > 1 {
			r.Bytes()
			key = r.Bytes()
		}
	}
	if r.Err() != nil {
		return nil, nil
	}
	return database, key
}
