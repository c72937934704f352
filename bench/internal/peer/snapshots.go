package peer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/trireme-dev/trireme/bench/internal/proc"
)

// Written returns the bytes written so far to the disk with the node's data; see proc.Written.
func (n *Node) Written() (int64, error) { return proc.Written(n.dir) }

// Snapshots are the sizes of the snapshots in the node's data directory, by their names; of one that is being written, as much
// as there is of it.
func (n *Node) Snapshots() (map[string]int64, error) {
	return snapshotsIn(filepath.Join(n.dir, "snapshots"))
}

func snapshotsIn(dir string) (map[string]int64, error) {
	list, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	sizes := map[string]int64{}
	for _, d := range list {
		state, err := os.Stat(filepath.Join(dir, d.Name(), "state.bin"))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was renamed or removed meanwhile, or has just begun
		}
		if err != nil {
			return nil, err
		}
		sizes[strings.TrimSuffix(d.Name(), ".tmp")] = state.Size()
	}
	return sizes, nil
}
