package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// file appends records. It follows its path: once the file there is another, or none, as
// when logs are rotated, the next record goes to a new one.
type file struct {
	path string
	f    *os.File
}

func openFile(path string) (*file, error) {
	f := &file{path: path}
	return f, f.open()
}

func (f *file) open() (err error) {
	f.f, err = os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	return err
}

// append writes a record in one piece and syncs it.
func (f *file) append(r Record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := f.follow(); err != nil {
		return err
	}
	if _, err := f.f.Write(append(line, '\n')); err != nil {
		return err
	}
	return f.f.Sync()
}

// follow opens the path anew if the file there isn't the open one.
func (f *file) follow() error {
	present, err := os.Stat(f.path)
	if err == nil {
		here, err := f.f.Stat()
		if err == nil && os.SameFile(present, here) {
			return nil
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	old := f.f
	if err := f.open(); err != nil {
		f.f = old
		return fmt.Errorf("open it anew: %w", err)
	}
	return old.Close()
}
