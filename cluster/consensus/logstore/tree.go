package logstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// The database's two meta records stand at the start of pages 0 and 1 and are written in turn. The database itself takes the
// older one when the newer one is damaged, which silently undoes the last commit, and faults on a file that was cut short. So
// both are checked before it sees the file.
const (
	metaMagic   = 0xED0CDAED
	metaVersion = 2
	metaFlag    = 0x04
	pageHeader  = 16
	metaLen     = pageHeader + 64
	maxPageSize = 16 << 20
)

// The kinds of pages and rows, and the lengths in bytes of what they hold.
const (
	branchFlag  = 0x01
	leafFlag    = 0x02
	bucketFlag  = 0x01
	elementLen  = 16
	bucketStart = 16 // root page and sequence, before an inline page
)

// meta is the newer of the two records.
type meta struct {
	pageSize int64
	root     uint64 // page of the root bucket
	pages    uint64 // all pages of the file have a lower number
	txid     uint64
}

// readMeta returns the newer record if both are sound.
func readMeta(f io.ReaderAt, size int64, path string) (meta, error) {
	first, err := readMetaAt(f, 0, 0)
	if err != nil {
		return meta{}, damaged(path, "meta record 0: %w", err)
	}
	second, err := readMetaAt(f, first.pageSize, 1)
	if err != nil {
		return meta{}, damaged(path, "meta record 1: %w", err)
	}
	newer, older := first, second
	if second.txid > first.txid {
		newer, older = second, first
	}
	switch {
	case second.pageSize != first.pageSize:
		return meta{}, damaged(path, "meta records: page sizes %d and %d", first.pageSize, second.pageSize)
	case newer.txid != older.txid+1:
		return meta{}, damaged(path, "meta records: transactions %d and %d are not neighbours", older.txid, newer.txid)
	case max(newer.pages, older.pages) > uint64(size/newer.pageSize):
		return meta{}, damaged(path, "the file is %d bytes long but has %d pages of %d", size, max(newer.pages, older.pages), newer.pageSize)
	}
	return newer, nil
}

func readMetaAt(f io.ReaderAt, at int64, id uint64) (meta, error) {
	var b [metaLen]byte
	if _, err := f.ReadAt(b[:], at); err != nil {
		return meta{}, err
	}
	h := fnv.New64a()
	h.Write(b[16:72])
	le := binary.LittleEndian
	m := meta{pageSize: int64(le.Uint32(b[24:])), root: le.Uint64(b[32:]), pages: le.Uint64(b[56:]), txid: le.Uint64(b[64:])}
	switch {
	case le.Uint32(b[16:]) != metaMagic:
		return meta{}, errors.New("not a database file")
	case le.Uint32(b[20:]) != metaVersion:
		return meta{}, fmt.Errorf("format %d is not known", le.Uint32(b[20:]))
	case le.Uint64(b[72:]) != h.Sum64():
		return meta{}, ErrChecksum
	case le.Uint64(b[0:]) != id || le.Uint16(b[8:]) != metaFlag || m.txid%2 != id:
		return meta{}, errors.New("page header does not fit")
	case m.pageSize < 512 || m.pageSize > maxPageSize:
		return meta{}, fmt.Errorf("page size %d", m.pageSize)
	}
	return m, nil
}

// rewriteMeta writes both meta pages again as they are read, and syncs. After a failed sync the page cache may show a record
// that the disk does not have, and the next commit may reuse pages that the disk's own record still needs.
func rewriteMeta(path string, m meta) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("log store: %w", err)
	}
	defer f.Close()
	b := make([]byte, 2*m.pageSize)
	if _, err := f.ReadAt(b, 0); err != nil {
		return fmt.Errorf("log store: read meta records: %w", err)
	}
	if _, err := f.WriteAt(b, 0); err != nil {
		return fmt.Errorf("log store: rewrite meta records: %w", err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("log store: sync meta records: %w", err)
	}
	return nil
}

// tree holds what is found by reading the database's pages directly, without opening the database.
type tree struct {
	f     io.ReaderAt
	seen  []uint64 // a bit a page
	meta  meta
	conf  map[string][]byte
	first uint64 // of the log; 0 when it is empty
	last  uint64
}

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

// readTree walks every page that the newer meta record reaches and checks its shape. The database itself, when it opens a file,
// follows a bad page number in a goroutine of its own, where a panic can't be recovered. It also takes a smaller element count
// for the truth, which hides entries at the end of a page; here the place of the first element's data gives that away.
func readTree(f io.ReaderAt, size int64, path string) (*tree, error) {
	m, err := readMeta(f, size, path)
	if err != nil {
		return nil, err
	}
	t := &tree{f: f, meta: m, seen: make([]uint64, m.pages/64+1), conf: map[string][]byte{}}
	headers := map[string][]byte{} // of the buckets
	err = t.walk(m.root, nil, func(e element) error {
		if e.flags != bucketFlag || len(e.value) < bucketStart {
			return fmt.Errorf("bucket %q: not a bucket", e.key)
		}
		headers[string(e.key)] = e.value
		return nil
	})
	switch conf, logs := headers["conf"], headers["logs"]; {
	case err != nil:
	case len(headers) != 2 || conf == nil || logs == nil:
		err = errors.New("a bucket is missing")
	default:
		if err = t.readConf(conf); err == nil {
			err = t.bucket(logs, t.logKey)
		}
	}
	if err != nil {
		return nil, damaged(path, "%w", err)
	}
	return t, nil
}

