package logstore

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
)

// Level says how much room the disk has.
type Level int32

// The levels, from good to bad.
const (
	SpaceOK    Level = iota
	SpaceAlarm       // below the alarm mark: tell the operator
	SpaceLow         // below the floor: refuse writes, do not lead
)

// String names the level as metrics and logs show it.
func (l Level) String() string {
	return [...]string{"ok", "alarm", "low"}[l]
}

// Space says how much free disk the node wants. A bolt file never shrinks while
// it is open, so room that is gone does not come back by itself.
type Space struct {
	// Floor is the free space that writes require.
	Floor Floor
	// Reserve is the size of the reserve file in bytes, 0 = defaultReserve. Negative: none.
	Reserve int64
	// Statfs returns the bytes that this process may still use in dir, and all
	// of them. Nil asks the operating system.
	Statfs func(dir string) (free, total uint64, err error)
}

const defaultReserve = 64 << 20

func (s Space) withDefaults() Space {
	s.Reserve = orDefault(s.Reserve, defaultReserve)
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
	opts    Space
	dir     string
	onLevel func(Level)
	onFree  func(free, total uint64)

	free, total atomic.Uint64
	level       atomic.Int32
	told        atomic.Bool // that writes are refused

	mu      sync.Mutex
	reserve *reserve
	spent   bool // the reserve was given up and is not back yet
}

// newSpace counts a reserve that is not there as spent, until it is made: a start must not take the room that the reserve left for
// room above the floor.
func newSpace(o Options) *space {
	p := &space{
		opts: o.Space, dir: o.Dir, onFree: o.Hooks.Free,
		reserve: &reserve{path: filepath.Join(o.Dir, reserveFile), size: o.Space.Reserve},
	}
	p.spent = o.Space.Reserve >= 0 && !p.reserve.held()
	p.onLevel = func(l Level) {
		p.tell(o.Logger, l)
		if o.Hooks.Space != nil {
			o.Hooks.Space(l)
		}
	}
	return p
}

// tell logs that writes are refused, or accepted again.
func (s *space) tell(log *slog.Logger, l Level) {
	free, total, _ := s.now()
	switch {
	case l == SpaceLow:
		log.Warn("free disk space is below the floor: this node refuses writes, does not lead, and answers reads", "dir", s.dir, "free_bytes", free, "needed_bytes", s.needed(total))
		s.told.Store(true)
	case s.told.Swap(false):
		log.Info("free disk space is above the floor again: writes are accepted", "dir", s.dir, "free_bytes", free)
	}
}

// Accepting returns nil while there is room for new writes, and an error that
// matches ErrLowSpace otherwise: the caller then refuses writes before they are
// proposed, gives up leadership and does not campaign. What other nodes
// replicate to this one is still stored.
func (s *Store) Accepting() error {
	if Level(s.space.level.Load()) != SpaceLow {
		return nil
	}
	free, total, _ := s.space.now()
	return fmt.Errorf("%w: %s has %d of %d bytes free; at least %d must be free before writes are accepted again", ErrLowSpace, s.opts.Dir, free, total, s.space.needed(total))
}

// needed returns the number of bytes that must be free before writes are accepted again.
func (s *space) needed(total uint64) uint64 {
	floor := s.opts.Floor.Of(total)
	floor += floor / 10
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spent {
		floor += uint64(s.opts.Reserve)
	}
	return floor
}

func (s *space) now() (free, total uint64, level Level) {
	return s.free.Load(), s.total.Load(), Level(s.level.Load())
}

// check looks at the disk and moves the level. A level that was low stays so
// until there is a tenth more than the floor, so that it does not flap.
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
	s.restoreReserve(free, total)
	s.setLevel(s.judge(free, total))
	return nil
}

func (s *space) judge(free, total uint64) Level {
	s.mu.Lock()
	spent := s.spent
	s.mu.Unlock()
	floor := s.opts.Floor.Of(total)
	if Level(s.level.Load()) == SpaceLow {
		floor += floor / 10
	}
	switch {
	case free < floor || spent:
		return SpaceLow
	case free < s.opts.Floor.Alarm(total):
		return SpaceAlarm
	}
	return SpaceOK
}

func (s *space) setLevel(l Level) {
	if Level(s.level.Swap(int32(l))) != l && s.onLevel != nil {
		s.onLevel(l)
	}
}

// restoreReserve makes the reserve when the disk has room for it above the
// floor.
func (s *space) restoreReserve(free, total uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	floor := s.opts.Floor.Of(total)
	if s.opts.Reserve < 0 || s.reserve.held() || free < floor+floor/10+uint64(s.opts.Reserve) {
		return
	}
	if s.reserve.make() == nil {
		s.spent = false
	}
}

// releaseReserve gives the reserve's blocks back to the disk, so that the node
// can still shorten its log and end in order. It says whether there was one.
func (s *space) releaseReserve() bool {
	s.mu.Lock()
	released := s.reserve.release()
	s.spent = s.spent || released
	s.mu.Unlock()
	s.setLevel(SpaceLow)
	return released
}
