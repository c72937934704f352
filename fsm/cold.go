package fsm

import (
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// Large strings that are not used go to the node's disk: see docs/design/cold-values.md. Nothing here is part of the state.

// ColdWalk is a place among all keys, from which Machine.ShiftValues goes on. The zero one is the first.
type ColdWalk struct {
	database string
	cursor   uint64
	rounds   uint64 // that have ended
}

// Shifting says what Machine.ShiftValues moves.
type Shifting struct {
	// Length is the least length in bytes of strings that go to the disk.
	Length int
	// Idle is the time in milliseconds after which they go if they are not used.
	Idle int64
	// Back has those that were read lately return to memory.
	Back bool
	// Keys is the number of keys to look at.
	Keys int
}

// Shifted counts what Machine.ShiftValues has moved: strings that went, those that returned, and their lengths in bytes. Round
// says that it has come to the end of all keys.
type Shifted struct {
	Gone, Back           int64
	GoneBytes, BackBytes int64
	Round                bool
}

const (
	// shiftedBytes is the size in bytes of what is moved under one hold of the lock, and shiftedTogether the number of strings.
	shiftedBytes    = 4 << 20
	shiftedTogether = 256
	// walkedTogether is the number of keys that are looked at under one hold of the lock for reading.
	walkedTogether = 2_000
)

// ShiftValues looks at some keys, moves large strings that are not used to the disk, and those that are used again back to memory.
// Nothing happens below level env.Files, or without files. One goroutine calls it.
func (m *Machine) ShiftValues(w *ColdWalk, sh Shifting) (done Shifted, err error) {
	files, ok := m.keeper.(payload.Files)
	if !ok || m.Level() < env.Files {
		return Shifted{Round: true}, nil
	}
	if walked, ok := files.(payload.Walked); ok {
		defer func() {
			if done.Round {
				walked.Walked(w.rounds)
			}
		}()
	}
	for left := sh.Keys; left > 0 && !done.Round; {
		list, looked, end := m.findShifts(w, sh, min(left, walkedTogether))
		left, done.Round = left-max(looked, 1), end
		if len(list) == 0 {
			continue
		}
		if err := m.shift(files, list, &done); err != nil {
			return done, err
		}
	}
	return done, nil
}

// shift is a string that is about to be moved.
type shift struct {
	keyspace.Shift
	database string
	id       uint64
	to       payload.Cold // nil for one that returns
}

// findShifts looks at keys, and returns what is to be moved of them.
func (m *Machine) findShifts(w *ColdWalk, sh Shifting, keys int) (list []shift, looked int, end bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	s := m.state
	bytes, full := 0, false
	so := keyspace.Sought{Length: sh.Length, Before: s.clock - sh.Idle, Back: sh.Back, Round: w.rounds + 1}
	large := has(hasLarge)
	for d := s.database(w.database); looked < keys && !full; {
		if d == nil || w.database == "" {
			w.cursor = 0
			if d = s.from(w.database, true, large); d == nil {
				*w = ColdWalk{rounds: w.rounds + 1}
				return list, looked, true
			}
			w.database = d.name
		}
		next, n := d.keys.Shifts(w.cursor, keys-looked, &so, func(k keyspace.Shift) bool {
			list = append(list, shift{Shift: k, database: d.name, id: d.id})
			if bytes += len(k.Bytes); k.From != nil {
				bytes += k.From.Len()
			}
			full = bytes >= shiftedBytes || len(list) >= shiftedTogether
			return !full
		})
		looked += n + 1
		if w.cursor = next; next != 0 {
			continue
		}
		if d = s.from(w.database, false, large); d == nil {
			*w = ColdWalk{rounds: w.rounds + 1}
			return list, looked, true
		}
		w.database = d.name
	}
	return list, looked, false
}

// shift moves strings: their bytes are on the disk before the state is told.
func (m *Machine) shift(files payload.Files, list []shift, done *Shifted) error {
	var bytes [][]byte
	for _, s := range list {
		if s.From != nil {
			bytes = append(bytes, s.From.Bytes())
		} else if !s.Back {
			bytes = append(bytes, s.Bytes)
		}
	}
	kept, err := files.Put(bytes)
	if err != nil {
		return err
	}
	for i := range list {
		if !list[i].Back {
			list[i].to, kept = kept[0], kept[1:]
		}
	}
	m.lock()
	defer m.unlock()
	defer m.state.settle()
	for _, s := range list {
		d := m.state.database(s.database)
		if d == nil || d.id != s.id {
			continue
		}
		if n := int64(len(s.Bytes)); !m.state.open(d).keys.Shift(s.Shift, s.to) {
			continue
		} else if s.Back {
			done.Back, done.BackBytes = done.Back+1, done.BackBytes+n
		} else if s.From == nil {
			done.Gone, done.GoneBytes = done.Gone+1, done.GoneBytes+n
		}
	}
	return nil
}

// ColdValues returns the number of strings that are on the disk, and their total length in bytes.
func (v *View) ColdValues() (number, bytes int64) {
	number, bytes = v.s.sums.cold, v.s.sums.coldBytes
	for _, d := range v.s.changing {
		n, b := d.keys.ColdValues()
		number, bytes = number+n-d.counted.cold, bytes+b-d.counted.coldBytes
	}
	return number, bytes
}

// Lacking returns the payloads on the disk that the commands of an entry will read when it is applied, about room bytes of them at
// most. Whoever is about to apply it reads them first, so that the apply, which readers wait for, does not wait for the disk. What it
// misses, an apply reads itself, once the command is admitted.
func (m *Machine) Lacking(data []byte, room int) (list []env.Lack, bytes int) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.state.sums.cold == 0 || IsFragment(data) {
		return nil, 0
	}
	n := m.peekEntry(data)
	if n == nil {
		return nil, 0
	}
	l := lacking{s: m.state, room: room}
	for i := range n.Requests {
		l.request(m.state.home, n.Requests[i].Code, n.Requests[i].Body)
	}
	return l.list, room - l.room
}

