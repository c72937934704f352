package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// disk is an ext4 file system of its own in a file: to be filled, and to lose
// what was not synced.
type disk struct {
	image, dir string
}

func needRoot() error {
	if os.Geteuid() != 0 {
		return errors.New("needs root to mount a file system")
	}
	for _, name := range []string{"mkfs.ext4", "mount", "umount"} {
		if _, err := exec.LookPath(name); err != nil {
			return err
		}
	}
	return nil
}

func command(name string, args ...string) error {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

func (r *rig) newDisk(megabytes int64) *disk {
	d := &disk{image: r.path("disk.img"), dir: r.path("disk")}
	must(os.MkdirAll(d.dir, 0o755))
	must(os.WriteFile(d.image, nil, 0o600))
	must(os.Truncate(d.image, megabytes<<20))
	must(command("mkfs.ext4", "-q", "-F", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0", d.image))
	must(d.mount())
	return d
}

func (d *disk) mount() error { return command("mount", "-o", "loop", d.image, d.dir) }

// unmount waits for a process that has just died to let go.
func (d *disk) unmount() error {
	var err error
	for range 50 {
		if err = command("umount", d.dir); err == nil {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return errors.Join(err, command("umount", "-l", d.dir))
}

const fillerName = ".filler"

// fill leaves about leave bytes free.
func (d *disk) fill(leave int64) {
	var st syscall.Statfs_t
	must(syscall.Statfs(d.dir, &st))
	f, err := os.OpenFile(filepath.Join(d.dir, fillerName), os.O_CREATE|os.O_RDWR, 0o600)
	must(err)
	defer f.Close()
	for n := int64(st.Bavail)*st.Bsize - leave; n > 0; n -= 64 << 10 {
		if err := syscall.Fallocate(int(f.Fd()), 0, 0, n); err == nil {
			return
		} else if !errors.Is(err, syscall.ENOSPC) {
			must(err)
		}
	}
}

func (d *disk) unfill() { os.Remove(filepath.Join(d.dir, fillerName)) }

const (
	ext4Shutdown = 0x8004587D
	noLogFlush   = 2
)

// powerCut drops everything that was not synced; every later call fails.
func (d *disk) powerCut() {
	f, err := os.Open(d.dir)
	must(err)
	defer f.Close()
	how := uint32(noLogFlush)
	if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), ext4Shutdown, uintptr(unsafe.Pointer(&how))); e != 0 {
		must(e)
	}
}

// full: a really full disk, then space again, in one process; then a restart.
func (r *rig) full() *tally {
	d := r.newDisk(120)
	defer d.unmount()
	t, hits := newTally(), 0
	for k := range r.n {
		node := filepath.Join(d.dir, fmt.Sprint("n", k))
		must(os.MkdirAll(node, 0o755))
		d.fill(int64(512<<10 + r.rng.Intn(1<<20)))
		m, hit := newModel(), 0
		c := self("child-write", "-dir", node, "-seed", fmt.Sprint(k+1), "-ops", "800", "-wait", "-reserve", "262144")
		in, err := c.StdinPipe()
		must(err)
		follow(c, m, func(line string) {
			if line != "W" {
				return
			}
			if hit++; hit == 3 { // twice into the full disk again
				d.unfill()
			}
			fmt.Fprintln(in, "go on")
		})
		d.unfill()
		if hit > 0 {
			hits++
		}
		v, detail, _ := r.judge(m, node, "small")
		if v == unharmed && m.end != "Z" {
			v, detail = stuck, m.end
		}
		t.add(v, detail)
		must(os.RemoveAll(node))
	}
	t.note("the disk was full in %d", hits)
	return t
}

// power: power cuts under load, three in a row on each node.
func (r *rig) power() *tally {
	d := r.newDisk(300)
	defer d.unmount()
	t := newTally()
	for k := 0; t.total < r.n; k++ {
		node := filepath.Join(d.dir, fmt.Sprint("n", k))
		m := newModel()
		for cycle := 0; cycle < 3 && t.total < r.n; cycle++ {
			if !r.cutOnce(t, d, m, node) {
				break
			}
		}
		must(os.RemoveAll(node))
	}
	return t
}

func (r *rig) cutOnce(t *tally, d *disk, m *model, node string) bool {
	c := self("child-write", "-dir", node, "-seed", fmt.Sprint(r.rng.Int63()), "-head", "-tail")
	stopAt, wait := 1+r.rng.Intn(160), time.Duration(r.rng.Intn(6000))*time.Microsecond
	lines, done := 0, make(chan struct{})
	follow(c, m, func(string) {
		if lines++; lines == stopAt {
			go func() {
				defer close(done)
				time.Sleep(wait) // the random moment itself
				m.cut.Store(true)
				d.powerCut()
				c.Process.Signal(syscall.SIGKILL)
			}()
		}
	})
	if lines < stopAt {
		t.add(stuck, m.end)
		return false
	}
	<-done
	must(d.unmount())
	must(d.mount())
	v, detail, s := r.judge(m, node, "small")
	t.add(v, detail)
	if v == unharmed {
		m.adopt(s)
	}
	return v == unharmed
}
