package wal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// File has the methods of a file that segments call. Tests put their own in between.
type File interface {
	io.ReaderAt
	// WriteParts writes the parts one after another, beginning at offset at.
	WriteParts(parts [][]byte, at int64) error
	// Datasync makes durable what was written. Its error is the bare errno.
	Datasync() error
	io.Closer
}

// diskFile is a File on the disk.
type diskFile struct{ *os.File }

// Datasync syncs the file.
func (f diskFile) Datasync() error { return Datasync(f.File) }

// Datasync makes durable what was written to a file: the data and the length, not the times. Its error is the bare errno.
func Datasync(f *os.File) error {
	for {
		if err := sysDatasync(f); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// WriteParts writes the parts one after another.
func (f diskFile) WriteParts(parts [][]byte, at int64) error {
	if len(parts) > 1 {
		return writeParts(f.File, parts, at)
	}
	for _, p := range parts {
		if _, err := f.WriteAt(p, at); err != nil {
			return err
		}
	}
	return nil
}

// SyncDir makes the names in a folder durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("wal: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("wal: sync folder %s: %w", dir, err)
	}
	return nil
}

// Rename gives a file, or a folder, its name, durably.
func Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return fmt.Errorf("wal: %w", err)
	}
	return SyncDir(filepath.Dir(to))
}