// lacking gathers what entries read from the disk.
type lacking struct {
	s     *State
	room  int // in bytes, below 0 when it is used up
	list  []env.Lack
	words [][]byte
}

// lackRoom is the least room in bytes that a payload takes: a look at the disk costs as much as reading that.
const lackRoom = 4 << 10

// request adds what the commands of a request read, d is the database that it is for. One that can't be read has none.
func (l *lacking) request(d *database, code uint16, body []byte) {
	switch code {
	case Exec.Code:
		l.batch(body)
	case InDatabase.Code:
		if n, err := InDatabase.Argument(body); err == nil && n.Code != InDatabase.Code {
			l.request(l.s.database(n.Database), n.Code, n.Body)
		}
	case Submit.Code:
		n, _ := Submit.Argument(body)
		for i := range n.Items {
			l.commit(d, n.Items[i].Commit)
		}
	case FinishCommit.Code:
		n, _ := FinishCommit.Argument(body)
		l.commit(d, n.Commit)
	}
}

// commit adds what the commands of a step or an answer read.
func (l *lacking) commit(d *database, text []byte) {
	if d == nil || len(text) == 0 {
		return
	}
	rows, _ := command.ReadCommit(text, MaxCommit)
	for _, words := range rows {
		l.row(d, words)
	}
}

// batch adds what the rows of a batch read. It reads the fields of Batch as far as those.
func (l *lacking) batch(body []byte) {
	r := wire.NewReader(body)
	d := l.s.database(string(r.Bytes()))
	r.Fixed(1) // By
	r.Bytes()  // User
	r.Uvarint()
	r.Fixed(2)  // Origin, Mode
	r.Uvarint() // words
	if d == nil {
		return
	}
	for rows := r.Uvarint(); rows > 0 && r.Err() == nil && l.room > 0; rows-- {
		l.words = l.words[:0]
		for n := r.Uvarint(); n > 0 && r.Err() == nil; n-- {
			l.words = append(l.words, r.Bytes())
		}
		if r.Err() != nil || len(l.words) == 0 {
			return
		}
		l.row(d, l.words)
	}
}

// row adds what a command reads.
func (l *lacking) row(d *database, words [][]byte) {
	l.s.applier.table.EachRead(words, func(key []byte) {
		if l.room <= 0 {
			return
		}
		if k := d.keys.Lacking(key); k != nil {
			l.list = append(l.list, k)
			l.room -= max(k.Len(), lackRoom)
		}
	})
}
