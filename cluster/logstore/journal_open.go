package logstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/hashicorp/raft"
)

const newJournal = journalFile + ".new"

// leftover is what an unclean end left in the journal.
type leftover struct {
	logs  []*raft.Log // in order, without gaps
	epoch uint64      // the highest in the file
}

func (o *leftover) last() uint64 {
	if o == nil || len(o.logs) == 0 {
		return 0
	}
	return o.logs[len(o.logs)-1].Index
}

// readJournal reads what is not yet in the database. After an orderly end that is
// nothing, and the file is not looked at.
func (s *Store) readJournal(t *tree) (*leftover, error) {
	if string(t.conf[cleanKey]) == "1" {
		return nil, nil
	}
	path := filepath.Join(s.opts.Dir, journalFile)
	var moved uint64
	if v := t.conf[journalKey]; v != nil {
		if len(v) != 8 {
			return nil, damaged(s.path, "stable value %q has %d bytes", journalKey, len(v))
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

// scan reads the records of a half up to the first block that begins none. What lies
// there may be an append that was cut off, and so was never acknowledged; a sound
// record behind it shows that it was, since each was synced before the next was begun.
func (o *leftover) scan(b []byte, salt uint64) error {
	at := int64(0)
	for want := uint32(0); at < int64(len(b)); want++ {
		seq, body, ok := record(b[at:], salt)
		if !ok {
			break
		}
		if seq != want {
			return fmt.Errorf("found record %d, expected record %d", seq, want)
		}
		if err := o.take(body); err != nil {
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
func (o *leftover) take(body []byte) error {
	for len(body) > 0 {
		l := &raft.Log{}
		rest, ok := decodeEntry(body, l)
		if !ok {
			return errors.New("an entry is longer than its record")
		}
		if last := o.last(); last != 0 && l.Index != last+1 {
			return fmt.Errorf("entry %d follows entry %d", l.Index, last)
		}
		o.logs, body = append(o.logs, l), rest
	}
	return nil
}

// replay stores in the database what an unclean end left in the journal, and looks at
// the database again. Entries that are there already came from an interrupted move.
func (s *Store) replay(o *leftover, t *tree) (*tree, error) {
	if o == nil {
		return t, nil
	}
	logs := o.logs
	for len(logs) > 0 && logs[0].Index <= t.last {
		logs = logs[1:]
	}
	if len(logs) > 0 {
		if t.last != 0 && logs[0].Index != t.last+1 {
			return nil, damaged(s.path, "the log ends at entry %d, but the journal goes on at %d", t.last, logs[0].Index)
		}
		s.opts.Logger.Info("moving the journal into the database", "from", logs[0].Index, "to", o.last())
	}
	for len(logs) > 0 {
		n, size := 0, 0
		for ; n < len(logs) && size < moveChunk && n < moveEntries; n++ {
			size += len(logs[n].Data) + len(logs[n].Extensions)
		}
		if err := s.retryWithReserve(func() error { return s.inner.StoreLogs(logs[:n]) }); err != nil {
			return nil, fmt.Errorf("log store: move the journal into the database: %w", err)
		}
		logs = logs[n:]
	}
	err := s.retryWithReserve(func() error { return s.inner.Set([]byte(journalKey), sealEpoch(o.epoch)) })
	if err != nil {
		return nil, fmt.Errorf("log store: note that the journal was moved: %w", err)
	}
	return readTreeOf(s.path)
}

// layJournal puts an empty journal before the database. Without room on the disk the
// store works without one.
func (s *Store) layJournal() error {
	if s.opts.Journal < 0 {
		return nil
	}
	path := filepath.Join(s.opts.Dir, journalFile)
	half := max(blocks(s.opts.Journal), 2*headerRoom)
	if fileSize(path) != 2*half {
		err := makeJournal(filepath.Join(s.opts.Dir, newJournal), path, 2*half)
		if err != nil {
			return s.without(err)
		}
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("log store: %w", err)
	}
	j := &journal{under: s.inner, f: f, path: path, size: half, failed: s.moveFailed, writes: &s.writes}
	if err := s.retryWithReserve(func() error { return s.prepareJournal(j) }); err != nil {
		f.Close()
		return s.without(fmt.Errorf("log store: prepare the journal: %w", err))
	}
	j.start()
	s.journal, s.inner = j, j
	return nil
}

// without says whether the store can work without a journal: where its disk is full.
func (s *Store) without(err error) error {
	if !isNoSpace(err) {
		return err
	}
	s.opts.Logger.Warn("no room for a journal: appends go to the database itself", "dir", s.opts.Dir, "error", err)
	return nil
}

// prepareJournal gives both halves epochs above all that were moved, and notes in the
// database that there is a journal.
func (s *Store) prepareJournal(j *journal) error {
	var moved uint64
	if v, err := s.inner.Get([]byte(journalKey)); severityOf(err) != harmless {
		return err
	} else if v, ok := openValue([]byte(journalKey), v); ok && len(v) == 8 {
		moved = binary.BigEndian.Uint64(v)
	}
	for i := range j.halves {
		j.halves[i] = half{base: int64(i) * j.size, epoch: moved + 2 + uint64(i), salt: newSalt()}
		if err := writeHeader(j.f, &j.halves[i]); err != nil {
			return err
		}
	}
	if err := datasync(j.f); err != nil {
		return err
	}
	return s.inner.Set([]byte(journalKey), sealEpoch(moved+1))
}

// makeJournal makes the file with all its blocks, so that an append never needs room
// and its sync never has to write the file's own description.
func makeJournal(temp, path string, size int64) (err error) {
	defer func() {
		if err != nil {
			os.Remove(temp)
		}
	}()
	f, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("log store: make the journal: %w", err)
	}
	zero := make([]byte, 1<<20)
	for at := int64(0); at < size && err == nil; at += int64(len(zero)) {
		_, err = f.WriteAt(zero[:min(size-at, int64(len(zero)))], at)
	}
	for base := int64(0); base < size && err == nil; base += size / 2 {
		err = writeHeader(f, &half{base: base, salt: newSalt()}) // epoch 0: nothing is in it
	}
	if err = first(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("log store: make the journal: %w", err)
	}
	return replaceFile(temp, path)
}

// moveFailed judges the error of a move in the background. A full disk is met again by
// the append that needs the room.
func (s *Store) moveFailed(err error) { s.judge("move the journal into the database", err) }
