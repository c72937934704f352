package main

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// shortDrain is the drain time of nodes in the short form of rolling-proxy.
const shortDrain = 3 * time.Second

// TestRollingProxy is the short form of rolling-proxy: one rolling restart of nodes that drain. It can't be judged where the balancer noticed too late that a node drains, because this machine was busy.
func TestRollingProxy(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the product and starts three processes")
	}
	ctx, out := context.Background(), &bytes.Buffer{}
	s := &session{dir: t.TempDir(), line: "rolling-proxy", out: out}
	binary, err := s.product()
	if err != nil {
		t.Fatal(err)
	}
	p, err := newProxied(ctx, testcluster.Options{Binary: binary, Dir: filepath.Join(s.dir, "nodes"), Env: []string{drainSetting(shortDrain)}}, allRoutes)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	p.report = s.printf
	began := time.Now()
	if err := p.rollTo(ctx, binary, ""); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := p.judge(ctx); err != nil {
		if p.late > shortDrain/3 {
			t.Skipf("the balancer noticed only after %v that a node drains: %v\n%s", p.late, err, out)
		}
		t.Fatalf("%v\n%s", err, out)
	}
	for _, d := range p.clients.routes {
		if d.done.Load() < 100 {
			t.Errorf("%s: %d requests prove nothing", d.name, d.done.Load())
		}
	}
	t.Logf("in %v, noticed within %v; %s", time.Since(began).Round(time.Millisecond), p.late.Round(time.Millisecond), p.clients)
}
