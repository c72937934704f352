package logstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// tree holds what is found by reading the database's pages directly, without opening the database.
type tree struct {
	meta  meta
	live  uint64 // pages in use, both meta pages included
	conf  map[string][]byte
	first uint64 // of the log; 0 when it is empty
	last  uint64
}

const (
	branchFlag  = 0x01
	leafFlag    = 0x02
	bucketFlag  = 0x01
	elementLen  = 16
	bucketStart = 16 // root page and sequence, before an inline page
)

var (
	logsBucket = []byte("logs")
	confBucket = []byte("conf")
)

// readTreeOf does what readTree does, for a file.
func readTreeOf(path string) (*tree, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("log store: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("log store: %w", err)
	}
	return readTree(f, st.Size(), path)
}

// readTree walks every page that the newer meta record reaches and checks its
// shape. The database itself, when it opens a file, follows a bad page number
// in a goroutine of its own, where a panic can't be recovered. It also takes a smaller
// element count for the truth, which hides entries at the end of a page; here
// the place of the first element's data gives that away.
func readTree(f io.ReaderAt, size int64, path string) (*tree, error) {
	m, err := readMeta(f, size, path)
	if err != nil {
		return nil, err
	}
	w := &walker{f: f, m: m, seen: make([]uint64, m.pages/64+1), out: &tree{meta: m, live: 2, conf: map[string][]byte{}}}
	buckets, err := w.buckets()
	if err == nil {
		err = w.readConf(buckets[string(confBucket)])
	}
	if err == nil {
		err = w.readLogs(buckets[string(logsBucket)])
	}
	if err != nil {
		return nil, damaged(path, "%w", err)
	}
	return w.out, nil
}

type walker struct {
	f    io.ReaderAt
	m    meta
	seen []uint64 // a bit a page
	out  *tree
}

// element is one row of a page. Its slices are valid until the next page is read
// on the same level.
type element struct {
	flags uint32
	key   []byte
	value []byte
	page  uint64 // of a branch element
}

