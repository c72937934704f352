package peer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"github.com/trireme-dev/trireme/bench/internal/proc"
)

// Webdis is webdis in front of a redis-server of its own.
type Webdis struct {
	Dialect
	Redis *Redis
	URL   string
	child *proc.Child
	dir   string
}

// StartWebdis starts redis-server with `appendfsync always` and webdis with
// two threads and 20 connections, as performance.md's tables were measured.
func (en *Env) StartWebdis(ctx context.Context) (*Webdis, error) {
	bin, err := program("webdis")
	if err != nil {
		return nil, err
	}
	r, err := en.StartRedis(ctx, "redis-durable", true)
	if err != nil {
		return nil, err
	}
	w, err := en.startWebdis(ctx, bin, r)
	if err != nil {
		return nil, errors.Join(err, r.Stop())
	}
	return w, nil
}

// startWebdis starts the gateway alone, in front of r.
func (en *Env) startWebdis(ctx context.Context, bin string, r *Redis) (*Webdis, error) {
	port, err := en.Ports.Take()
	if err != nil {
		return nil, err
	}
	dir, err := en.dir("webdis")
	if err != nil {
		return nil, err
	}
	path, err := webdisConfig(dir, r.Addr, port)
	if err != nil {
		return nil, err
	}
	child, err := proc.Start(en.Logs, "webdis", nil, bin, path)
	if err != nil {
		return nil, err
	}
	w := &Webdis{Dialect: webdisDialect(), Redis: r, URL: fmt.Sprintf("http://127.0.0.1:%d", port), child: child, dir: dir}
	limit, cancel := within(ctx)
	defer cancel()
	if err := child.Await(limit, func() error { _, err := get(limit, w.URL+"/PING", ""); return err }); err != nil {
		return nil, errors.Join(err, child.Kill())
	}
	return w, nil
}

// webdisConfig writes webdis's configuration and returns its path.
func webdisConfig(dir, redisAddr string, port int) (string, error) {
	_, p, err := net.SplitHostPort(redisAddr)
	if err != nil {
		return "", err
	}
	redisPort, err := strconv.Atoi(p)
	if err != nil {
		return "", err
	}
	config, err := json.Marshal(map[string]any{
		"redis_host": "127.0.0.1", "redis_port": redisPort, "http_host": "127.0.0.1", "http_port": port,
		"threads": 2, "pool_size": 20, "daemonize": false, "database": 0, "verbosity": 0,
		"logfile": filepath.Join(dir, "webdis.log"), "acl": []any{map[string]any{"disabled": []string{"DEBUG"}}},
	})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "webdis.json")
	return path, os.WriteFile(path, config, 0o644)
}

// Stop ends both servers and removes their data.
func (w *Webdis) Stop() error {
	return errors.Join(w.child.Kill(), os.RemoveAll(w.dir), w.Redis.Stop())
}
