package testcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// pollMembers is the interval between two reads of the list of servers.
const pollMembers = 50 * time.Millisecond

// LoseDisk kills a node of Nodes and leaves it an empty disk: it can't come back under its
// id.
func (c *Cluster) LoseDisk(n *Node) error {
	if err := n.Kill(); err != nil && !errors.Is(err, ErrDown) {
		return err
	}
	if n.Disk != nil {
		return n.Disk.Lose()
	}
	return os.RemoveAll(n.DataDir)
}

// Replace starts a new node, with a new id, at the place and the addresses of one whose
// disk was lost, and returns when it votes and the old one is gone.
func (c *Cluster) Replace(ctx context.Context, n *Node) error {
	old, id := n.renew()
	n.succeed(id, old, strings.Join(c.gossiping(), ","))
	if c.authority != nil {
		if err := c.authority.Issue(filepath.Join(c.options.Dir, "certificates"), n.ID, id); err != nil {
			return err
		}
	}
	if err := n.Start(); err != nil {
		return err
	}
	if err := c.WaitNodeReady(ctx, n); err != nil {
		return fmt.Errorf("%s in the place of %s: %w", id, old, err)
	}
	return Poll(ctx, pollMembers, func() error {
		servers, err := c.Suffrages(ctx, n)
		if err != nil {
			return err
		}
		if !strings.Contains(servers, id+" voter") || strings.Contains(servers, old+" ") {
			return fmt.Errorf("%s is to take the place of %s: %s", id, old, servers)
		}
		return nil
	})
}

// renew gives a node the next of its ids.
func (n *Node) renew() (old, id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	old = n.name
	n.lives++
	n.name = fmt.Sprintf("%s-%d", n.ID, n.lives)
	return old, n.name
}

// succeed changes the command line of a node to that of one that joins.
func (n *Node) succeed(id, old, gossip string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i, word := range n.argv {
		switch word {
		case "--node-id":
			n.argv[i+1] = id
		case "--initial-cluster", "--join":
			n.argv[i], n.argv[i+1] = "--join", gossip
		case "--replace":
			n.argv[i+1] = old
			return
		}
	}
	n.argv = append(n.argv, "--replace", old)
}

// Name is the id that the node has now: ID until it was replaced.
func (n *Node) Name() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.name
}