// buckets returns the stored headers of the two buckets.
func (w *walker) buckets() (map[string][]byte, error) {
	found := map[string][]byte{}
	err := w.walk(w.m.root, nil, func(e element) error {
		if e.flags != bucketFlag || len(e.value) < bucketStart {
			return fmt.Errorf("bucket %q: not a bucket", e.key)
		}
		found[string(e.key)] = bytes.Clone(e.value)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(found) != 2 || found[string(confBucket)] == nil || found[string(logsBucket)] == nil {
		return nil, errors.New("a bucket is missing")
	}
	return found, nil
}

// readConf collects the stable values, all of which carry a sum, up to the end
// key.
func (w *walker) readConf(header []byte) error {
	last := ""
	err := w.bucket(header, func(e element) error {
		last = string(e.key)
		v, ok := openValue(e.key, e.value)
		if !ok || e.flags != 0 {
			return fmt.Errorf("stable value %q: %w", e.key, ErrChecksum)
		}
		w.out.conf[last] = bytes.Clone(v)
		return nil
	})
	if err == nil && last != endKey {
		err = errors.New("stable values are missing")
	}
	return err
}

// readLogs checks that the log's keys have no gap. Their values are read later,
// through the database.
func (w *walker) readLogs(header []byte) error {
	return w.bucket(header, func(e element) error {
		if e.flags != 0 || len(e.key) != 8 {
			return fmt.Errorf("log key %x: not an index", e.key)
		}
		index := binary.BigEndian.Uint64(e.key)
		switch {
		case index == 0:
			return errors.New("log entry 0 cannot be")
		case w.out.first == 0:
			w.out.first = index
		case index != w.out.last+1:
			return fmt.Errorf("log entries %d..%d are missing", w.out.last+1, index-1)
		}
		w.out.last = index
		return nil
	})
}

func (w *walker) bucket(header []byte, visit func(element) error) error {
	if binary.LittleEndian.Uint64(header[8:]) != 0 {
		return errors.New("bucket header does not fit")
	}
	if root := binary.LittleEndian.Uint64(header); root != 0 {
		if len(header) != bucketStart {
			return errors.New("bucket header does not fit")
		}
		return w.walk(root, nil, visit)
	}
	return w.inline(header[bucketStart:], visit)
}

// inline reads a small bucket, kept as a page inside its header.
func (w *walker) inline(p []byte, visit func(element) error) error {
	if len(p) < pageHeader || binary.LittleEndian.Uint64(p) != 0 || binary.LittleEndian.Uint16(p[8:]) != leafFlag {
		return errors.New("inline bucket: page header does not fit")
	}
	rows, used, err := elements(p)
	if err != nil {
		return fmt.Errorf("inline bucket: %w", err)
	}
	if used != len(p) {
		return errors.New("inline bucket: length does not fit")
	}
	return each(rows, visit)
}

// walk visits the leaf rows under a page in order. atLeast is the key under
// which the parent keeps the page.
func (w *walker) walk(id uint64, atLeast []byte, visit func(element) error) error {
	p, err := w.read(id)
	if err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	rows, used, err := elements(p)
	if err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	if pages := (int64(used) + w.m.pageSize - 1) / w.m.pageSize; pages != int64(len(p))/w.m.pageSize {
		return fmt.Errorf("page %d: %d bytes used do not fit %d pages", id, used, int64(len(p))/w.m.pageSize)
	}
	switch {
	case len(rows) == 0: // an empty bucket is an inline one
		return fmt.Errorf("page %d: empty", id)
	case bytes.Compare(rows[0].key, atLeast) < 0:
		return fmt.Errorf("page %d: first key is below its parent's", id)
	case binary.LittleEndian.Uint16(p[8:]) == leafFlag:
		return each(rows, visit)
	}
	for _, e := range rows {
		if err := w.walk(e.page, e.key, visit); err != nil {
			return err
		}
	}
	return nil
}

func each(rows []element, visit func(element) error) error {
	for _, e := range rows {
		if err := visit(e); err != nil {
			return err
		}
	}
	return nil
}

// read returns a page with its overflow.
func (w *walker) read(id uint64) ([]byte, error) {
	if id < 2 || id >= w.m.pages {
		return nil, errors.New("no such page")
	}
	p := make([]byte, w.m.pageSize)
	if _, err := w.f.ReadAt(p, int64(id)*w.m.pageSize); err != nil {
		return nil, err
	}
	flags, over := binary.LittleEndian.Uint16(p[8:]), uint64(binary.LittleEndian.Uint32(p[12:]))
	switch {
	case binary.LittleEndian.Uint64(p) != id || flags != branchFlag && flags != leafFlag:
		return nil, errors.New("page header does not fit")
	case id+over >= w.m.pages:
		return nil, errors.New("page reaches over the end")
	}
	for i := id; i <= id+over; i++ {
		if w.seen[i/64]>>(i%64)&1 != 0 {
			return nil, errors.New("page is used twice")
		}
		w.seen[i/64] |= 1 << (i % 64)
	}
	w.out.live += 1 + over
	if over == 0 {
		return p, nil
	}
	p = make([]byte, (1+int64(over))*w.m.pageSize)
	_, err := w.f.ReadAt(p, int64(id)*w.m.pageSize)
	return p, err
}

// elements parses the rows of a page. The database writes the rows' data after the row table, without holes and in
// order; used is the position of its end.
func elements(p []byte) (rows []element, used int, err error) {
	count, leaf := int(binary.LittleEndian.Uint16(p[10:])), binary.LittleEndian.Uint16(p[8:]) == leafFlag
	used = pageHeader + count*elementLen
	if used > len(p) {
		return nil, 0, errors.New("row table is too long")
	}
	rows = make([]element, count)
	for i := range rows {
		at := pageHeader + i*elementLen
		e := &rows[i]
		start, klen, vlen := rowShape(p[at:at+elementLen], leaf, e)
		if start+at != used || klen == 0 || klen > len(p)-used || vlen > len(p)-used-klen {
			return nil, 0, fmt.Errorf("row %d does not fit", i)
		}
		e.key = p[used : used+klen]
		e.value = p[used+klen : used+klen+vlen]
		used += klen + vlen
		if i > 0 && bytes.Compare(e.key, rows[i-1].key) <= 0 {
			return nil, 0, fmt.Errorf("row %d is out of order", i)
		}
	}
	return rows, used, nil
}

// rowShape reads one entry of the row table: where its data starts, counted
// from the entry itself, and the lengths of key and value.
func rowShape(b []byte, leaf bool, e *element) (start, klen, vlen int) {
	le := binary.LittleEndian
	if leaf {
		e.flags = le.Uint32(b)
		return int(le.Uint32(b[4:])), int(le.Uint32(b[8:])), int(le.Uint32(b[12:]))
	}
	e.page = le.Uint64(b[8:])
	return int(le.Uint32(b)), int(le.Uint32(b[4:])), 0
}
