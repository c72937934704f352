//go:build !linux

package wal

import "os"

func sysDatasync(f *os.File) error { return f.Sync() }

func writeParts(f *os.File, parts [][]byte, at int64) error {
	for _, p := range parts {
		if _, err := f.WriteAt(p, at); err != nil {
			return err
		}
		at += int64(len(p))
	}
	return nil
}
