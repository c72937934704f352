package disk

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func fresh(t *testing.T) *Disk {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a disk")
	}
	d, err := New(t.TempDir(), "d", 64<<20)
	if err != nil {
		t.Skip("no disks here: ", err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// write writes a file of the disk and syncs it if asked.
func (d *Disk) write(name, text string, sync bool) error {
	file, err := os.OpenFile(filepath.Join(d.Dir, name), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.WriteString(text); err != nil || !sync {
		return err
	}
	return file.Sync()
}

func TestFull(t *testing.T) {
	d := fresh(t)
	if err := d.Fill(0); err != nil {
		t.Fatal(err)
	}
	if err := d.write("big", string(make([]byte, 1<<20)), true); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("a full disk took a file: %v", err)
	}
	if err := errors.Join(d.Empty(), d.write("big", string(make([]byte, 1<<20)), true)); err != nil {
		t.Fatal(err)
	}
}

func TestFreeze(t *testing.T) {
	d := fresh(t)
	if err := d.Freeze(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- d.write("a", "1", true) }()
	select {
	case err := <-done:
		t.Fatalf("a frozen disk answered: %v", err)
	case <-time.After(300 * time.Millisecond):
	}
	if err := errors.Join(d.Thaw(), <-done); err != nil {
		t.Fatal(err)
	}
}

// Power loss keeps what was synced and loses what wasn't.
func TestPowerCut(t *testing.T) {
	d := fresh(t)
	if err := errors.Join(d.write("synced", "1", true), d.write("lost", "3", false)); err != nil {
		t.Fatal(err)
	}
	if err := d.PowerCut(); err != nil {
		t.Fatal(err)
	}
	if err := d.write("later", "4", true); err == nil {
		t.Fatal("a disk without power took a file")
	}
	if err := d.Recover(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(d.Dir, "synced")); err != nil || string(text) != "1" {
		t.Fatalf("synced: %q, %v", text, err)
	}
	if text, err := os.ReadFile(filepath.Join(d.Dir, "lost")); err == nil && string(text) == "3" {
		t.Fatal("what was not synced is there")
	}
}

func TestLose(t *testing.T) {
	d := fresh(t)
	if err := errors.Join(d.write("a", "1", true), d.Lose()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(d.Dir, "a")); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("a lost disk has its files: %v", err)
	}
}
