package logstore

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

const reserveFile = "raft.reserve"

// reserve is a file of real blocks that exists to be deleted.
type reserve struct {
	path string
	size int64
}

// held reports whether the file is there with all its blocks.
func (r *reserve) held() bool {
	st, err := os.Stat(r.path)
	if err != nil || st.Size() != r.size {
		return false
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	return !ok || sys.Blocks*512 >= r.size
}

// make allocates the file, or leaves none.
func (r *reserve) make() error {
	f, err := os.OpenFile(r.path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("reserve file: %w", err)
	}
	err = r.allocate(f)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		os.Remove(r.path)
		return fmt.Errorf("reserve file: %w", err)
	}
	return nil
}

func (r *reserve) allocate(f *os.File) error {
	err := sysAllocate(f, r.size)
	if !errors.Is(err, syscall.EOPNOTSUPP) {
		return err
	}
	zeros := make([]byte, 1<<20)
	for left := r.size; left > 0; {
		n, err := f.Write(zeros[:min(left, int64(len(zeros)))])
		if err != nil {
			return err
		}
		left -= int64(n)
	}
	return nil
}

// release deletes the file and says whether there was one.
func (r *reserve) release() bool { return os.Remove(r.path) == nil }
