package logstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hashicorp/raft"
)

// The layout of the former journal, all numbers little-endian. Headers and records begin at multiples of journalBlock.
//
//	half:   header, the same header again in the next block, records
//	header: magic, epoch (8), salt (8), sum (4)
//	record: magic (4), body length (4), salt (8), number within the half (4), sum (4), body
//	body:   entries: index (8), term (8), type (1), seconds (8), nanoseconds (4),
//	        data length (4), extensions length (4), data, extensions
const (
	formerJournal = "raft.journal"
	journalBlock  = 4096
	headerMagic   = "TRIJRNL1"
	headerRoom    = 2 * journalBlock
	recordMagic   = 0x4c4a5254
	recordHead    = 24
	entryHead     = 37
)

// leftover holds the entries that an unclean end left in the journal.
type leftover struct {
	logs  []*raft.Log // in order, without gaps
	epoch uint64      // the highest in the file
}

func (le *leftover) last() uint64 {
	if le == nil || len(le.logs) == 0 {
		return 0
	}
	return le.logs[len(le.logs)-1].Index
}

// readFormerJournal reads what is not yet in the database. After an orderly end there is nothing, and the file is not
// read.
func (s *Store) readFormerJournal(t *tree) (*leftover, error) {
	if string(t.conf[formerCleanKey]) == "1" {
		return nil, nil
	}
	path := filepath.Join(s.opts.Dir, formerJournal)
	var moved uint64
	if v := t.conf[formerJournalKey]; v != nil {
		if len(v) != 8 {
			return nil, damaged(s.path, "stable value %q has %d bytes", formerJournalKey, len(v))
		}
		moved = binary.BigEndian.Uint64(v)
	}
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist) && moved == 0:
		return nil, nil
	case errors.Is(err, os.ErrNotExist):
		return nil, damaged(path, "the file is missing")
	case err != nil:
		return nil, fmt.Errorf("log store: %w", err)
	}
	out, err := scanJournal(b, moved)
	if err != nil {
		return nil, damaged(path, "%w", err)
	}
	return out, nil
}

// scanJournal reads the halves whose epoch is above moved, in the order of their epochs.
func scanJournal(b []byte, moved uint64) (*leftover, error) {
	half := len(b) / 2
	if half < headerRoom || len(b)%(2*journalBlock) != 0 {
		return nil, fmt.Errorf("a journal cannot have %d bytes", len(b))
	}
	type found struct {
		epoch, salt uint64
		b           []byte
	}
	var parts []found
	for _, b := range [][]byte{b[:half], b[half:]} {
		epoch, salt, ok := header(b)
		if !ok {
			return nil, fmt.Errorf("both headers of a half: %w", ErrChecksum)
		}
		parts = append(parts, found{epoch, salt, b[headerRoom:]})
	}
	slices.SortFunc(parts, func(a, b found) int {
		if a.epoch < b.epoch {
			return -1
		}
		return 1
	})
	out := &leftover{epoch: parts[1].epoch}
	for _, p := range parts {
		if p.epoch <= moved {
			continue
		}
		if err := out.scan(p.b, p.salt); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// scan reads the records of a half up to the first block that begins none. That block may be an append that was cut
// off, and so was never acknowledged. A sound record after it proves damage instead, since each record was synced
// before the next was begun.
func (le *leftover) scan(b []byte, salt uint64) error {
	at := int64(0)
	for want := uint32(0); at < int64(len(b)); want++ {
		seq, body, ok := record(b[at:], salt)
		if !ok {
			break
		}
		if seq != want {
			return fmt.Errorf("found record %d, expected record %d", seq, want)
		}
		if err := le.take(body); err != nil {
			return fmt.Errorf("record %d: %w", seq, err)
		}
		at += blocks(recordHead + int64(len(body)))
	}
	for at += journalBlock; at < int64(len(b)); at += journalBlock {
		if seq, _, ok := record(b[at:], salt); ok {
			return fmt.Errorf("a record before record %d: %w", seq, ErrChecksum)
		}
	}
	return nil
}

// take adds the entries of a record.
func (le *leftover) take(body []byte) error {
	for len(body) > 0 {
		l := &raft.Log{}
		rest, ok := decodeEntry(body, l)
		if !ok {
			return errors.New("an entry is longer than its record")
		}
		if last := le.last(); last != 0 && l.Index != last+1 {
			return fmt.Errorf("entry %d follows entry %d", l.Index, last)
		}
		le.logs, body = append(le.logs, l), rest
	}
	return nil
}

func blocks(n int64) int64 { return (n + journalBlock - 1) / journalBlock * journalBlock }

// recordSum returns the checksum of head and body without the place of the sum itself.
func recordSum(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:20], castagnoli), castagnoli, b[recordHead:])
}

// record finds the record of a salt at the beginning of b.
func record(b []byte, salt uint64) (seq uint32, body []byte, ok bool) {
	le := binary.LittleEndian
	if len(b) < recordHead || le.Uint32(b) != recordMagic || le.Uint64(b[8:]) != salt {
		return 0, nil, false
	}
	n := int64(le.Uint32(b[4:]))
	if n > int64(len(b))-recordHead {
		return 0, nil, false
	}
	b = b[:recordHead+n]
	return le.Uint32(b[16:]), b[recordHead:], le.Uint32(b[20:]) == recordSum(b)
}

// decodeEntry reads one entry and returns the bytes after it.
func decodeEntry(b []byte, l *raft.Log) (rest []byte, ok bool) {
	if len(b) < entryHead {
		return nil, false
	}
	le := binary.LittleEndian
	data, ext := int64(le.Uint32(b[29:])), int64(le.Uint32(b[33:]))
	if data+ext > int64(len(b)-entryHead) {
		return nil, false
	}
	*l = raft.Log{
		Index: le.Uint64(b), Term: le.Uint64(b[8:]), Type: raft.LogType(b[16]),
		AppendedAt: time.Unix(int64(le.Uint64(b[17:])), int64(le.Uint32(b[25:]))).UTC(),
	}
	b = b[entryHead:]
	if data > 0 {
		l.Data = b[:data:data]
	}
	if ext > 0 {
		l.Extensions = b[data : data+ext : data+ext]
	}
	return b[data+ext:], true
}

// header reads the newer of a half's two headers.
func header(b []byte) (epoch, salt uint64, ok bool) {
	for _, at := range []int{0, journalBlock} {
		c := b[at:]
		if string(c[:8]) != headerMagic || binary.LittleEndian.Uint32(c[24:]) != crc32.Checksum(c[:24], castagnoli) {
			continue
		}
		if e := binary.LittleEndian.Uint64(c[8:]); !ok || e > epoch {
			epoch, salt, ok = e, binary.LittleEndian.Uint64(c[16:]), true
		}
	}
	return epoch, salt, ok
}
