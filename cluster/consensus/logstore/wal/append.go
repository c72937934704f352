package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/hashicorp/raft"
)

var errTooLarge = errors.New("wal: entries too large for a record")

// Append appends entries to one or several logs, as one record with one sync, and returns when that is done. The entries of a log follow its
// last one; in an empty log they may begin anywhere. After an error readers see none of the entries, but the record may be there after a
// restart, unless another was written since. The entries are not kept.
func (w *WAL) Append(batches ...Batch) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	if err := w.follow(batches); err != nil {
		return err
	}
	size, copied := sizes(batches)
	if size > mostRecord {
		return fmt.Errorf("%w: %d bytes, at most %d fit", errTooLarge, size, int64(mostRecord))
	}
	s, err := w.roomFor(size + controlRoom)
	if err != nil {
		return err
	}
	r := &w.record
	r.begin(copied, s.salt)
	w.spans = w.spans[:0]
	for _, b := range batches {
		for _, e := range b.Entries {
			at, length := r.add(entry, b.Log.id, e)
			w.spans = append(w.spans, span{s.number, uint32(s.end + at), length})
		}
	}
	return w.write(s, func() {
		spans := w.spans
		for _, b := range batches {
			for i, e := range b.Entries {
				b.Log.add(e.Index, e.Term, spans[i])
			}
			spans = spans[len(b.Entries):]
		}
	})
}

// follow refuses entries that do not follow those of their logs.
func (w *WAL) follow(batches []Batch) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	for _, b := range batches {
		last, term := b.Log.end()
		for _, e := range b.Entries {
			if err := follows(last, term, e.Index, e.Term); err != nil {
				return err
			}
			last, term = e.Index, e.Term
		}
	}
	return nil
}

// write writes the record and syncs it; then publish runs with the lock held.
func (w *WAL) write(s *segment, publish func()) error {
	r := &w.record
	r.finish(w.number+1, w.sum)
	defer clear(r.parts) // they are the callers'
	if err := w.forget(s); err != nil {
		return err
	}
	w.torn = s
	if err := s.f.WriteParts(r.parts, s.end); err != nil {
		return err
	}
	if err := s.f.Datasync(); err != nil {
		return err
	}
	w.torn = nil
	w.number, w.sum = w.number+1, r.sum
	w.mark.Raise(w.number)
	w.mu.Lock()
	s.end += r.length
	s.last = w.number
	publish()
	w.mu.Unlock()
	if s.end > s.size/2 {
		w.wakeAhead()
	}
	return nil
}

// forget overwrites the head of a record that could not be written, unless the next one takes its place: otherwise a restart would
// find two records of one number.
func (w *WAL) forget(next *segment) error {
	if w.torn == nil || w.torn == next {
		return nil
	}
	if err := w.torn.f.WriteParts([][]byte{make([]byte, recordHead)}, w.torn.end); err != nil {
		return err
	}
	return w.torn.f.Datasync()
}

// roomFor returns the segment that has room for so many bytes: the one in use, or the next.
func (w *WAL) roomFor(n int64) (*segment, error) {
	s := w.segments[len(w.segments)-1] // only writers append to the list
	if s.end+n <= s.size {
		return s, nil
	}
	next, err := w.nextSegment(n)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.segments = append(w.segments, next...)
	w.mu.Unlock()
	return next[len(next)-1], nil
}

// copiedData is the largest data that is copied into the record's own memory; larger data is written from its own memory.
const copiedData = 16 << 10

// keptMemory bounds the memory that is kept for the next record.
const keptMemory = 4 << 20

// record is a record that is being made. Its memory is used again.
type record struct {
	memory []byte   // the heads and small data
	parts  [][]byte // all bytes in order, in memory or where their owner has them
	from   int      // of memory, what parts has not
	length int64    // of all parts and what they have not
	seed   uint32
	heads  uint32 // sum of the items' heads
	sum    uint32 // of the record
}

// sizes returns the bytes that a record of these batches takes, and how many of them it copies into its own memory.
func sizes(batches []Batch) (size int64, copied int) {
	size, copied = recordHead, recordHead
	for _, b := range batches {
		for _, l := range b.Entries {
			size, copied = size+itemHead, copied+itemHead
			for _, data := range [][]byte{l.Data, l.Extensions} {
				if size += int64(len(data)); len(data) <= copiedData {
					copied += len(data)
				}
			}
		}
	}
	return size, copied
}

// begin makes an empty record for a segment. Its memory must have room for everything that is copied, because parts point into it.
func (r *record) begin(copied int, salt uint64) {
	if cap(r.memory) < copied || cap(r.memory) > keptMemory {
		r.memory = make([]byte, 0, max(copied, 4096))
	}
	clear(r.parts)
	r.memory, r.parts = r.memory[:recordHead], r.parts[:0]
	r.from, r.length, r.seed = 0, recordHead, saltSum(salt)
	r.heads = r.seed
}

// add appends an item, and returns where in the record it begins and how long it is.
func (r *record) add(k kind, log uint32, l *raft.Log) (at int64, length uint32) {
	at, from, le := r.length, len(r.memory), binary.LittleEndian
	b := append(r.memory, byte(k))
	b = le.AppendUint32(b, log)
	b = le.AppendUint64(b, l.Index)
	b = le.AppendUint64(b, l.Term)
	b = append(b, byte(l.Type))
	b = le.AppendUint64(b, uint64(l.AppendedAt.Unix()))
	b = le.AppendUint32(b, uint32(l.AppendedAt.Nanosecond()))
	b = le.AppendUint32(b, uint32(len(l.Data)))
	b = le.AppendUint32(b, uint32(len(l.Extensions)))
	sum := crc32.Update(r.seed, castagnoli, b[from:])
	sum = crc32.Update(crc32.Update(sum, castagnoli, l.Data), castagnoli, l.Extensions)
	b = le.AppendUint32(b, sum)
	r.heads = crc32.Update(r.heads, castagnoli, b[from:])
	r.memory = b
	r.put(l.Data)
	r.put(l.Extensions)
	n := itemHead + len(l.Data) + len(l.Extensions)
	r.length += int64(n)
	return at, uint32(n)
}

func (r *record) put(data []byte) {
	if len(data) <= copiedData {
		r.memory = append(r.memory, data...)
		return
	}
	r.parts = append(r.parts, r.memory[r.from:], data)
	r.from = len(r.memory)
}

// finish completes the record with its number and the sum of the one before.
func (r *record) finish(number uint64, before uint32) {
	if r.from < len(r.memory) {
		r.parts = append(r.parts, r.memory[r.from:])
	}
	le, h := binary.LittleEndian, r.memory[:recordHead]
	le.PutUint32(h, recordMagic)
	le.PutUint32(h[4:], uint32(r.length-recordHead))
	le.PutUint64(h[8:], number)
	le.PutUint32(h[16:], before)
	le.PutUint32(h[20:], r.heads)
	r.sum = crc32.Update(r.seed, castagnoli, h[:24])
	le.PutUint32(h[24:], r.sum)
}
