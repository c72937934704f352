package peer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/load"
)

// vectorIndex is the name of the index of row 19.
const vectorIndex = "vectors"

// dial connects to the node's RESP listener as its Standard user.
func (n *Node) dial() (*respConn, error) {
	c, err := dialRESP(n.RESP)
	if err != nil {
		return nil, err
	}
	if _, err := c.do("AUTH", token); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// commandsAtATime is the number of commands that are sent together while a node is filled.
const commandsAtATime = 100

// fill sends count commands in pipelines; each must be answered with want.
func (c *respConn) fill(ctx context.Context, count int, command func(i int) []string, want string) error {
	for done := 0; done < count; done += commandsAtATime {
		if err := ctx.Err(); err != nil {
			return err
		}
		end := min(done+commandsAtATime, count)
		var b []byte
		for i := done; i < end; i++ {
			b = appendCommand(b, command(i)...)
		}
		if err := c.send(b); err != nil {
			return err
		}
		for range end - done {
			if got, err := c.read(); err != nil || got != want {
				return fmt.Errorf("%.20s: got %q, want %q: %w", b, got, want, errors.Join(err, ctx.Err()))
			}
		}
	}
	return nil
}

// LoadVectors makes an index of vectors under the cosine and stores count vectors in it, the i-th under the id i; blob is
// its elements as little-endian 32-bit floats.
func (n *Node) LoadVectors(ctx context.Context, dim, count int, blob func(i int) []byte) error {
	c, err := n.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.do("VECTOR.CREATE", vectorIndex, "DIM", strconv.Itoa(dim), "METRIC", "COSINE"); err != nil {
		return err
	}
	return c.fill(ctx, count, func(i int) []string {
		return []string{"VECTOR.ADD", vectorIndex, strconv.Itoa(i), "FP32", string(blob(i))}
	}, "1")
}

// NearestBody asks over HTTP for the top vectors nearest to one, given as base64 of its floats.
func NearestBody(top int, vector string) string {
	return fmt.Sprintf(`["VECTOR.QUERY",%q,"TOPK",%d,"BASE64-FP32",%q]`, vectorIndex, top, vector)
}

// Dial opens a connection for one request after the other.
func (n *Node) Dial() (*load.Caller, error) { return load.Dial(n.URL, token) }

// nearestLimit bounds one search.
const nearestLimit = time.Minute

// Nearest sends a NearestBody and returns the ids that were found, the nearest first.
func Nearest(c *load.Caller, body string) ([]int, error) {
	status, text, _, err := c.Post(body, nearestLimit)
	if err != nil {
		return nil, err
	}
	var reply struct{ Result [][]string }
	if err := json.Unmarshal(text, &reply); err != nil || status != 200 || reply.Result == nil {
		return nil, &load.Unexpected{Request: body[:min(len(body), 60)], Status: status, Reply: fmt.Sprintf("%.200s", text)}
	}
	ids := make([]int, len(reply.Result))
	for i, hit := range reply.Result {
		if ids[i], err = strconv.Atoi(hit[0]); err != nil {
			return nil, err
		}
	}
	return ids, nil
}
