package logstore

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/trireme-dev/trireme/cluster/consensus/logstore/wal"
)

// Space says how much free disk the node wants. A bolt file never shrinks while
// it is open, so room that is gone does not come back by itself.
type Space struct {
	// Floor is the free space that writes require.
	Floor Floor
	// Reserve is the size of the reserve file in bytes, 0 = defaultReserve. Negative: none.
	Reserve int64
	// Statfs returns the bytes that this process may still use in dir, and all of them. Nil asks the operating system.
	Statfs func(dir string) (free, total uint64, err error)
}

const defaultReserve = 64 << 20

func (s Space) withDefaults() Space {
	s.Reserve = cmp.Or(s.Reserve, defaultReserve)
	if s.Statfs == nil {
		s.Statfs = statfs
	}
	return s
}

func statfs(dir string) (free, total uint64, err error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return st.Bavail * uint64(st.Bsize), st.Blocks * uint64(st.Bsize), nil
}

// space watches the free space of the data directory and keeps the reserve.
type space struct {
	opts   Space
	dir    string
	log    *slog.Logger
	onFree func(free, total uint64)

	free, total atomic.Uint64
	low         atomic.Bool // below the floor: writes are refused

	mu      sync.Mutex
	reserve *reserve
	spent   bool // the reserve was given up and is not back yet
}

// newSpace counts a reserve that is not there as spent, until it is made: a start must not take the room that the reserve left for
// room above the floor.
func newSpace(o Options) *space {
	s := &space{
		opts: o.Space, dir: o.Dir, log: o.Logger, onFree: o.Hooks.Free,
		reserve: &reserve{path: o.in(reserveFile), size: o.Space.Reserve},
	}
	s.spent = o.Space.Reserve >= 0 && !s.reserve.held()
	return s
}

// Accepting returns nil while there is room for new writes, and an error that matches ErrLowSpace otherwise: the caller then
// refuses writes before they are proposed, gives up leadership and does not campaign. What other nodes replicate to this one is
// still stored.
func (s *Store) Accepting() error {
	if !s.space.low.Load() {
		return nil
	}
	return fmt.Errorf("%w: %s has %d of %d bytes free; at least %d must be free before writes are accepted again",
		ErrLowSpace, s.opts.Dir, s.space.free.Load(), s.space.total.Load(), s.space.needed())
}

// needed returns the number of bytes that must be free before writes are accepted again: a tenth more than the floor, so that
// a disk near it does not have them refused and accepted in turn, and room for the reserve.
func (s *space) needed() uint64 {
	floor := s.opts.Floor.Of(s.total.Load())
	floor += floor / 10
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spent {
		floor += uint64(s.opts.Reserve)
	}
	return floor
}

// check looks at the disk, and has writes refused or accepted again.
func (s *space) check() error {
	free, total, err := s.opts.Statfs(s.dir)
	if err != nil {
		return err
	}
	s.free.Store(free)
	s.total.Store(total)
	if s.onFree != nil {
		s.onFree(free, total)
	}
	floor := s.opts.Floor.Of(total)
	more := floor + floor/10
	s.mu.Lock()
	if s.opts.Reserve >= 0 && !s.reserve.held() && free >= more+uint64(s.opts.Reserve) && s.reserve.make() == nil {
		s.spent = false
	}
	spent := s.spent
	s.mu.Unlock()
	s.setLow(spent || free < floor || s.low.Load() && free < more)
	return nil
}

// setLow has writes refused or accepted, and logs a change.
func (s *space) setLow(low bool) {
	switch free := s.free.Load(); {
	case s.low.Swap(low) == low:
	case low:
		s.log.Warn("free disk space is below the floor: this node refuses writes, does not lead, and answers reads",
			"dir", s.dir, "free_bytes", free, "needed_bytes", s.needed())
	default:
		s.log.Info("free disk space is above the floor again: writes are accepted", "dir", s.dir, "free_bytes", free)
	}
}

// releaseReserve gives the reserve's blocks back to the disk, so that the node
// can still shorten its log and end in order. It says whether there was one.
func (s *space) releaseReserve() bool {
	s.mu.Lock()
	released := s.reserve.release()
	s.spent = s.spent || released
	s.mu.Unlock()
	s.setLow(true)
	return released
}

// Floor is the free space of a disk below which writes are refused. The zero value is the default: 5 % of the disk, and
// 8 GiB of a disk larger than 160 GiB, since what a node writes does not grow with its disk.
type Floor struct {
	// Bytes is a fixed number of bytes; 0 means by Share.
	Bytes uint64
	// Share is a share of the disk, from 0 to 1; 0 means the default.
	Share float64
}

const (
	defaultFloorShare = 0.05
	defaultFloorMost  = 8 << 30
	// alarmFloors is the number of floors that must be free for a disk not to raise the alarm.
	alarmFloors = 4
)

// Of returns the floor of a disk of total bytes.
func (f Floor) Of(total uint64) uint64 {
	switch {
	case f.Bytes != 0:
		return f.Bytes
	case f.Share != 0:
		return uint64(f.Share * float64(total))
	}
	return min(uint64(defaultFloorShare*float64(total)), defaultFloorMost)
}

// Alarm returns the free space below which the operator should act: four floors.
func (f Floor) Alarm(total uint64) uint64 {
	return alarmFloors * f.Of(total)
}

const reserveFile = "raft.reserve"

// reserve is a file of real blocks that exists to be deleted.
type reserve struct {
	path string
	size int64
}

// held reports whether the file is there with all its blocks.
func (r *reserve) held() bool {
	st, err := os.Stat(r.path)
	if err != nil || st.Size() != r.size {
		return false
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	return !ok || sys.Blocks*512 >= r.size
}

// make allocates the file, or leaves none.
func (r *reserve) make() error {
	f, err := os.OpenFile(r.path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("reserve file: %w", err)
	}
	if err = r.allocate(f); err == nil {
		err = f.Sync()
	}
	if err = cmp.Or(err, f.Close()); err != nil {
		os.Remove(r.path)
		return fmt.Errorf("reserve file: %w", err)
	}
	return nil
}

func (r *reserve) allocate(f *os.File) error {
	err := wal.Allocate(f, r.size)
	if !errors.Is(err, syscall.EOPNOTSUPP) {
		return err
	}
	zeros := make([]byte, 1<<20)
	for left := r.size; left > 0; {
		n, err := f.Write(zeros[:min(left, int64(len(zeros)))])
		if err != nil {
			return err
		}
		left -= int64(n)
	}
	return nil
}

// release deletes the file and says whether there was one.
func (r *reserve) release() bool { return os.Remove(r.path) == nil }
