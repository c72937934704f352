// Package clients runs published client libraries, unmodified, against running nodes.
package clients

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// ErrNotInstalled says that a client's packages are missing: run setup.sh.
var ErrNotInstalled = errors.New("clients: packages are not installed, run clients/setup.sh")

// Redis runs the Redis client's program against the nodes at urls, whose keyspace opens
// with token. It gives the program's output; the error is not nil unless every check of
// the program passed.
func Redis(ctx context.Context, urls []string, token string) (output []byte, err error) {
	folder := filepath.Join(here(), "redis")
	if !Installed() {
		return nil, ErrNotInstalled
	}
	program := exec.CommandContext(ctx, "node", "test.mjs")
	program.Dir = folder
	program.Env = append(os.Environ(), "TRIREME_URLS="+strings.Join(urls, ","), "TRIREME_TOKEN="+token)
	output, err = program.CombinedOutput()
	if err != nil {
		return output, fmt.Errorf("clients: node test.mjs: %w", err)
	}
	return output, nil
}

// Installed tells whether the clients' packages are there.
func Installed() bool {
	_, err := os.Stat(filepath.Join(here(), "redis", "node_modules", "@upstash", "redis", "package.json"))
	return err == nil
}

// here is the folder of this file.
func here() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(file)
}