// element is one row of a page. Its slices are the page's.
type element struct {
	flags uint32
	key   []byte
	value []byte
	page  uint64 // of a branch element
}

// readConf collects the stable values, all of which carry a sum, up to the end key.
func (t *tree) readConf(header []byte) error {
	last := ""
	err := t.bucket(header, func(e element) error {
		last = string(e.key)
		v, ok := openValue(e.key, e.value)
		if !ok || e.flags != 0 {
			return fmt.Errorf("stable value %q: %w", e.key, ErrChecksum)
		}
		t.conf[last] = bytes.Clone(v)
		return nil
	})
	if err == nil && last != endKey {
		err = errors.New("stable values are missing")
	}
	return err
}

// logKey checks that the log's keys have no gap. Their values are read later, through the database.
func (t *tree) logKey(e element) error {
	if e.flags != 0 || len(e.key) != 8 {
		return fmt.Errorf("log key %x: not an index", e.key)
	}
	index := binary.BigEndian.Uint64(e.key)
	switch {
	case index == 0:
		return errors.New("log entry 0 cannot be")
	case t.first == 0:
		t.first = index
	case index != t.last+1:
		return fmt.Errorf("log entries %d..%d are missing", t.last+1, index-1)
	}
	t.last = index
	return nil
}

// bucket visits the rows of a bucket. A small one is kept as a page inside its header.
func (t *tree) bucket(header []byte, visit func(element) error) error {
	le, p := binary.LittleEndian, header[bucketStart:]
	root := le.Uint64(header)
	switch {
	case le.Uint64(header[8:]) != 0 || root != 0 && len(p) != 0:
		return errors.New("bucket header does not fit")
	case root != 0:
		return t.walk(root, nil, visit)
	case len(p) < pageHeader || le.Uint64(p) != 0 || le.Uint16(p[8:]) != leafFlag:
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

// walk visits the leaf rows under a page in order. atLeast is the key under which the parent keeps the page.
func (t *tree) walk(id uint64, atLeast []byte, visit func(element) error) error {
	p, err := t.read(id)
	if err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	rows, used, err := elements(p)
	if err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	if pages := (int64(used) + t.meta.pageSize - 1) / t.meta.pageSize; pages != int64(len(p))/t.meta.pageSize {
		return fmt.Errorf("page %d: %d bytes used do not fit %d pages", id, used, int64(len(p))/t.meta.pageSize)
	}
	switch {
	case len(rows) == 0: // an empty bucket is an inline one
		return fmt.Errorf("page %d: empty", id)
	case bytes.Compare(rows[0].key, atLeast) < 0:
		return fmt.Errorf("page %d: first key is below its parent's", id)
	case binary.LittleEndian.Uint16(p[8:]) == leafFlag:
		return each(rows, visit)
	}
	return each(rows, func(e element) error { return t.walk(e.page, e.key, visit) })
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
func (t *tree) read(id uint64) ([]byte, error) {
	if id < 2 || id >= t.meta.pages {
		return nil, errors.New("no such page")
	}
	p := make([]byte, t.meta.pageSize)
	if _, err := t.f.ReadAt(p, int64(id)*t.meta.pageSize); err != nil {
		return nil, err
	}
	flags, over := binary.LittleEndian.Uint16(p[8:]), uint64(binary.LittleEndian.Uint32(p[12:]))
	switch {
	case binary.LittleEndian.Uint64(p) != id || flags != branchFlag && flags != leafFlag:
		return nil, errors.New("page header does not fit")
	case id+over >= t.meta.pages:
		return nil, errors.New("page reaches over the end")
	}
	for i := id; i <= id+over; i++ {
		if t.seen[i/64]>>(i%64)&1 != 0 {
			return nil, errors.New("page is used twice")
		}
		t.seen[i/64] |= 1 << (i % 64)
	}
	if over == 0 {
		return p, nil
	}
	p = make([]byte, (1+int64(over))*t.meta.pageSize)
	_, err := t.f.ReadAt(p, int64(id)*t.meta.pageSize)
	return p, err
}

// elements parses the rows of a page. The database writes the rows' data after the row table, without holes and in order; used
// is the position of its end. A row says where its data starts, counted from the row itself.
func elements(p []byte) (rows []element, used int, err error) {
	le := binary.LittleEndian
	count, leaf := int(le.Uint16(p[10:])), le.Uint16(p[8:]) == leafFlag
	used = pageHeader + count*elementLen
	if used > len(p) {
		return nil, 0, errors.New("row table is too long")
	}
	rows = make([]element, count)
	for i := range rows {
		at, e := pageHeader+i*elementLen, &rows[i]
		b := p[at:]
		start, klen, vlen := int(le.Uint32(b)), int(le.Uint32(b[4:])), 0
		if leaf {
			e.flags = le.Uint32(b)
			start, klen, vlen = klen, int(le.Uint32(b[8:])), int(le.Uint32(b[12:]))
		} else {
			e.page = le.Uint64(b[8:])
		}
		if start+at != used || klen == 0 || klen > len(p)-used || vlen > len(p)-used-klen {
			return nil, 0, fmt.Errorf("row %d does not fit", i)
		}
		e.key, e.value = p[used:used+klen], p[used+klen:used+klen+vlen]
		used += klen + vlen
		if i > 0 && bytes.Compare(e.key, rows[i-1].key) <= 0 {
			return nil, 0, fmt.Errorf("row %d is out of order", i)
		}
	}
	return rows, used, nil
}
