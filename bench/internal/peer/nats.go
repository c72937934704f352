package peer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/proc"
)

// NATS is three NATS servers with JetStream, which sync every message.
type NATS struct {
	bin      string
	urls     []string
	children []*proc.Child
	dirs     []string
}

// natsServers is the size of the peer cluster, the same as ours.
const natsServers = 3

// StartNATS starts three servers from the program built from bench/nats.
func (en *Env) StartNATS(ctx context.Context) (*NATS, error) {
	bin, err := program(en.NATS)
	if err != nil {
		return nil, err
	}
	addrs, err := en.Ports.Addrs(2 * natsServers)
	if err != nil {
		return nil, err
	}
	n := &NATS{bin: bin}
	var routes []string
	for i := range natsServers {
		n.urls = append(n.urls, "nats://"+addrs[i])
		routes = append(routes, "nats://"+addrs[natsServers+i])
	}
	for i := range natsServers {
		name := fmt.Sprintf("nats-s%d", i+1)
		dir, err := en.dir(name)
		if err != nil {
			return nil, errors.Join(err, n.Stop())
		}
		child, err := proc.Start(en.Logs, name, nil, bin, "serve", "-name", name, "-dir", dir,
			"-client", addrs[i], "-route", addrs[natsServers+i], "-routes", strings.Join(routes, ","))
		if err != nil {
			return nil, errors.Join(err, n.Stop())
		}
		n.children, n.dirs = append(n.children, child), append(n.dirs, dir)
	}
	limit, cancel := within(ctx)
	defer cancel()
	for i, c := range n.children {
		if err := c.Await(limit, func() error { return reachable(addrs[i]) }); err != nil {
			return nil, errors.Join(err, n.Stop())
		}
	}
	return n, nil
}

// reachable reports whether a process listens.
func reachable(addr string) error {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err == nil {
		c.Close()
	}
	return err
}

// Publish has clients publish to a replicated stream for a while, one message each at a
// time, and returns the acknowledgements a second.
func (n *NATS) Publish(ctx context.Context, clients int, length time.Duration) (float64, error) {
	out, err := exec.CommandContext(ctx, n.bin, "publish", "-servers", strings.Join(n.urls, ","),
		"-clients", strconv.Itoa(clients), "-for", length.String(), "-size", strconv.Itoa(ValueSize)).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("nats: %w: %.300s", err, out)
	}
	return strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
}

// Stop ends the servers and removes their data.
func (n *NATS) Stop() error {
	var errs []error
	for _, c := range n.children {
		errs = append(errs, c.Kill())
	}
	for _, d := range n.dirs {
		errs = append(errs, os.RemoveAll(d))
	}
	return errors.Join(errs...)
}
