package lab

import "context"

// Size is the number of nodes, running or not.
func (c *Cluster) Size() int { return len(c.Nodes) }

// Do runs one command through the i-th node.
func (c *Cluster) Do(ctx context.Context, i int, args ...string) Reply {
	return c.Nodes[i].client.Do(ctx, args...)
}
