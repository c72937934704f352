package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// SyncCount is the number of syncs that Disk times.
const SyncCount = 64

const (
	// block is the number of bytes written before each sync: about one entry.
	block = 4 << 10
	// slowSync and awfulSync are also latencies of writes: a write is acknowledged after a sync on two disks.
	slowSync  = 10 * time.Millisecond
	awfulSync = 100 * time.Millisecond
	// A node whose log write is stuck for stall ends itself.
	nearStall = 500 * time.Millisecond
	stall     = 2 * time.Second
)

// Syncs are the times of syncs of a disk.
type Syncs struct {
	Count         int
	Median, Worst time.Duration
}

// SyncTimes writes and syncs count blocks, one after the other, in a file of its own in
// dir, which is gone afterwards. It ends early with ctx, with what it has.
func SyncTimes(ctx context.Context, dir string, count int) (Syncs, error) {
	f, err := os.CreateTemp(dir, "doctor-*.tmp")
	if err != nil {
		return Syncs{}, err
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return Syncs{}, err
	}
	b := make([]byte, block)
	if err := f.Truncate(int64(count * block)); err != nil {
		return Syncs{}, err
	}
	var all []time.Duration
	for i := range count {
		if ctx.Err() != nil {
			break
		}
		b[0] = byte(i)
		begin := time.Now()
		if _, err := f.WriteAt(b, int64(i*block)); err != nil {
			return Syncs{}, err
		}
		if err := f.Sync(); err != nil {
			return Syncs{}, err
		}
		all = append(all, time.Since(begin))
	}
	if len(all) == 0 {
		return Syncs{}, ctx.Err()
	}
	slices.Sort(all)
	return Syncs{len(all), all[len(all)/2], all[len(all)-1]}, nil
}

// Disk times the syncs of the disk that holds a data directory, which may not be there
// yet: then the folder is judged that it will be made in.
func Disk(ctx context.Context, dir string) []Finding {
	at, err := existing(dir)
	if err != nil {
		return []Finding{found(checkDisk, dir, Failure, "name a data directory that this user can reach", "%v", err)}
	}
	s, err := SyncTimes(ctx, at, SyncCount)
	if err != nil {
		return []Finding{found(checkDisk, dir, Failure, writeAdvice(err), "nothing can be written and synced there: %v", err)}
	}
	return append([]Finding{syncFinding(dir, s)}, volatile(dir, at)...)
}

func writeAdvice(err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return "give the folder to the user that the node runs as, mode 0700"
	}
	return "look at the disk and its file system: a node can't run on it"
}

func syncFinding(dir string, s Syncs) Finding {
	const look = "every write waits for it: use a local SSD, or one with power-loss protection, and look for what else writes to this disk"
	level := OK
	switch {
	case s.Worst >= stall || s.Median >= awfulSync:
		level = Failure
	case s.Worst >= nearStall || s.Median >= slowSync:
		level = Warning
	}
	return found(checkSpeed, dir, level, look, "sync of %d KiB: median %s, worst of %d %s", block>>10, round(s.Median), s.Count, round(s.Worst))
}

func round(d time.Duration) time.Duration {
	if d < time.Millisecond {
		return d.Round(time.Microsecond)
	}
	return d.Round(10 * time.Microsecond)
}

// existing is dir, or the nearest folder above it that is there.
func existing(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for {
		info, err := os.Stat(dir)
		switch {
		case err == nil && info.IsDir():
			return dir, nil
		case err == nil:
			return "", fmt.Errorf("%s is a file", dir)
		case !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir):
			return "", err
		}
		dir = filepath.Dir(dir)
	}
}

func volatile(dir, at string) []Finding {
	var st unix.Statfs_t
	if unix.Statfs(at, &st) != nil {
		return nil // Space says so
	}
	if what, is := unsafeDisks[int64(st.Type)]; is {
		return []Finding{found(checkSpeed, dir, Warning, "keep the data directory on a local disk (in a container, on a volume)", "the file system is %s", what)}
	}
	return nil
}

// Floor tells for a disk of total bytes below how much free space a node refuses writes, and below how much it is time to
// act; logstore.Floor is one.
type Floor interface {
	Of(total uint64) uint64
	Alarm(total uint64) uint64
}

// Space judges the free space of a data directory's disk against the floor below which
// a node refuses writes.
func Space(dir string, floor Floor) Finding {
	at, err := existing(dir)
	if err != nil {
		return found(checkSpace, dir, Failure, "name a data directory that this user can reach", "%v", err)
	}
	var st unix.Statfs_t
	if err := unix.Statfs(at, &st); err != nil {
		return found(checkSpace, dir, Failure, "look at the disk and its file system", "%v", err)
	}
	return spaceFinding(dir, floor, st.Bavail*uint64(st.Bsize), st.Blocks*uint64(st.Bsize), st.Ffree, st.Files)
}

func spaceFinding(dir string, floor Floor, free, total, nodes, allNodes uint64) Finding {
	const room = "free space on this disk or give the node a larger one: below the floor (--min-free-disk) it refuses writes and doesn't lead"
	share, least := float64(free)/float64(max(total, 1))*100, floor.Of(total)
	switch {
	case allNodes > 0 && nodes == 0:
		return found(checkSpace, dir, Failure, "remove files from this disk: it has no inode left", "no inode is free")
	case free < least:
		return found(checkSpace, dir, Failure, room, "%s of %s free, %.1f %%: below the floor of %s", size(free), size(total), share, size(least))
	case free < floor.Alarm(total):
		return found(checkSpace, dir, Warning, room, "%s of %s free, %.1f %%; the floor is %s", size(free), size(total), share, size(least))
	}
	return found(checkSpace, dir, OK, "", "%s of %s free, %.0f %%; the floor is %s", size(free), size(total), share, size(least))
}

// size is a number of bytes for people.
func size(n uint64) string {
	const unit = 1 << 10
	v, names := float64(n), "KMGTPE"
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	i := -1
	for v >= unit && i < len(names)-1 {
		v /= unit
		i++
	}
	return fmt.Sprintf("%.1f %ciB", v, names[i])
}
