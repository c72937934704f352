package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/trireme-dev/trireme/cluster/membership"
)

// ErrForeignDirectory says that a data directory belongs to another node. The text says what to do.
var ErrForeignDirectory = errors.New("data directory belongs to another node")

const identityFile = "identity.json"

// identity holds the ids of this disk and of its node and cluster, which do not change once they are written, and counts the starts on it.
type identity struct {
	NodeID    string `json:"node_id"`
	DiskID    string `json:"disk_id"`
	ClusterID string `json:"cluster_id,omitempty"`
	// Boot counts the starts of a process on this disk.
	Boot uint64 `json:"boot"`
	// Disks are the disk ids of the nodes that founded the cluster.
	Disks map[string]string `json:"disks,omitempty"`
	// Joining says that the cluster id was taken over from a running cluster, not founded.
	Joining bool `json:"joining,omitempty"`
	// Sum is the checksum of all the rest. A flipped bit in an id would otherwise make
	// this disk a stranger to its own cluster, without a word.
	Sum string `json:"sum"`

	dir string
}

// encode returns the file's content, with its checksum.
func (id *identity) encode() ([]byte, error) {
	rest := *id
	rest.Sum = ""
	b, err := json.Marshal(rest)
	if err != nil {
		return nil, err
	}
	id.Sum = membership.Checksum(b)
	b, err = json.MarshalIndent(id, "", "  ")
	return append(b, '\n'), err
}

// decodeIdentity reads what encode wrote, and refuses anything else.
func decodeIdentity(b []byte) (*identity, error) {
	id := &identity{}
	if err := json.Unmarshal(b, id); err != nil {
		return nil, err
	}
	sum := id.Sum
	switch _, err := id.encode(); {
	case err != nil:
		return nil, err
	case id.Sum != sum:
		return nil, errors.New("checksum mismatch")
	case id.NodeID == "" || id.DiskID == "":
		return nil, errors.New("it names no node or no disk")
	}
	return id, nil
}

// loadIdentity reads the identity of dir, or makes one for an empty directory. The
// caller counts the boot once it holds the directory's lock.
func loadIdentity(dir, node string) (*identity, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	id, err := readIdentity(dir, node)
	if !errors.Is(err, os.ErrNotExist) {
		return id, err
	}
	if _, err := os.Stat(filepath.Join(dir, "raft.db")); err == nil {
		return nil, fmt.Errorf("%s holds a log but no %s: the directory is damaged; move it aside and let the node come back under a new id", dir, identityFile)
	}
	id = &identity{dir: dir, NodeID: node, DiskID: newID()}
	if err := id.create(); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	return readIdentity(dir, node) // another process may have been quicker
}

func readIdentity(dir, node string) (*identity, error) {
	path := filepath.Join(dir, identityFile)
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	id, err := decodeIdentity(b)
	if err != nil {
		return nil, fmt.Errorf("%s is damaged (%w); move the directory aside and let the node come back under a new id", path, err)
	}
	id.dir = dir
	if id.NodeID != node {
		return nil, fmt.Errorf("%w: %s is of node %s, not %s; start it with --node-id %s or name another directory", ErrForeignDirectory, dir, id.NodeID, node, id.NodeID)
	}
	return id, nil
}

// boot counts a start of this process; the caller holds the directory's lock. If it fails, nothing is counted.
func (id *identity) boot() error {
	id.Boot++
	err := id.save()
	if err != nil {
		id.Boot--
	}
	return err
}

// create writes the identity unless there is one.
func (id *identity) create() error {
	b, err := id.encode()
	if err != nil {
		return err
	}
	return membership.WriteSynced(filepath.Join(id.dir, identityFile), b, os.Link)
}

// save writes the identity so that a crash leaves the old one or the new one.
func (id *identity) save() error {
	b, err := id.encode()
	if err != nil {
		return err
	}
	return membership.WriteSynced(filepath.Join(id.dir, identityFile), b, os.Rename)
}

// newID returns 128 random bits in hexadecimal.
func newID() string { return membership.RandomHex(16) }

// clusterID returns the id of the cluster that this node's disk belongs to, empty before.
func (n *Node) clusterID() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.identity.ClusterID
}
