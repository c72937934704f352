package logstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// The database's two meta records stand at the start of pages 0 and 1 and are
// written in turn. The database itself takes the older one when the newer one
// is damaged, which silently undoes the last commit, and faults on a file that
// was cut short. So both are checked before it sees the file.
const (
	metaMagic   = 0xED0CDAED
	metaVersion = 2
	metaFlag    = 0x04
	pageHeader  = 16
	metaLen     = pageHeader + 64
	maxPageSize = 16 << 20
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
	m := meta{
		pageSize: int64(le.Uint32(b[24:])), root: le.Uint64(b[32:]),
		pages: le.Uint64(b[56:]), txid: le.Uint64(b[64:]),
	}
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

// rewriteMeta writes both meta pages again as they are read, and syncs. After a
// failed sync the page cache may show a record that the disk does not have, and
// the next commit may reuse pages that the disk's own record still needs.
func rewriteMeta(f *os.File, m meta) error {
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
