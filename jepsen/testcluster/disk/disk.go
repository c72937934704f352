package disk

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"
)

// The ioctls of a file system (linux/fs.h, and ext4's own).
const (
	freeze     = 0xC0045877
	thaw       = 0xC0045878
	shutdown   = 0x8004587D
	noLogFlush = 2 // of shutdown: what was not synced is lost
)

// Disk is one image, mounted at Dir.
type Disk struct {
	Dir   string
	image string
}

// New makes and mounts an image of so many bytes, which takes room only as it is used.
func New(base, name string, bytes int64) (*Disk, error) {
	d := &Disk{Dir: filepath.Join(base, name+".disk"), image: filepath.Join(base, name+".img")}
	if err := os.MkdirAll(d.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("new disk: %w", err)
	}
	if err := d.blank(bytes); err != nil {
		return nil, err
	}
	return d, d.mount()
}

// blank makes an empty image.
func (d *Disk) blank(bytes int64) error {
	file, err := os.Create(d.image)
	if err != nil {
		return fmt.Errorf("new disk: %w", err)
	}
	if err := errors.Join(file.Truncate(bytes), file.Close()); err != nil {
		return fmt.Errorf("new disk: %w", err)
	}
	return run("mkfs.ext4", "-q", "-F", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0", d.image)
}

func (d *Disk) mount() error { return run("mount", "-o", "loop", d.image, d.Dir) }

func run(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

func (d *Disk) control(request, argument uintptr) error {
	dir, err := os.Open(d.Dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, dir.Fd(), request, argument); errno != 0 {
		return errno
	}
	return nil
}

// Freeze makes every write and sync wait until Thaw.
func (d *Disk) Freeze() error { return d.control(freeze, 0) }

// Thaw ends Freeze.
func (d *Disk) Thaw() error { return d.control(thaw, 0) }

// PowerCut loses everything that was not synced; from now on the file system only fails.
// Kill the process that uses it, then Recover.
func (d *Disk) PowerCut() error {
	how := uint32(noLogFlush)
	return d.control(shutdown, uintptr(unsafe.Pointer(&how)))
}

// Recover mounts the disk again after a PowerCut.
func (d *Disk) Recover() error { return errors.Join(d.unmount(), d.mount()) }

// Lose replaces the disk by an empty one.
func (d *Disk) Lose() error {
	info, err := os.Stat(d.image)
	if err != nil {
		return err
	}
	return errors.Join(d.unmount(), d.blank(info.Size()), d.mount())
}

// filler is the file that takes the room of a full disk.
const filler = "filler"

// Fill leaves at most so many bytes.
func (d *Disk) Fill(leave int64) error {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(d.Dir, &fs); err != nil {
		return fmt.Errorf("fill %s: %w", d.Dir, err)
	}
	file, err := os.OpenFile(filepath.Join(d.Dir, filler), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("fill %s: %w", d.Dir, err)
	}
	defer file.Close()
	for n := int64(fs.Bavail)*fs.Bsize - leave; n > 0; n -= 64 << 10 { // the file system wants a little itself
		if err := syscall.Fallocate(int(file.Fd()), 0, 0, n); !errors.Is(err, syscall.ENOSPC) {
			return err
		}
	}
	return nil
}

// Empty undoes Fill, durably: a power cut must not bring the file back, which nobody would remove then.
func (d *Disk) Empty() error {
	if err := os.Remove(filepath.Join(d.Dir, filler)); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return err
	}
	dir, err := os.Open(d.Dir)
	if err != nil {
		return fmt.Errorf("empty %s: %w", d.Dir, err)
	}
	defer dir.Close()
	return dir.Sync()
}

// Close unmounts the disk and removes its image.
func (d *Disk) Close() error {
	d.Thaw() // it may not be frozen
	return errors.Join(d.unmount(), os.Remove(d.image))
}

// unmount waits for a dead process to let go, if need be.
func (d *Disk) unmount() error {
	if run("umount", d.Dir) == nil {
		return nil
	}
	return run("umount", "-l", d.Dir)
}
