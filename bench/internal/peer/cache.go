package peer

import (
	"context"
	"fmt"
	"math/rand"
	"strconv"
	"strings"
)

// CacheLoad is a load of reads as a cache has it: each key that is not there is written after its read.
type CacheLoad struct {
	// Keys is the number of different keys that are read, Reads the number of reads, of which the second half counts, and
	// Value the size of a value in bytes.
	Keys, Reads, Value int
	// Skew is the exponent of Zipf's law by which keys are drawn, above 1; Seed draws the same keys again.
	Skew float64
	Seed int64
}

// readsAtATime is the number of reads that are sent together, followed by the writes of those that missed.
const readsAtATime = 100

// HitRate loads the server at addr over one connection, with a password if it isn't empty, and returns how many percent of
// the reads that count found their key.
func (l CacheLoad) HitRate(ctx context.Context, addr, password string) (percent float64, err error) {
	c, err := dialRESP(addr)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	if password != "" {
		if _, err := c.do("AUTH", password); err != nil {
			return 0, err
		}
	}
	keys := rand.NewZipf(rand.New(rand.NewSource(l.Seed)), l.Skew, 1, uint64(l.Keys-1))
	value := strings.Repeat("v", l.Value)
	hits, counted := 0, 0
	for done := 0; done < l.Reads; done += readsAtATime {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		batch := make([]string, readsAtATime)
		for i := range batch {
			batch[i] = "k" + strconv.FormatUint(keys.Uint64(), 10)
		}
		missed, err := c.readThrough(batch, value)
		if err != nil {
			return 0, err
		}
		if done >= l.Reads/2 {
			hits, counted = hits+readsAtATime-missed, counted+readsAtATime
		}
	}
	return 100 * float64(hits) / float64(counted), nil
}

// readThrough reads keys and writes those that are not there; it returns how many reads missed.
func (c *respConn) readThrough(keys []string, value string) (missed int, err error) {
	var gets, sets []byte
	for _, key := range keys {
		gets = appendCommand(gets, "GET", key)
	}
	if err := c.send(gets); err != nil {
		return 0, err
	}
	absent := map[string]bool{}
	for _, key := range keys {
		v, err := c.read()
		if err != nil {
			return 0, fmt.Errorf("GET: %w", err)
		}
		if v != "" {
			continue
		}
		if missed++; !absent[key] {
			absent[key] = true
			sets = appendCommand(sets, "SET", key, value)
		}
	}
	if len(sets) == 0 {
		return 0, nil
	}
	if err := c.send(sets); err != nil {
		return 0, err
	}
	for range absent {
		if _, err := c.read(); err != nil {
			return 0, fmt.Errorf("SET: %w", err)
		}
	}
	return missed, nil
}

// HitRate loads the node's RESP listener.
func (n *Node) HitRate(ctx context.Context, l CacheLoad) (float64, error) {
	return l.HitRate(ctx, n.RESP, token)
}

// Keys returns the number of the node's keys.
func (n *Node) Keys() (string, error) {
	c, err := n.dial()
	if err != nil {
		return "", err
	}
	defer c.Close()
	return c.do("DBSIZE")
}

// HitRate loads the server, which may hold so many bytes and evicts by the policy.
func (r *Redis) HitRate(ctx context.Context, l CacheLoad, memory int, policy string) (float64, error) {
	if _, err := r.Do("CONFIG", "SET", "maxmemory", strconv.Itoa(memory), "maxmemory-policy", policy); err != nil {
		return 0, err
	}
	return l.HitRate(ctx, r.Addr, "")
}
