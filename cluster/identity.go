package cluster

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// What can be wrong with a data directory. The texts say what to do.
var (
	// ErrForeignDirectory: the directory belongs to another node.
	ErrForeignDirectory = errors.New("data directory belongs to another node")
	// ErrWipedDisk: the cluster knows this node's id with another disk. A voter that
	// forgot its vote and log must not come back under its name (reliability P7).
	ErrWipedDisk = errors.New("the cluster knows this node id with another disk")
	// ErrOtherCluster: the other node belongs to another cluster.
	ErrOtherCluster = errors.New("the node belongs to another cluster")
)

const identityFile = "identity.json"

// identity is who this disk is, written once and kept.
type identity struct {
	NodeID    string `json:"node_id"`
	DiskID    string `json:"disk_id"`
	ClusterID string `json:"cluster_id,omitempty"`
	// Boot counts the starts of a process on this disk.
	Boot uint64 `json:"boot"`
	// Disks are the disk ids of the nodes that founded the cluster.
	Disks map[string]string `json:"disks,omitempty"`

	dir string
}

// loadIdentity reads the identity of dir, or makes one for an empty directory, and
// counts the boot.
func loadIdentity(dir, node string) (*identity, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	id := &identity{dir: dir}
	b, err := os.ReadFile(filepath.Join(dir, identityFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(filepath.Join(dir, "raft.db")); err == nil {
			return nil, fmt.Errorf("%s holds a log but no %s: the directory is damaged; move it aside and let the node come back under a new id", dir, identityFile)
		}
		id.NodeID, id.DiskID = node, newID()
	case err != nil:
		return nil, err
	default:
		if err := json.Unmarshal(b, id); err != nil {
			return nil, fmt.Errorf("%s is damaged: %w; move the directory aside and let the node come back under a new id", filepath.Join(dir, identityFile), err)
		}
		if id.NodeID != node {
			return nil, fmt.Errorf("%w: %s is of node %s, not %s; start it with --node-id %s or name another directory", ErrForeignDirectory, dir, id.NodeID, node, id.NodeID)
		}
	}
	id.Boot++
	return id, id.save()
}

// save writes the identity so that a crash leaves the old one or the new one.
func (id *identity) save() error {
	b, err := json.MarshalIndent(id, "", "  ")
	if err != nil {
		return err
	}
	return writeFileSync(filepath.Join(id.dir, identityFile), append(b, '\n'))
}

// writeFileSync replaces a file by way of a synced temporary one.
func writeFileSync(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".tmp*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err := f.Write(data); err != nil {
		f.Close()
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// newID is 128 random bits in hexadecimal.
func newID() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
