package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/trireme-dev/trireme/cli"
)

// newFile writes a temporary file next to path, syncs it and renames it to path. Without force it never replaces a
// file.
func newFile(path string, force bool, write func(io.Writer) error) (err error) {
	if _, err := os.Lstat(path); err == nil && !force {
		return cli.Usagef("%s exists; --force replaces it", path)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cli.Usagef("can't write the file: %w", err)
	}
	dir := filepath.Dir(path)
	file, err := os.CreateTemp(dir, filepath.Base(path)+".partial-*") // for its owner alone
	if err != nil {
		return cli.Usagef("can't write the file: %w", err)
	}
	defer func() {
		if err != nil {
			file.Close()
			os.Remove(file.Name())
		}
	}()
	if err := toFile(file, path, write); err != nil {
		return err
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return explainWriteError(path, err)
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return fmt.Errorf("name the file: %w", err)
	}
	return syncFolder(dir)
}

// saved has write write a file, or standard output, and returns where the report of that goes.
func saved(cmd *cobra.Command, path string, force bool, write func(io.Writer) error) (report io.Writer, err error) {
	if path == standardStream {
		return cmd.ErrOrStderr(), toFile(cmd.OutOrStdout(), path, write)
	}
	return cmd.OutOrStdout(), newFile(path, force, write)
}

// toFile calls write with a file; errors show name. write also verifies the stream that it copies, and would report a failed
// write as a damaged stream, so an error of the file takes precedence.
func toFile(file io.Writer, name string, write func(io.Writer) error) error {
	to := &stickyWriter{to: file}
	out := bufio.NewWriterSize(to, 1<<20)
	err := write(out)
	if err == nil {
		err = out.Flush()
	}
	if to.err != nil {
		return explainWriteError(name, to.err)
	}
	return err
}

// explainWriteError explains why a file was not written, with advice if its disk is full.
func explainWriteError(name string, err error) error {
	if name == standardStream {
		name = "standard output"
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("the disk of %s is full: free space on it, or write elsewhere (%w)", name, err)
	}
	return fmt.Errorf("can't write %s: %w", name, err)
}

// stickyWriter remembers the first error of a write.
type stickyWriter struct {
	to  io.Writer
	err error
}

func (w *stickyWriter) Write(b []byte) (int, error) {
	n, err := w.to.Write(b)
	if err != nil {
		w.err = err
	}
	return n, err
}
