package testcluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// mostTorn is the most that a torn file loses at its end.
const mostTorn = 4096

// Damage flips one bit in a file of a node that is down, or cuts the end of one off. The
// same seed chooses the same way among the same files. It says what it did.
func (n *Node) Damage(seed uint64) (string, error) {
	rng := rand.New(rand.NewPCG(seed, 2))
	var files []string
	err := filepath.WalkDir(n.DataDir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Size() > 0 {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		return "", fmt.Errorf("damage %s: %d files: %w", n.ID, len(files), err)
	}
	path := files[rng.IntN(len(files))]
	name, err := filepath.Rel(n.DataDir, path)
	if err != nil {
		return "", fmt.Errorf("damage %s: %w", n.ID, err)
	}
	if rng.IntN(3) == 0 {
		lost, err := tear(path, rng)
		return fmt.Sprintf("%s lost %d bytes", name, lost), err
	}
	at, err := flip(path, rng)
	return fmt.Sprintf("%s has a wrong bit at %d", name, at), err
}

// tear cuts off the end of a file.
func tear(path string, rng *rand.Rand) (lost int64, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	lost = 1 + rng.Int64N(min(mostTorn, info.Size()))
	return lost, os.Truncate(path, info.Size()-lost)
}

// flip flips one bit of a file.
func flip(path string, rng *rand.Rand) (at int64, err error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	at = rng.Int64N(info.Size())
	var one [1]byte
	if _, err := file.ReadAt(one[:], at); err != nil {
		return at, err
	}
	one[0] ^= 1 << rng.IntN(8)
	_, err = file.WriteAt(one[:], at)
	return at, err
}

// Without waits until the other nodes have a leader among them and are ready.
func (c *Cluster) Without(ctx context.Context, gone *Node) error {
	if _, err := c.WaitLeader(ctx); err != nil {
		return err
	}
	for _, n := range c.Nodes {
		if n == gone {
			continue
		}
		if err := c.WaitNodeReady(ctx, n); err != nil {
			return err
		}
	}
	return nil
}
