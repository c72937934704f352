package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/proc"
)

// ErrMissing says that a peer's program is not installed: its rows are
// reported as such, never left out.
var ErrMissing = errors.New("peer missing")

// startLimit bounds the start of a server.
const startLimit = 60 * time.Second

// Env holds the resources of servers: binaries, folders, ports.
type Env struct {
	Trireme string // path of the product's binary
	Etcd    string // path of the etcd member built from bench/etcd
	Asynq   string // path of the program built from bench/asynq
	NATS    string // path of the program built from bench/nats
	Restate string // path of the program built from bench/restate
	Bleve   string // path of the program built from bench/bleve
	// RestateServer is the folder below which npm has installed the server.
	RestateServer string
	Data          string        // data directories are made below it and removed when their server stops
	Logs          string        // one log file for each process
	Heartbeat     time.Duration // --heartbeat of the three nodes
	Args          []string      // further flags for every node of the product
	Variables     []string      // further environment for every node of the product, NAME=value
	Pprof         bool          // give every node of the product a --pprof address
	Ports         *proc.Ports
}

// dir makes an empty data directory.
func (en *Env) dir(name string) (string, error) {
	path := filepath.Join(en.Data, name)
	if err := os.RemoveAll(path); err != nil {
		return "", err
	}
	return path, os.MkdirAll(path, 0o755)
}

// program finds an installed program or fails with ErrMissing.
func program(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%w: %s", ErrMissing, name)
	}
	return filepath.Abs(path)
}

// admin is the client for everything but load: probes, status, snapshots.
var admin = &http.Client{Timeout: 5 * time.Minute}

// get fetches url with an optional bearer token and wants status 200.
func get(ctx context.Context, url, token string) ([]byte, error) {
	return call(ctx, http.MethodGet, url, token, nil)
}

// call sends one request and wants status 200 or 204.
func call(ctx context.Context, method, url, token string, body io.Reader) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return nil, err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := admin.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	if res.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s %s: status %d: %.200s", method, url, res.StatusCode, b)
	}
	return b, nil
}

// within gives ctx the limit for a server's start.
func within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, startLimit)
}
