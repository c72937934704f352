package logstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
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

// readFormerJournal reads the entries that an unclean end left in the journal, in order and without gaps. After an orderly end
// there are none, and the file is not read.
func (s *Store) readFormerJournal(t *tree) ([]*raft.Log, error) {
	if string(t.conf[formerCleanKey]) == "1" {
		return nil, nil
	}
	path := s.opts.in(formerJournal)
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
	logs, err := scanJournal(b, moved)
	if err != nil {
		return nil, damaged(path, "%w", err)
	}
	return logs, nil
}

// journalHalf is one of the journal's halves.
type journalHalf struct {
	epoch, salt uint64
	records     []byte
}

// scanJournal reads the halves whose epoch is above moved, in the order of their epochs.
func scanJournal(b []byte, moved uint64) (logs []*raft.Log, err error) {
	n := len(b) / 2
	if n < headerRoom || len(b)%(2*journalBlock) != 0 {
		return nil, fmt.Errorf("a journal cannot have %d bytes", len(b))
	}
	first, ok := header(b[:n])
	second, ok2 := header(b[n:])
	if !ok || !ok2 {
		return nil, fmt.Errorf("both headers of a half: %w", ErrChecksum)
	}
	if second.epoch < first.epoch {
		first, second = second, first
	}
	for _, h := range []journalHalf{first, second} {
		if h.epoch <= moved {
			continue
		}
		if logs, err = h.scan(logs); err != nil {
			return nil, err
		}
	}
	return logs, nil
}

// scan appends the entries of a half's records to logs, up to the first block that begins no record. That block may be an
// append that was cut off, and so was never acknowledged. A sound record after it proves damage instead, since each record was
// synced before the next was begun.
func (h journalHalf) scan(logs []*raft.Log) ([]*raft.Log, error) {
	at := 0
	for want := uint32(0); at < len(h.records); want++ {
		seq, body, ok := h.record(at)
		if !ok {
			break
		}
		if seq != want {
			return nil, fmt.Errorf("found record %d, expected record %d", seq, want)
		}
		var err error
		if logs, err = decodeEntries(logs, body); err != nil {
			return nil, fmt.Errorf("record %d: %w", seq, err)
		}
		at += (recordHead + len(body) + journalBlock - 1) / journalBlock * journalBlock
	}
	for at += journalBlock; at < len(h.records); at += journalBlock {
		if seq, _, ok := h.record(at); ok {
			return nil, fmt.Errorf("a record before record %d: %w", seq, ErrChecksum)
		}
	}
	return logs, nil
}

// record finds the record at a place.
func (h journalHalf) record(at int) (seq uint32, body []byte, ok bool) {
	le, b := binary.LittleEndian, h.records[at:]
	if len(b) < recordHead || le.Uint32(b) != recordMagic || le.Uint64(b[8:]) != h.salt {
		return 0, nil, false
	}
	n := int64(le.Uint32(b[4:]))
	if n > int64(len(b))-recordHead {
		return 0, nil, false
	}
	body = b[recordHead : recordHead+n]
	return le.Uint32(b[16:]), body, le.Uint32(b[20:]) == crc32.Update(crc32.Checksum(b[:20], castagnoli), castagnoli, body)
}

// decodeEntries appends the entries of a record to logs.
func decodeEntries(logs []*raft.Log, b []byte) ([]*raft.Log, error) {
	le := binary.LittleEndian
	for len(b) > 0 {
		if len(b) < entryHead || int64(le.Uint32(b[29:]))+int64(le.Uint32(b[33:])) > int64(len(b)-entryHead) {
			return nil, errors.New("an entry is longer than its record")
		}
		l := &raft.Log{
			Index: le.Uint64(b), Term: le.Uint64(b[8:]), Type: raft.LogType(b[16]),
			AppendedAt: time.Unix(int64(le.Uint64(b[17:])), int64(le.Uint32(b[25:]))).UTC(),
		}
		data, ext := le.Uint32(b[29:]), le.Uint32(b[33:])
		b = b[entryHead:]
		l.Data, b = b[:data:data], b[data:]
		l.Extensions, b = b[:ext:ext], b[ext:]
		if n := len(logs); n > 0 && l.Index != logs[n-1].Index+1 {
			return nil, fmt.Errorf("entry %d follows entry %d", l.Index, logs[n-1].Index)
		}
		logs = append(logs, l)
	}
	return logs, nil
}

// header reads the newer of a half's two headers.
func header(b []byte) (h journalHalf, ok bool) {
	le := binary.LittleEndian
	for _, c := range [][]byte{b, b[journalBlock:]} {
		if string(c[:8]) != headerMagic || le.Uint32(c[24:]) != crc32.Checksum(c[:24], castagnoli) {
			continue
		}
		if epoch := le.Uint64(c[8:]); !ok || epoch > h.epoch {
			h, ok = journalHalf{epoch: epoch, salt: le.Uint64(c[16:]), records: b[headerRoom:]}, true
		}
	}
	return h, ok
}
