package poison

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/trireme-dev/trireme/fsm"
)

const (
	markFile = "apply.mark"
	// markMagic is the first word of the file: "TRIAPPL1" where the lowest byte comes first.
	markMagic = 0x314c505041495254
	// pageSize is the size of the file; only its beginning is used. Where pages are larger, the rest of one reads as zero.
	pageSize = 4096
)

// Ends processes must have ended at an entry, one after the other, for it to be poison.
const Ends = 2

// record is the content of the file, in the byte order of the machine: a data directory does not move to another kind.
type record struct {
	magic   uint64
	now     fsm.Progress
	suspect fsm.Progress // where the last process has ended that ended in an apply
	ends    uint64       // how many have, one after the other
}

// Mark is the page. Its methods are called by the goroutine that applies.
type Mark struct {
	page []byte // nil where nothing is mapped
	at   *record
}

// Nowhere returns a mark that does not outlive the process.
func Nowhere() *Mark { return &Mark{at: &record{magic: markMagic}} }

// Open reads where the last process of this data directory has ended, counts that, and maps the page for this one. The
// caller holds the directory's lock.
func Open(dir string) (m *Mark, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", filepath.Join(dir, markFile), err)
		}
	}()
	f, err := os.OpenFile(filepath.Join(dir, markFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	page := make([]byte, pageSize)
	if _, err := io.ReadFull(f, page); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	r := in(page)
	if r.magic != markMagic {
		*r = record{magic: markMagic}
	}
	r.count()
	if _, err := f.WriteAt(page, 0); err != nil { // whole, so that no store needs room on the disk
		return nil, err
	}
	if err := f.Sync(); err != nil {
		return nil, err
	}
	if page, err = unix.Mmap(int(f.Fd()), 0, pageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		return nil, err
	}
	return &Mark{page, in(page)}, nil
}

// in returns the record at the beginning of a page.
func in(page []byte) *record { return (*record)(unsafe.Pointer(unsafe.SliceData(page))) }

// count notes that the last process has ended in an apply, if it has.
func (r *record) count() {
	if r.now.Index == 0 {
		return
	}
	if r.now.Index != r.suspect.Index {
		r.ends = 0
	}
	r.suspect, r.now = r.now, fsm.Progress{}
	r.ends++
}

// Progress returns the place where the state machine notes how far it has come.
func (m *Mark) Progress() *fsm.Progress { return &m.at.now }

// Poison returns at which entry the processes have ended, if that is poison.
func (m *Mark) Poison() (at fsm.Progress, is bool) { return m.at.suspect, m.at.ends >= Ends }

// Suspect reports whether a process has ended at that entry.
func (m *Mark) Suspect(index uint64) bool { return m.at.suspect.Index == index && index != 0 }

// Forget says that the entry has been applied, or that it may be tried again.
func (m *Mark) Forget() { m.at.suspect, m.at.ends = fsm.Progress{}, 0 }

// Close unmaps the page: nothing may note its progress any more.
func (m *Mark) Close() error {
	m.at = &record{magic: markMagic}
	page := m.page
	if m.page = nil; page == nil {
		return nil
	}
	return unix.Munmap(page)
}
