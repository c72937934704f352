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

func (c Space) withDefaults() Space {
	c.Reserve = orDefault(c.Reserve, defaultReserve)
	if c.Statfs == nil {
		c.Statfs = statfs
	}
	return c
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
func (p *space) tell(log *slog.Logger, l Level) {
	free, total, _ := p.now()
	switch {
	case l == SpaceLow:
		log.Warn("free disk space is below the floor: this node refuses writes, does not lead, and answers reads", "dir", p.dir, "free_bytes", free, "needed_bytes", p.needed(total))
		p.told.Store(true)
	case p.told.Swap(false):
		log.Info("free disk space is above the floor again: writes are accepted", "dir", p.dir, "free_bytes", free)
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
func (p *space) needed(total uint64) uint64 {
	floor := p.opts.Floor.Of(total)
	floor += floor / 10
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.spent {
		floor += uint64(p.opts.Reserve)
	}
	return floor
}

func (p *space) now() (free, total uint64, level Level) {
	return p.free.Load(), p.total.Load(), Level(p.level.Load())
}

// check looks at the disk and moves the level. A level that was low stays so
// until there is a tenth more than the floor, so that it does not flap.
func (p *space) check() error {
	free, total, err := p.opts.Statfs(p.dir)
	if err != nil {
		return err
	}
	p.free.Store(free)
	p.total.Store(total)
	if p.onFree != nil {
		p.onFree(free, total)
	}
	p.restoreReserve(free, total)
	p.setLevel(p.judge(free, total))
	return nil
}

func (p *space) judge(free, total uint64) Level {
	p.mu.Lock()
	spent := p.spent
	p.mu.Unlock()
	floor := p.opts.Floor.Of(total)
	if Level(p.level.Load()) == SpaceLow {
		floor += floor / 10
	}
	switch {
	case free < floor || spent:
		return SpaceLow
	case free < p.opts.Floor.Alarm(total):
		return SpaceAlarm
	}
	return SpaceOK
}

func (p *space) setLevel(l Level) {
	if Level(p.level.Swap(int32(l))) != l && p.onLevel != nil {
		p.onLevel(l)
	}
}

// restoreReserve makes the reserve when the disk has room for it above the
// floor.
func (p *space) restoreReserve(free, total uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	floor := p.opts.Floor.Of(total)
	if p.opts.Reserve < 0 || p.reserve.held() || free < floor+floor/10+uint64(p.opts.Reserve) {
		return
	}
	if p.reserve.make() == nil {
		p.spent = false
	}
}

// releaseReserve gives the reserve's blocks back to the disk, so that the node
// can still shorten its log and end in order. It says whether there was one.
func (p *space) releaseReserve() bool {
	p.mu.Lock()
	released := p.reserve.release()
	p.spent = p.spent || released
	p.mu.Unlock()
	p.setLevel(SpaceLow)
	return released
}
