package peer

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/proc"
)

// Redis is one redis-server without replicas.
type Redis struct {
	Addr  string
	child *proc.Child
	dir   string
	start func() (*proc.Child, error)
}

// StartRedis starts redis-server. With durable it syncs its append-only file
// at every write (`appendfsync always`), otherwise it writes nothing by itself.
// Point-in-time dumps are off in both: they would only slow the peer down.
func (en *Env) StartRedis(ctx context.Context, name string, durable bool) (*Redis, error) {
	bin, err := program("redis-server")
	if err != nil {
		return nil, err
	}
	addr, err := en.Ports.Addr()
	if err != nil {
		return nil, err
	}
	dir, err := en.dir(name)
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(addr)
	args := []string{bin, "--bind", "127.0.0.1", "--port", port, "--dir", dir, "--save", "", "--daemonize", "no"}
	if durable {
		args = append(args, "--appendonly", "yes", "--appendfsync", "always")
	}
	r := &Redis{Addr: addr, dir: dir, start: func() (*proc.Child, error) { return proc.Start(en.Logs, name, nil, args...) }}
	if r.child, err = r.start(); err != nil {
		return nil, err
	}
	if err := r.await(ctx); err != nil {
		return nil, errors.Join(err, r.Stop())
	}
	return r, nil
}

// await waits until the server answers a read, so until it has loaded its data.
func (r *Redis) await(ctx context.Context) error {
	limit, cancel := within(ctx)
	defer cancel()
	return r.child.Await(limit, func() error { _, err := r.Do("GET", "k000000000000"); return err })
}

// Restart kills the server and starts it again with the data that it has saved. It
// returns how long that took from its start to its first answer about a key.
func (r *Redis) Restart(ctx context.Context) (time.Duration, error) {
	if err := r.child.Kill(); err != nil {
		return 0, err
	}
	begin := time.Now()
	child, err := r.start()
	if err != nil {
		return 0, err
	}
	r.child = child
	err = r.await(ctx)
	return time.Since(begin), err
}

// Do runs one command over a connection of its own.
func (r *Redis) Do(args ...string) (string, error) {
	c, err := dialRESP(r.Addr)
	if err != nil {
		return "", err
	}
	defer c.Close()
	return c.do(args...)
}

// Fill writes keys k000000000000 and on, with random values of ValueSize bytes, which redis can't compress, as little as those
// that load.Spec makes.
func (r *Redis) Fill(keys int) error {
	c, err := dialRESP(r.Addr)
	if err != nil {
		return err
	}
	defer c.Close()
	const batch, digits = 1000, 16
	rng := rand.New(rand.NewPCG(1, uint64(keys)))
	for at := 0; at < keys; at += batch {
		n := min(batch, keys-at)
		var b []byte
		for i := range n {
			value := make([]byte, 0, ValueSize+digits)
			for len(value) < ValueSize {
				value = fmt.Appendf(value, "%0*x", digits, rng.Uint64())
			}
			b = appendCommand(b, "SET", fmt.Sprintf("k%012d", at+i), string(value[:ValueSize]))
		}
		if err := c.send(b); err != nil {
			return err
		}
		for range n {
			if _, err := c.read(); err != nil {
				return fmt.Errorf("fill redis: %w", err)
			}
		}
	}
	return nil
}

// Resident is the memory that the server's process has, in bytes.
func (r *Redis) Resident() (float64, error) { return r.child.Resident() }

// Info returns one field of INFO.
func (r *Redis) Info(field string) (string, error) {
	all, err := r.Do("INFO")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(all) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), field+":"); ok {
			return v, nil
		}
	}
	return "", fmt.Errorf("INFO has no %s", field)
}

// Fork saves in the background, waits for its end and returns how long the
// fork held the server up, in `latest_fork_usec`.
func (r *Redis) Fork(ctx context.Context) (time.Duration, error) {
	if _, err := r.Do("BGSAVE"); err != nil {
		return 0, err
	}
	limit, cancel := within(ctx)
	defer cancel()
	if err := r.child.Await(limit, r.saved); err != nil {
		return 0, err
	}
	us, err := r.Info("latest_fork_usec")
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(us)
	return time.Duration(n) * time.Microsecond, err
}

// saved reports whether no background save is under way.
func (r *Redis) saved() error {
	busy, err := r.Info("rdb_bgsave_in_progress")
	if err == nil && busy != "0" {
		err = errors.New("background save under way")
	}
	return err
}

// Stop ends the server and removes its data.
func (r *Redis) Stop() error { return errors.Join(r.child.Kill(), os.RemoveAll(r.dir)) }

// Benchmark runs redis-benchmark against the server; see RunBenchmark.
func (r *Redis) Benchmark(ctx context.Context, n, conns, pipeline, keys int) (float64, error) {
	return RunBenchmark(ctx, r.Addr, "", n, conns, pipeline, keys)
}

// RunBenchmark runs redis-benchmark's SET test against addr, with a password if it isn't
// empty: n requests of ValueSize bytes to random keys below keys, over conns connections,
// pipeline commands at a time. It returns commands a second.
func RunBenchmark(ctx context.Context, addr, password string, n, conns, pipeline, keys int) (float64, error) {
	bin, err := program("redis-benchmark")
	if err != nil {
		return 0, err
	}
	host, port, _ := net.SplitHostPort(addr)
	args := []string{"-h", host, "-p", port, "-t", "set", "-n", strconv.Itoa(n), "-c", strconv.Itoa(conns),
		"-P", strconv.Itoa(pipeline), "-r", strconv.Itoa(keys), "-d", strconv.Itoa(ValueSize), "--csv"}
	if password != "" {
		args = append(args, "-a", password)
	}
	out, err := exec.CommandContext(ctx, bin, args...).Output()
	if err != nil {
		return 0, fmt.Errorf("redis-benchmark: %w", err)
	}
	return benchmarkRate(out)
}

// benchmarkRate takes the rate out of redis-benchmark's CSV, whose first line
// names the columns.
func benchmarkRate(out []byte) (float64, error) {
	rows, err := csv.NewReader(bytes.NewReader(out)).ReadAll()
	if err != nil {
		return 0, fmt.Errorf("redis-benchmark: %w", err)
	}
	for _, row := range rows {
		if len(row) > 1 && row[0] == "SET" {
			return strconv.ParseFloat(row[1], 64)
		}
	}
	return 0, fmt.Errorf("redis-benchmark printed no SET row: %.200s", out)
}
