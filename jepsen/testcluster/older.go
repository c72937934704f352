package testcluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// older returns the path of the copy of a data directory.
func (n *Node) older() string { return filepath.Join(filepath.Dir(n.LogPath), n.ID+".older") }

// KeepCopy copies the data directory of a node that is down, in place of the copy before.
func (n *Node) KeepCopy() error {
	if n.Pid() != 0 {
		return fmt.Errorf("copy the directory of %s: %w", n.ID, ErrRunning)
	}
	return errors.Join(os.RemoveAll(n.older()), os.CopyFS(n.older(), os.DirFS(n.DataDir)))
}

// PutBack has a node that is down find the copy of KeepCopy in place of its data directory.
func (n *Node) PutBack() error {
	if n.Pid() != 0 {
		return fmt.Errorf("put back the directory of %s: %w", n.ID, ErrRunning)
	}
	return errors.Join(os.RemoveAll(n.DataDir), os.CopyFS(n.DataDir, os.DirFS(n.older())), os.RemoveAll(n.older()))
}
