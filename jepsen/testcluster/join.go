package testcluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// joinPorts holds the ports of one node.
const joinPorts = 3

// Join starts a further node that joins by way of the gossip ports of those that run, in
// the place of the node called replaces if that isn't empty. Its ports are its own. It
// doesn't stand in Nodes, which others may be reading; Close ends it.
func (c *Cluster) Join(id, replaces string) (*Node, error) {
	if c.joined == nil {
		ports, err := ReserveBlock()
		if err != nil {
			return nil, err
		}
		c.joined = ports
	}
	at := joinPorts * len(c.guests)
	if at+joinPorts > c.joined.Size() {
		return nil, fmt.Errorf("no ports are left for %s", id)
	}
	args := []string{"--join", strings.Join(c.gossiping(), ",")}
	if replaces != "" {
		args = append(args, "--replace", replaces)
	}
	n := c.lay(id, c.joined, at, args)
	c.speakRESP(n, c.Size()+len(c.guests))
	c.guests = append(c.guests, n)
	return n, n.Start()
}

// all are the nodes of the first configuration and those that joined.
func (c *Cluster) all() []*Node { return append(slices.Clone(c.Nodes), c.guests...) }

// gossiping are the gossip ports of the nodes that run.
func (c *Cluster) gossiping() (addrs []string) {
	for _, n := range c.all() {
		if n.Up() {
			addrs = append(addrs, n.Gossip)
		}
	}
	return addrs
}

// Remove asks a node to have another taken out, and returns when that one's process has
// ended. It has to end by itself with exit code 0.
func (c *Cluster) Remove(ctx context.Context, by, gone *Node) error {
	gone.mu.Lock()
	proc := gone.proc
	if proc != nil {
		gone.ordered[proc] = true
	}
	gone.mu.Unlock()
	status, _, body, err := by.admin.Call(ctx, http.MethodDelete, "/admin/cluster/nodes/"+gone.ID, nil, nil)
	if err != nil || status != http.StatusOK {
		return errors.Join(err, fmt.Errorf("remove %s: status %d: %.300s", gone.ID, status, body))
	}
	if proc == nil {
		return nil
	}
	select {
	case <-proc.Done():
	case <-ctx.Done():
		return fmt.Errorf("%s was taken out, but runs on; its log ends:\n%s", gone.ID, gone.Tail(20))
	}
	if code := proc.ExitCode(); code != 0 {
		return fmt.Errorf("%s ended with exit code %d after it was taken out; its log ends:\n%s", gone.ID, code, gone.Tail(20))
	}
	return nil
}

// RenewCertificates gives every node a new certificate of a new authority, in the order
// in which an operator does it: both authorities are good until all nodes are changed.
// settle returns when the nodes have noticed.
func (c *Cluster) RenewCertificates(settle func() error) error {
	if c.authority == nil {
		return errors.New("the cluster has no certificates")
	}
	next, err := NewAuthority()
	if err != nil {
		return err
	}
	dir := filepath.Join(c.options.Dir, "certificates")
	c.trusted.put(c.authority, next)
	if err := WriteTrusted(dir, c.authority, next); err != nil {
		return err
	}
	if err := settle(); err != nil {
		return err
	}
	for _, n := range c.all() {
		if err := next.Issue(dir, n.ID, n.Name()); err != nil {
			return err
		}
	}
	if err := settle(); err != nil {
		return err
	}
	c.authority = next
	c.trusted.put(next)
	return WriteTrusted(dir, next)
}

// Logged counts the lines of a node's log that hold a text.
func (n *Node) Logged(text string) int {
	lines := strings.Split(n.Tail(1<<30), "\n")
	return len(slices.DeleteFunc(lines, func(l string) bool { return !strings.Contains(l, text) }))
}

// Lose kills the node and deletes its disk.
func (n *Node) Lose() error {
	if err := n.Kill(); err != nil {
		return err
	}
	return os.RemoveAll(n.DataDir)
}

// Suffrages are the servers of the cluster as a node sees them, such as "n1 voter, n2
// nonvoter".
func (c *Cluster) Suffrages(ctx context.Context, by *Node) (string, error) {
	status, body, err := by.admin.Get(ctx, "/admin/cluster")
	if err != nil || status != http.StatusOK {
		return "", errors.Join(err, fmt.Errorf("%s: /admin/cluster: status %d", by.ID, status))
	}
	var view struct {
		Nodes []struct{ ID, Suffrage string }
	}
	if err := json.Unmarshal(body, &view); err != nil {
		return "", err
	}
	var all []string
	for _, one := range view.Nodes {
		all = append(all, one.ID+" "+one.Suffrage)
	}
	return strings.Join(all, ", "), nil
}
