package command

import (
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

var (
	errRingSize     = reply.Error("ERR size must be positive")
	errRingSizeText = reply.Error("ERR invalid size")
	errLastItems    = reply.Error("ERR count exceeds maximum of 1000000 items")
)

func arInsert(tx *Tx, a *Args) reply.Value {
	key, values := a.Bytes(), a.Rest()
	e, ok := look(tx, key, keyspace.NewSparseArray)
	switch next := e.data.Next(); {
	case !ok:
		return ErrWrongType
	case next > keyspace.MaxIndex || uint64(len(values)-1) > keyspace.MaxIndex-next:
		return errArrayOverflow
	}
	s := e.write()
	for _, v := range values {
		s.Set(s.Next(), string(v))
		s.Seek(s.Next() + 1)
	}
	e.end(s.Len(), ModuleEvent, "arinsert")
	return shownIndex(s.Next() - 1)
}

func arSeek(tx *Tx, a *Args) reply.Value {
	key, i := a.Bytes(), a.slotIndexUpTo(keyspace.MaxIndex+1)
	if err, ok := a.Done(); !ok {
		return err
	}
	e, ok := look(tx, key, keyspace.NewSparseArray)
	switch {
	case !ok:
		return ErrWrongType
	case e.object == nil:
		return reply.Int(0)
	}
	e.write().Seek(i)
	e.end(e.data.Len(), ModuleEvent, "arseek")
	return reply.Int(1)
}

// newest is the index of the value appended last, or of the last one where that is not there.
// There must be a value.
func newest(s *keyspace.SparseArray) uint64 {
	if next := s.Next(); next > 0 && next <= s.Span() {
		return next - 1
	}
	return s.Span() - 1
}

// previous is the index before i, the last one before the first.
func previous(s *keyspace.SparseArray, i uint64) uint64 {
	if i == 0 {
		return s.Span() - 1
	}
	return i - 1
}

func (a *Args) ringSize() uint64 {
	n := a.IntOr(errRingSizeText)
	if n <= 0 {
		a.Fail(errRingSize)
	}
	return uint64(n)
}

// rearranges reports whether a ring of another size than before has to be laid out anew: it
// became smaller, or it grows and its newest value is not at its end.
func rearranges(s *keyspace.SparseArray, size uint64) bool {
	length := s.Span()
	return size < length || size > length && s.Next() > 0 && s.Next() < length
}

// rearrange lays the newest values that fit out from index 0 on, the oldest first: an unbroken
// run that ends at the newest.
func rearrange(s *keyspace.SparseArray, size uint64) {
	var run []string
	most, at := min(size, s.Span()), newest(s)
	for uint64(len(run)) < most {
		value, used := s.Get(at)
		if !used {
			break
		}
		run = append(run, value)
		at = previous(s, at)
	}
	s.Clear()
	for i, value := range run {
		s.Set(uint64(len(run)-1-i), value)
	}
	s.Seek(uint64(len(run)))
}

func arRing(tx *Tx, a *Args) reply.Value {
	key, size, values := a.Bytes(), a.ringSize(), a.Rest()
	if err, ok := a.Done(); !ok {
		return err
	}
	e, ok := look(tx, key, keyspace.NewSparseArray)
	if !ok {
		return ErrWrongType
	}
	s := e.write()
	if rearranges(s, size) {
		rearrange(s, size)
	}
	at := uint64(0)
	for _, v := range values {
		at = s.Next() % size
		s.Set(at, string(v))
		s.Seek(at + 1)
	}
	e.end(s.Len(), ModuleEvent, "arring")
	return shownIndex(at)
}

// arrayRingWork moves all values where the size of a ring changes.
func arrayRingWork(tx *Tx, argv [][]byte) int64 {
	steps := int64(0)
	s, ok := tx.DB.Peek(tx.Env, argv[1]).Container().(*keyspace.SparseArray)
	if size, isInt := ParseInt(argv[2]); ok && isInt && size > 0 && rearranges(s, uint64(size)) {
		steps += storedMember * tx.volume(argv[1])
	}
	return steps
}

func arLastItems(tx *Tx, a *Args) reply.Value {
	key, count := a.Bytes(), a.Int()
	reverse := a.Word("REV")
	if err, ok := a.Done(); !ok {
		return err
	}
	s, ok := findArray(tx, key)
	switch {
	case !ok:
		return ErrWrongType
	case s.Len() == 0 || count <= 0:
		return reply.Array()
	}
	n := min(uint64(count), s.Span())
	if n > maxItems && uint64(s.Len()) < s.Span() {
		return errLastItems
	}
	shown := make([]reply.Value, n)
	at := newest(s)
	for i := range shown {
		if tx.Charge(stepsPerElement) {
			break
		}
		if !reverse {
			i = len(shown) - 1 - i
		}
		shown[i] = shownSlot(s, at)
		at = previous(s, at)
	}
	return reply.Array(shown...)
}

// arrayLastWork shows so many slots, used or not, with their values.
func arrayLastWork(tx *Tx, argv [][]byte) int64 {
	s, ok := tx.DB.Peek(tx.Env, argv[1]).Container().(*keyspace.SparseArray)
	count, isInt := ParseInt(argv[2])
	if !ok || !isInt || count <= 0 {
		return 0
	}
	n := min(uint64(count), s.Span())
	if n > maxItems && uint64(s.Len()) < s.Span() {
		return 0 // the command refuses it
	}
	return int64(n) + min(s.Size()/bytesPerWork, int64(n)*(1+s.Size()/int64(s.Len())/bytesPerWork))
}
