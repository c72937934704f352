package payloads

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm/payload"
)

// powerDisk is what survives a power cut: the names and the bytes that were synced.
type powerDisk struct {
	dir    string
	synced map[string][]byte // of files
	names  map[string]bool
}

func (d *powerDisk) sync(f *os.File) error {
	b, err := os.ReadFile(f.Name())
	d.synced[filepath.Base(f.Name())] = b
	return err
}

func (d *powerDisk) syncDir(string) error {
	list, err := os.ReadDir(d.dir)
	d.names = map[string]bool{}
	for _, e := range list {
		d.names[e.Name()] = true
	}
	return err
}

// cut makes the directory what it may be after a power cut: of what was not synced a part may be there, or something else, and
// files that were removed may be there again.
func (d *powerDisk) cut(r *rand.Rand) error {
	now := map[string][]byte{}
	list, err := os.ReadDir(d.dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		if now[e.Name()], err = os.ReadFile(filepath.Join(d.dir, e.Name())); err != nil {
			return err
		}
	}
	all := maps.Clone(now)
	maps.Copy(all, d.synced)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		path, synced, last := filepath.Join(d.dir, name), d.synced[name], now[name]
		_, is := now[name]
		switch {
		case is && !d.names[name] && r.IntN(2) == 0, !is && (!d.names[name] || r.IntN(2) == 0):
			os.Remove(path)
			continue
		case !is:
			last = synced
		}
		b := bytes.Clone(last)
		for i := range b { // only what differs from what was synced can be lost, a page at a time
			if page := i / 512; i >= len(synced) && rand.New(rand.NewPCG(uint64(page), uint64(len(last)))).IntN(2) == 0 {
				b[i] = 0
			}
		}
		if len(last) > len(synced) {
			b = b[:len(synced)+r.IntN(len(last)-len(synced)+1)]
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			return err
		}
	}
	d.synced, d.names = map[string][]byte{}, map[string]bool{} // what is there now is on the disk
	if list, err = os.ReadDir(d.dir); err != nil {
		return err
	}
	for _, e := range list {
		d.names[e.Name()] = true
		if d.synced[e.Name()], err = os.ReadFile(filepath.Join(d.dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// crashing is a node in small: a state, a log since its last snapshot, snapshots that name payloads, and a store.
type crashing struct {
	t     *testing.T
	r     *rand.Rand
	disk  *powerDisk
	s     *Store
	state map[int]*Body
	log   []change // since the newest snapshot
	taken []taken  // on the disk, oldest first
	next  int      // the newest payload
	// number is that of the newest snapshot.
	number int
	// syncing is held for a sync: a start syncs several segments at once.
	syncing sync.Mutex
	// left is the number of syncs before the process dies.
	left int
	// calm: nothing dies any more.
	calm bool
}

// change is an entry of the log: the payload i comes, or goes.
type change struct {
	i    int
	goes bool
}

// taken is a snapshot on the disk.
type taken struct {
	name  string
	ids   []int
	names []payload.Reference
}

// size is the length of payload i: some are equal to others.
func size(i int) int { return payload.Apart + i*37%4000 }

// bytesOf is payload i. Every fifth one can be compressed, every seventh is the same as another.
func bytesOf(i int) []byte {
	if i%7 == 6 {
		i -= 3
	}
	if i%5 == 0 {
		return bytes.Repeat([]byte(fmt.Sprintf("payload %d ", i)), 500)
	}
	return text(i, size(i))
}

// errCrash is the end of the process, in the middle of anything.
var errCrash = errors.New("crash")

func (c *crashing) sync(f *os.File) error {
	c.syncing.Lock()
	defer c.syncing.Unlock()
	if c.left--; c.left < 0 {
		return errCrash
	}
	return c.disk.sync(f)
}

func (c *crashing) syncDir(dir string) error {
	c.syncing.Lock()
	defer c.syncing.Unlock()
	if c.left--; c.left < 0 {
		return errCrash
	}
	return c.disk.syncDir(dir)
}

// start opens the store and restores the newest snapshot and the log.
func (c *crashing) start() {
	c.t.Helper()
	for {
		c.left = 3 + c.r.IntN(60)
		s, err := Open(Options{
			DataDir: filepath.Dir(c.disk.dir), size: 32 << 10, young: 64 << 10, age: time.Hour, sync: c.sync, syncDir: c.syncDir,
			Snapshots: func() (names []string, err error) {
				for _, t := range c.taken {
					names = append(names, t.name)
				}
				return names, nil
			},
		})
		if errors.Is(err, errCrash) {
			c.die()
			continue
		}
		if err != nil {
			c.t.Fatal(err)
		}
		c.s = s
		break
	}
	c.state = map[int]*Body{}
	if len(c.taken) > 0 {
		newest := c.taken[len(c.taken)-1]
		for i, k := range c.s.Named(newest.names) {
			c.read(newest, i, k)
			c.state[newest.ids[i]] = k.(*Body)
		}
	}
	for _, e := range c.log {
		c.apply(e)
	}
	for _, t := range c.taken { // an older one may be needed, too
		for i := range t.names {
			if b, err := c.s.segments.at(c.s.index.get(&t.names[i].Digest), &t.names[i].Digest); err != nil || !bytes.Equal(b, bytesOf(t.ids[i])) {
				c.t.Fatalf("snapshot %s names payload %d, which is lost: %v", t.name, t.ids[i], err)
			}
		}
	}
}

func (c *crashing) read(of taken, i int, k payload.Kept) {
	c.t.Helper()
	if b, whole := k.(*Body).whole(); !whole || !bytes.Equal(b, bytesOf(of.ids[i])) {
		c.t.Fatalf("the snapshot names payload %d, which is lost", of.ids[i])
	}
}

// die is the end of the process, and of the machine's power every other time.
func (c *crashing) die() {
	c.t.Helper()
	if c.r.IntN(2) == 0 {
		if err := c.disk.cut(c.r); err != nil {
			c.t.Fatal(err)
		}
	}
	c.s, c.state = nil, nil
}

func (c *crashing) apply(e change) {
	if e.goes {
		delete(c.state, e.i)
	} else {
		c.state[e.i] = c.s.Keep(bytesOf(e.i)).(*Body)
	}
}

// write applies a new entry.
func (c *crashing) write(e change) {
	c.log = append(c.log, e)
	c.apply(e)
}

// some does something other than a snapshot.
func (c *crashing) some() error {
	switch c.r.IntN(12) {
	case 0:
		return c.s.move(true)
	case 1:
		return c.s.move(false)
	case 2:
		runtime.GC()
		c.s.compact()
	case 3:
		return c.s.Sync()
	case 4, 5, 6, 7:
		for range c.r.IntN(15) {
			if len(c.state) > 0 {
				ids := slices.Sorted(maps.Keys(c.state))
				c.write(change{i: ids[c.r.IntN(len(ids))], goes: true})
			}
		}
	default:
		for range c.r.IntN(12) {
			c.next++
			c.write(change{i: c.next})
		}
	}
	return nil
}

// snapshot takes a snapshot in the steps of a node, while other things happen.
func (c *crashing) snapshot() error {
	c.number++
	pin := c.s.Pin()
	fork, length := maps.Clone(c.state), len(c.log)
	t := taken{name: fmt.Sprint("s", c.number), ids: slices.Sorted(maps.Keys(fork))}
	for part := range slices.Chunk(t.ids, 8) {
		var list []payload.Kept
		for _, i := range part {
			list = append(list, fork[i])
		}
		if err := c.s.Place(list); err != nil {
			return err
		}
		for _, k := range list {
			t.names = append(t.names, payload.Reference{Digest: k.Digest(), Len: k.Len()})
		}
		if err := c.some(); err != nil {
			return err
		}
	}
	fork = nil
	if err := c.s.Sync(); err != nil {
		return err
	}
	c.taken = append(c.taken, t)
	c.taken = c.taken[max(len(c.taken)-2, 0):]
	c.log = slices.Clone(c.log[length:])
	if !c.calm && c.r.IntN(5) == 0 {
		return errCrash
	}
	pin.Settle()
	return nil
}

// TestSnapshotsSurviveCrashes does at random what a node does, and ends the process at random syncs and between steps, with the
// power or without: after every start all payloads that snapshots name are there, unchanged, and with them the whole state.
func TestSnapshotsSurviveCrashes(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c := &crashing{t: t, r: rand.New(rand.NewPCG(seed, 38)), disk: &powerDisk{dir: filepath.Join(dir, Dir), synced: map[string][]byte{}, names: map[string]bool{}}}
			c.start()
			crashes, snapshots := 0, 0
			for range 400 {
				var err error
				if c.r.IntN(8) == 0 {
					err = c.snapshot()
					snapshots++
				} else {
					err = c.some()
				}
				if err != nil && !errors.Is(err, errCrash) {
					t.Fatal(err)
				}
				if err != nil || c.r.IntN(40) == 0 || c.left < 0 {
					crashes++
					c.die()
					c.start()
				}
				for i, p := range c.state {
					if c.r.IntN(20) == 0 && !bytes.Equal(p.Bytes(), bytesOf(i)) {
						t.Fatalf("payload %d is another", i)
					}
				}
			}
			c.left, c.calm = 1<<30, true
			collected(t, func() bool { // what no snapshot names goes
				c.state = map[int]*Body{}
				if err := c.snapshot(); err != nil {
					t.Fatal(err)
				}
				c.s.compact()
				return c.s.Stats().Disk < 200<<10
			})
			t.Logf("%d crashes, %d snapshots, %+v", crashes, snapshots, c.s.Stats())
		})
	}
}
