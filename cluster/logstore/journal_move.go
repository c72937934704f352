package logstore

import (
	"encoding/binary"
	"runtime/debug"
	"slices"

	"github.com/hashicorp/raft"
	"go.etcd.io/bbolt"
)

// One transaction of the database takes moveChunk bytes of entries, or moveEntries of them.
const (
	moveChunk   = 1 << 20
	moveEntries = 1024
	// keptRoom bounds the memory that is kept for the next move: a single entry may be much larger than a chunk.
	keptRoom = 4 * moveChunk
)

// move puts the sealed halves into the database, the older first, and makes them ready
// for new records. An error leaves what was not done to the next call.
func (j *journal) move() error {
	j.moving.Lock()
	defer j.moving.Unlock()
	for {
		h := j.oldest()
		if h == nil {
			return nil
		}
		if !h.empty {
			if err := j.moveAll(h); err != nil {
				return err
			}
			err := j.timed(func() error { return j.under.Set([]byte(journalKey), sealEpoch(h.epoch)) })
			if err != nil {
				return err
			}
			h.empty = true // only the mover looks at it
		}
		if err := j.timed(func() error { return j.renew(h) }); err != nil {
			return err
		}
	}
}

// timed shows the watchdog that a write is under way. An append that waits for many of
// them is not stuck while they come back.
func (j *journal) timed(write func() error) (err error) {
	for _, g := range []*gauge{&j.moves, j.writes} {
		g.enter()
		defer g.leave()
	}
	defer catch(&err, j.path, debug.SetPanicOnFault(true))
	return write()
}

// oldest is the sealed half that was sealed first.
func (j *journal) oldest() *half {
	j.mu.RLock()
	defer j.mu.RUnlock()
	var found *half
	for i := range j.halves {
		if h := &j.halves[i]; h.sealed && (found == nil || h.epoch < found.epoch) {
			found = h
		}
	}
	return found
}

// moveAll stores a sealed half's entries in the database. Nothing is written to the half
// meanwhile, so it is read without the lock.
func (j *journal) moveAll(h *half) error {
	room := j.room // of the entries of one transaction, which copies them
	defer func() {
		if cap(room) <= keptRoom {
			j.room = room
		}
	}()
	for from := 0; from < len(h.spans); {
		var logs []*raft.Log
		room = room[:0]
		for from < len(h.spans) && len(room) < moveChunk && len(logs) < moveEntries {
			l, s := &raft.Log{}, h.spans[from]
			room = slices.Grow(room, int(s.n)) // entries before keep the room that they have
			if err := j.readInto(room[len(room):len(room)+int(s.n)], s, l); err != nil {
				return err
			}
			room = room[:len(room)+int(s.n)]
			logs = append(logs, l)
			from++
		}
		if err := j.timed(func() error { return j.under.StoreLogs(logs) }); err != nil {
			return err
		}
		j.moved.Add(uint64(len(logs)))
	}
	return nil
}

// renew gives a moved half a new epoch, durably, so that its old records are void.
func (j *journal) renew(h *half) error {
	next := half{base: h.base, epoch: j.highest() + 1, salt: newSalt()}
	if err := writeHeader(j.f, &next); err != nil {
		return err
	}
	if err := datasync(j.f); err != nil {
		return err
	}
	next.spans = h.spans[:0]
	j.mu.Lock()
	*h = next
	j.mu.Unlock()
	return nil
}

func (j *journal) highest() uint64 {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return max(j.halves[0].epoch, j.halves[1].epoch)
}

// Stats are the database's.
func (j *journal) Stats() bbolt.Stats { return j.under.Stats() }

// Close lets go of both files. What the journal holds is found at the next open.
func (j *journal) Close() error {
	j.stop()
	return first(j.f.Close(), j.under.Close())
}

func sealEpoch(epoch uint64) []byte {
	return sealValue([]byte(journalKey), binary.BigEndian.AppendUint64(nil, epoch))
}
