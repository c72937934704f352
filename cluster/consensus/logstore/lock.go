package logstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const lockFile = "raft.lock"

// lockDir takes the directory for this process. The database locks its own file too, but an upgrade puts another file in its
// place, and a process that waited for the old one would then hold a lock on nothing.
func lockDir(dir string, wait time.Duration) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("log store: lock file: %w", err)
	}
	for end := time.Now().Add(wait); ; time.Sleep(20 * time.Millisecond) {
		switch taken, err := tryLock(f, syscall.LOCK_EX); {
		case taken:
			return f, nil
		case err != nil:
			f.Close()
			return nil, err
		case time.Now().After(end):
			f.Close()
			return nil, locked(dir)
		}
	}
}

// tryLock locks a file exclusively or shared, and returns false if another process has it locked.
func tryLock(f *os.File, how int) (taken bool, err error) {
	for {
		switch err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, syscall.EINTR):
			return false, fmt.Errorf("log store: lock %s: %w", filepath.Dir(f.Name()), err)
		}
	}
}

// InUse reports whether a process has the directory open as its log store.
func InUse(dir string) (bool, error) {
	f, err := os.Open(filepath.Join(dir, lockFile))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("log store: lock file: %w", err)
	}
	defer f.Close() // lets go of the lock, which a process that starts now waits for
	free, err := tryLock(f, syscall.LOCK_SH)
	return err == nil && !free, err
}
