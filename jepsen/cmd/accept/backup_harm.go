package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/jepsen/history"
)

// harm flips bits of the file, and cuts it, and has each found by verify and by a node that it is sent to. Then the node
// takes the file itself.
func (k *keeper) harm(ctx context.Context, f taken) error {
	for i := range k.plan.verifies {
		for _, bad := range harmed(f.content, i, k.plan.verifies) {
			if err := os.WriteFile(filepath.Join(k.dir, "bad.backup"), bad, 0o600); err != nil {
				return err
			}
			if _, err := k.tool(ctx, nil, "backup", "verify", filepath.Join(k.dir, "bad.backup")); err == nil || strings.Contains(err.Error(), "panic") {
				k.fail("verify of a file harmed at place %d of %d: %v", i, k.plan.verifies, err)
			}
			k.r.Verified++
		}
	}
	c, err := k.cluster(ctx, "harmed")
	if err != nil {
		return err
	}
	defer k.end(c)
	for i := range k.plan.restores {
		for _, bad := range harmed(f.content, i, k.plan.restores) {
			status, outcome, body, err := c.Nodes[i%3].Admin().Call(ctx, http.MethodPost, "/admin/restore", nil, bad)
			if err != nil || status != http.StatusBadRequest || outcome != "not-applied" {
				k.fail("restore of a file harmed at place %d of %d: %d %s %.200s %v", i, k.plan.restores, status, outcome, body, err)
			}
			k.r.Refused++
		}
	}
	if r := c.Nodes[1].Client().Do(ctx, "DBSIZE"); r.Outcome != history.OK || string(r.Result) != "0" {
		k.fail("after refused restores there are keys: %s %s", r.Outcome, r.Result)
	}
	if _, err := k.tool(ctx, c.Nodes[0], "restore", f.path); err != nil {
		return err
	}
	k.compare(ctx, c, f)
	return nil
}

// harmed is the file with a flipped bit, and cut, at place i of n.
func harmed(file []byte, i, n int) [][]byte {
	at := i * (len(file) - 1) / max(n-1, 1)
	flipped := bytes.Clone(file)
	flipped[at] ^= 1 << (i % 8)
	return [][]byte{flipped, file[:at]}
}

// killLeaders restores while the leader is killed: what was told to be restored is, what was refused has changed nothing,
// and either way all nodes agree.
func (k *keeper) killLeaders(ctx context.Context, f taken) error {
	r := rand.New(rand.NewPCG(5, 7))
	for i := range k.plan.kills {
		if err := k.killLeader(ctx, i, time.Duration(r.IntN(600))*time.Millisecond, f); err != nil {
			return err
		}
		k.r.Kills++
	}
	return nil
}

func (k *keeper) killLeader(ctx context.Context, i int, after time.Duration, f taken) error {
	c, err := k.cluster(ctx, fmt.Sprintf("killed%d", i+1))
	if err != nil {
		return err
	}
	defer k.end(c)
	leader, err := c.WaitLeader(ctx)
	if err != nil {
		return err
	}
	asked := c.Nodes[(leader.Node+1)%3]
	done := make(chan error, 1)
	go func() {
		_, err := k.tool(ctx, asked, "restore", f.path)
		done <- err
	}()
	sleep(ctx, after)
	if err := c.Nodes[leader.Node].Kill(); err != nil {
		return err
	}
	result := <-done
	if err := errors.Join(c.Nodes[leader.Node].Start(), waitReady(ctx, c, time.Minute)); err != nil {
		return err
	}
	r := c.Nodes[leader.Node].Client().Do(ctx, "DBSIZE")
	switch {
	case result == nil:
	case string(r.Result) == "0":
		k.s.printf("  the leader was killed after %v: %v; once more", after, result)
		if _, err := k.tool(ctx, asked, "restore", f.path); err != nil {
			return err
		}
	default:
		k.fail("told %v, and there are %s keys", result, r.Result)
	}
	k.compare(ctx, c, f)
	return nil
}
