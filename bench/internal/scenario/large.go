package scenario

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/peer"
)

// largeCommand is a command that looks at, or frees, many elements.
type largeCommand struct {
	name string
	// before prepares one run of it, outside of what is measured; nil if nothing is to be done.
	before func(ctx context.Context, c *peer.Client, n int) error
	run    func(ctx context.Context, c *peer.Client, n int) error
	// ours says that redis-server has no such command.
	ours bool
	// write says that it computes or changes much at one moment, and holds the state for as long as that takes.
	write bool
}

// plain is a command that can be run again and again.
func plain(args ...string) largeCommand {
	return largeCommand{name: args[0], run: func(_ context.Context, c *peer.Client, _ int) error { return c.Run(args...) }}
}

// writing is a command that holds the state.
func writing(l largeCommand) largeCommand {
	l.write = true
	return l
}

// deleting is DEL of a copy of a key.
func deleting(kind, key string) largeCommand {
	return largeCommand{
		name:   "DEL of a " + kind,
		before: func(_ context.Context, c *peer.Client, _ int) error { return c.Run("COPY", key, "copy", "REPLACE") },
		run:    func(_ context.Context, c *peer.Client, _ int) error { return c.Run("DEL", "copy") },
	}
}

// ofJSON is a command on a document of n numbers.
func ofJSON(name string, args ...string) largeCommand {
	return largeCommand{name: name, ours: true, before: fillDocument, run: func(_ context.Context, c *peer.Client, _ int) error { return c.Run(args...) }}
}

// fillDocument makes a document of n numbers.
func fillDocument(_ context.Context, c *peer.Client, n int) error {
	return c.Run("JSON.SET", "document", "$", document(n))
}

func document(n int) string {
	return `{"numbers":[` + strings.TrimSuffix(strings.Repeat("1,", n), ",") + `]}`
}

// script runs a loop of eight rounds for each element, which takes most of --max-script-steps (100,000,000) for a
// million, and reads and writes a key.
func script(command string) largeCommand {
	body := `local sum = tonumber(redis.call('GET', KEYS[1]) or '0') for i = 1, ARGV[1] * 8 do sum = sum + i % 7 end `
	if command == "EVAL" {
		body += `redis.call('SET', KEYS[1], sum % 1000) `
	}
	return largeCommand{name: command, run: func(_ context.Context, c *peer.Client, n int) error {
		return c.Run(command, body+`return sum`, "1", "sum", strconv.Itoa(n))
	}}
}

// expireAll has n keys expire at one time by a command for each, and waits until they are gone.
func expireAll(ctx context.Context, c *peer.Client, n int) error {
	at := expiryOf(n)
	deadline := strconv.FormatInt(at.UnixMilli(), 10)
	if err := fillEach(ctx, c, n, func(key string) []string { return []string{"PEXPIREAT", key, deadline} }); err != nil {
		return err
	}
	sleep(ctx, time.Until(at))
	return untilEmpty(ctx, c, n)
}

// expiryOf returns an expiry time for n keys that are written from now on: after the last of them is written, on an idle machine.
func expiryOf(n int) time.Time {
	return time.Now().Add(200*time.Millisecond + time.Duration(n)*15*time.Microsecond)
}

// largeCommands lists the measured commands, on the keys that fillLarge makes. The last three empty the server.
func largeCommands() []largeCommand {
	return []largeCommand{
		plain("LRANGE", "list", "0", "-1"), plain("HGETALL", "hash"), plain("SMEMBERS", "set"), plain("ZRANGE", "zset", "0", "-1"),
		plain("SINTER", "set", "other"), plain("SORT", "list", "LIMIT", "0", "10"), plain("KEYS", "none*"),
		writing(plain("ZUNIONSTORE", "target", "1", "zset")), writing(plain("SINTERSTORE", "target", "set", "other")),
		deleting("list", "list"), deleting("hash", "hash"), deleting("set", "set"), deleting("sorted set", "zset"),
		ofJSON("JSON.GET", "JSON.GET", "document", "$.numbers[*]"), writing(ofJSON("JSON.SET of a path", "JSON.SET", "document", "$.numbers[*]", "2")),
		writing(ofJSON("JSON.NUMINCRBY", "JSON.NUMINCRBY", "document", "$.numbers[*]", "1")),
		{name: "JSON.SET of a document", ours: true, write: true, run: fillDocument},
		writing(script("EVAL")), script("EVAL_RO"),
		{name: "keys that expire at once", before: fillExpiring, run: untilEmpty},
		{name: "PEXPIREAT of all keys", before: refill, run: expireAll},
		{name: "FLUSHALL", before: fillKeys, run: func(_ context.Context, c *peer.Client, _ int) error { return c.Run("FLUSHALL") }},
	}
}

// fillBatch is the number of elements or commands that are sent together.
const fillBatch = 1000

// fillLarge makes a list, a hash, a sorted set and two sets of n elements, half of which the sets share.
func fillLarge(ctx context.Context, c *peer.Client, n int) error {
	for at := 0; at < n; at += fillBatch {
		if err := ctx.Err(); err != nil {
			return err
		}
		list, hash, zset := []string{"RPUSH", "list"}, []string{"HSET", "hash"}, []string{"ZADD", "zset"}
		set, other := []string{"SADD", "set"}, []string{"SADD", "other"}
		for i := at; i < min(at+fillBatch, n); i++ {
			name := fmt.Sprintf("element:%09d", i)
			list = append(list, strconv.Itoa(i))
			hash = append(hash, name, "value")
			zset = append(zset, strconv.Itoa(i), name)
			set = append(set, name)
			other = append(other, fmt.Sprintf("element:%09d", i+n/2))
		}
		if err := c.RunAll([][]string{list, hash, zset, set, other}); err != nil {
			return err
		}
	}
	return nil
}

// fillEach writes n keys by a command for each.
func fillEach(ctx context.Context, c *peer.Client, n int, command func(key string) []string) error {
	for at := 0; at < n; at += fillBatch {
		if err := ctx.Err(); err != nil {
			return err
		}
		var batch [][]string
		for i := at; i < min(at+fillBatch, n); i++ {
			batch = append(batch, command(fmt.Sprintf("k%012d", i)))
		}
		if err := c.RunAll(batch); err != nil {
			return err
		}
	}
	return nil
}

func fillKeys(ctx context.Context, c *peer.Client, n int) error {
	return fillEach(ctx, c, n, func(key string) []string { return []string{"SET", key, "value"} })
}

// refill empties the server and writes n keys.
func refill(ctx context.Context, c *peer.Client, n int) error {
	if err := c.Run("FLUSHALL"); err != nil {
		return err
	}
	return fillKeys(ctx, c, n)
}

// fillExpiring empties the server, writes n keys that all expire at one time, and waits for it.
func fillExpiring(ctx context.Context, c *peer.Client, n int) error {
	if err := c.Run("FLUSHALL"); err != nil {
		return err
	}
	at := expiryOf(n)
	deadline := strconv.FormatInt(at.UnixMilli(), 10)
	if err := fillEach(ctx, c, n, func(key string) []string { return []string{"SET", key, "value", "PXAT", deadline} }); err != nil {
		return err
	}
	sleep(ctx, time.Until(at))
	return ctx.Err()
}

// untilEmpty waits until the server has only the keys of the probes.
func untilEmpty(ctx context.Context, c *peer.Client, _ int) error {
	for {
		n, err := c.Number("DBSIZE")
		if err != nil || n <= probeKeys {
			return err
		}
		if sleep(ctx, time.Millisecond); ctx.Err() != nil {
			return ctx.Err()
		}
	}
}
