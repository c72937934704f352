package command

import (
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/hll"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// hyperLogLogRows is the HyperLogLog family.
func hyperLogLogRows() []Command {
	return []Command{
		{Name: "pfadd", Arity: -2, Flags: Write | DenyOOM | Fast, Keys: firstKey.with(rwInsert), Cost: costConstant, Work: sketchAddWork, Doc: Doc{Version: "2.8.9", Complexity: "O(1) for each element",
			Syntax: "PFADD key [element [element ...]]", Summary: "Counts elements, and returns 1 if the estimate may have changed."}, Run: pfAdd},
		{Name: "pfcount", Arity: -2, Flags: ReadOnly | ReadOnlyUser, Keys: allKeys.with(roAccess), Cost: costValues, Work: sketchWork, Doc: Doc{Version: "2.8.9", Complexity: "O(n), where n is the number of keys; a constant of some microseconds",
			Syntax: "PFCOUNT key [key ...]", Summary: "Returns an estimate of how many distinct elements the keys have counted together."}, Run: pfCount},
		{Name: "pfdebug", Arity: 3, Flags: Write | DenyOOM | Admin, Access: Access{Regrouped: acl.Write}, Keys: keyPlaces{First: 2, Last: 2, Step: 1}.with(rwAccess).but(keyRW), Cost: costConstant, Work: sketchDebugWork, Doc: Doc{Version: "2.8.9", Complexity: "O(1)",
			Syntax: "PFDEBUG GETREG | DECODE | ENCODING | TODENSE key", Summary: "Shows or changes how the registers are stored, for tests."}, Run: pfDebug},
		{Name: "pfmerge", Arity: -2, Flags: Write | DenyOOM | ReportsMiss, Keys: allKeys.uses(one(rwAccessInsert, 1), rest(roAccess, 2, -1, 1)), Cost: costValues, Work: sketchWork, Doc: Doc{Version: "2.8.9", Complexity: "O(n), where n is the number of keys",
			Syntax: "PFMERGE destkey [sourcekey [sourcekey ...]]", Summary: "Makes a key count what all of the keys have counted."}, Run: pfMerge},
		{Name: "pfselftest", Arity: 1, Flags: Admin, Cost: costConstant, Doc: Doc{Version: "2.8.9", Complexity: "O(1)",
			Syntax: "PFSELFTEST", Summary: "Returns OK; the registers are tested when the server is built."}, Run: pfSelfTest},
	}
}

// sketchSteps is the work of looking at all registers of a sketch, however few bytes it takes.
const sketchSteps = int64(len(hll.Registers{}) / registersPerWork)

const registersPerWork = 16

// sketchWork is the work of commands that look at all registers of each key and of what they make of them.
func sketchWork(tx *Tx, argv [][]byte) (steps int64) {
	for _, key := range argv[1:] {
		if tx.DB.Peek(tx.Env, key).Type() != keyspace.None {
			steps += sketchSteps
		}
	}
	if len(argv) > 2 {
		steps += sketchSteps
	}
	return steps
}

var (
	errNoSketch  = reply.Error("WRONGTYPE Key is not a valid HyperLogLog string value.")
	errCorrupt   = reply.Error("INVALIDOBJ Corrupted HLL object detected")
	errKeyAbsent = reply.Error("ERR The specified key does not exist")
	errNotSparse = reply.Error("ERR HLL encoding is not sparse")
)

// findSketch is the sketch under key, nil for a missing key.
func (tx *Tx) findSketch(key []byte) (s *hll.Sketch, o *keyspace.Object, bad *reply.Value) {
	o, ok := tx.findText(key)
	switch {
	case !ok:
		return nil, nil, &ErrWrongType
	case o == nil:
		return nil, nil, nil
	}
	if s, ok = hll.Open(o.Text()); !ok {
		return nil, nil, &errNoSketch
	}
	return s, o, nil
}

// storeSketch stores a sketch that has changed; the deadline stays.
func (tx *Tx) storeSketch(key []byte, o *keyspace.Object, s *hll.Sketch) {
	if s.Bytes() == nil {
		return
	}
	expire := keyspace.Deadline(0)
	if o != nil {
		expire = o.Expire
	}
	tx.DB.SetText(tx.Env, key, keyspace.Adopt(s.Bytes()), expire)
}

func pfAdd(tx *Tx, a *Args) reply.Value {
	key, elements := a.Bytes(), a.Rest()
	s, o, bad := tx.findSketch(key)
	if bad != nil {
		return *bad
	}
	updated := s == nil
	if s == nil {
		s = hll.New()
		tx.changes++
	}
	for _, element := range elements {
		changed, err := s.Add(element)
		if err != nil {
			return errCorrupt
		}
		if changed {
			tx.changes++
		}
		updated = updated || changed
	}
	tx.storeSketch(key, o, s)
	if updated {
		tx.Event(StringEvent, "pfadd", key)
		return reply.Int(1)
	}
	return reply.Int(0)
}

func pfCount(tx *Tx, a *Args) reply.Value {
	keys := a.Rest()
	if len(keys) > 1 {
		return tx.countMerged(keys)
	}
	s, _, bad := tx.findSketch(keys[0])
	switch {
	case bad != nil:
		return *bad
	case s == nil:
		return reply.Int(0)
	}
	n, err := s.Count()
	if err != nil {
		return errCorrupt
	}
	return reply.Int(int64(n))
}

func (tx *Tx) countMerged(keys [][]byte) reply.Value {
	var all hll.Registers
	if _, bad := tx.mergeSketches(&all, keys); bad != nil {
		return *bad
	}
	return reply.Int(int64(all.Count()))
}

// mergeSketches adds the registers of all keys, and reports whether one of them is dense.
func (tx *Tx) mergeSketches(all *hll.Registers, keys [][]byte) (dense bool, bad *reply.Value) {
	for _, key := range keys {
		s, _, bad := tx.findSketch(key)
		if bad != nil {
			return false, bad
		}
		if s == nil {
			continue
		}
		dense = dense || s.Dense()
		if all.Merge(s) != nil {
			return false, &errCorrupt
		}
	}
	return dense, nil
}

// pfMerge counts the destination among the sources, before the others: the first that is broken or no sketch is the error.
func pfMerge(tx *Tx, a *Args) reply.Value {
	keys := a.Rest()
	var all hll.Registers
	s, o, bad := tx.findSketch(keys[0])
	switch {
	case bad != nil:
		return *bad
	case s == nil:
		s = hll.New()
	case all.Merge(s) != nil:
		return errCorrupt
	}
	dense, bad := tx.mergeSketches(&all, keys[1:])
	if bad != nil {
		return *bad
	}
	if dense {
		if _, err := s.ToDense(); err != nil {
			return errCorrupt
		}
	}
	if s.Raise(&all) != nil {
		return errCorrupt
	}
	tx.storeSketch(keys[0], o, s)
	tx.Event(StringEvent, "pfadd", keys[0]) // by this name, as in Redis
	return reply.OK()
}

func pfDebug(tx *Tx, a *Args) reply.Value {
	word, key := a.Bytes(), a.Bytes()
	s, o, bad := tx.findSketch(key)
	switch {
	case bad != nil:
		return *bad
	case s == nil:
		return errKeyAbsent
	}
	switch {
	case EqualFold(word, "GETREG"):
		return tx.showRegisters(key, o, s)
	case EqualFold(word, "DECODE") && s.Dense():
		return errNotSparse
	case EqualFold(word, "DECODE"):
		return reply.Bulk(s.Describe())
	case EqualFold(word, "ENCODING") && s.Dense():
		return reply.Status("dense")
	case EqualFold(word, "ENCODING"):
		return reply.Status("sparse")
	case EqualFold(word, "TODENSE"):
		was, err := s.ToDense()
		if err != nil {
			return errCorrupt
		}
		tx.storeSketch(key, o, s)
		if was {
			return reply.Int(1)
		}
		return reply.Int(0)
	}
	return reply.Error("ERR Unknown PFDEBUG subcommand '" + shown(string(word)) + "'")
}

// showRegisters turns a sketch dense, as Redis does to show its registers.
func (tx *Tx) showRegisters(key []byte, o *keyspace.Object, s *hll.Sketch) reply.Value {
	if _, err := s.ToDense(); err != nil {
		return errCorrupt
	}
	tx.storeSketch(key, o, s)
	all, err := s.All()
	if err != nil {
		return errCorrupt
	}
	out := make([]reply.Value, len(all))
	for i, rank := range all {
		out[i] = reply.Int(int64(rank))
	}
	return reply.Array(out...)
}

func pfSelfTest(tx *Tx, a *Args) reply.Value {
	if err, ok := a.Done(); !ok {
		return err
	}
	return reply.OK()
}
