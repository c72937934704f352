package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// folder is an archive in a folder of this machine, or of one that is mounted.
type folder string

func (f folder) String() string { return string(f) }

// partial is the name pattern of incomplete files; no backup has such a name.
const partial = ".partial-*"

// Put writes beside, and renames what is on the disk.
func (f folder) Put(ctx context.Context, name string, r io.Reader) (err error) {
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return fmt.Errorf("archive: make the folder: %w", err)
	}
	file, err := os.CreateTemp(string(f), name+partial) // for its owner alone: a backup holds secrets
	if err != nil {
		return fmt.Errorf("archive: write a backup: %w", err)
	}
	defer func() {
		if err != nil {
			file.Close()
			os.Remove(file.Name())
		}
	}()
	_, err = io.Copy(file, r)
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("archive: the disk of %s is full: %w", f, err)
	case err != nil:
		return err
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("archive: write a backup: %w", err)
	}
	if err := ctx.Err(); err != nil { // too late: what it names may be gone
		return err
	}
	if err := os.Rename(file.Name(), filepath.Join(string(f), name)); err != nil {
		return fmt.Errorf("archive: name a backup: %w", err)
	}
	return f.sync()
}

// sync makes names last.
func (f folder) sync() error {
	d, err := os.Open(string(f))
	if err != nil {
		return fmt.Errorf("archive: sync %s: %w", f, err)
	}
	return errors.Join(d.Sync(), d.Close())
}

func (f folder) Names(context.Context) (names []string, err error) {
	entries, err := os.ReadDir(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

func (f folder) Get(_ context.Context, name string) (io.ReadCloser, error) {
	file, err := os.Open(filepath.Join(string(f), name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s in %s", ErrNotThere, name, f)
	}
	return file, err
}

func (f folder) Remove(_ context.Context, name string) error {
	return os.Remove(filepath.Join(string(f), name))
}
