package testcluster

import "context"

// Size is the number of nodes, running or not.
func (c *Cluster) Size() int { return len(c.Nodes) }

// Do runs one command through the i-th node.
func (c *Cluster) Do(ctx context.Context, i int, args ...string) Reply {
	return c.Nodes[i].client.Do(ctx, args...)
}

// DoWith runs one command through the i-th node with further headers.
func (c *Cluster) DoWith(ctx context.Context, i int, header map[string]string, args ...string) Reply {
	return c.Nodes[i].client.DoWith(ctx, header, args...)
}

// Transaction runs commands through the i-th node as one.
func (c *Cluster) Transaction(ctx context.Context, i int, commands [][]string) ([]Row, Reply) {
	return c.Nodes[i].client.Transaction(ctx, commands)
}
