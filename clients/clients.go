package clients

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrNotInstalled says that a client's packages are missing: run setup.sh.
var ErrNotInstalled = errors.New("clients: packages are not installed, run clients/setup.sh")

// Redis runs the Redis client's program against the nodes at urls, whose keyspace opens
// with token. It gives the program's output; the error is not nil unless every check of
// the program passed.
func Redis(ctx context.Context, urls []string, token string) (output []byte, err error) {
	return run(ctx, "redis", "test.mjs", urls, "TRIREME_TOKEN="+token)
}

// ReadOnly runs the Redis client's program for Read Only tokens; token, a Standard one of
// the same database, prepares what is read.
func ReadOnly(ctx context.Context, urls []string, readOnly, token string) (output []byte, err error) {
	return run(ctx, "redis", "readonly.mjs", urls, "TRIREME_READONLY_TOKEN="+readOnly, "TRIREME_TOKEN="+token)
}

// Methods runs every method that the Redis client has against the nodes at urls, whose
// default database opens with token. It empties that database.
func Methods(ctx context.Context, urls []string, token string) (output []byte, err error) {
	return run(ctx, "redis", "methods.mjs", urls, "TRIREME_TOKEN="+token)
}

// Search runs the search of the Redis client against the nodes at urls, whose default
// database opens with token. It empties that database.
func Search(ctx context.Context, urls []string, token string) (output []byte, err error) {
	return run(ctx, "redis", "search.mjs", urls, "TRIREME_TOKEN="+token)
}

// Limits runs the published rate limiter and lock, which are built on the Redis client,
// against the nodes at urls, whose default database opens with token.
func Limits(ctx context.Context, urls []string, token string) (output []byte, err error) {
	return run(ctx, "redis", "limits.mjs", urls, "TRIREME_TOKEN="+token)
}

// Messages runs the program of the client of messages against the nodes at urls, whose
// /v2 opens with token.
func Messages(ctx context.Context, urls []string, token string) (output []byte, err error) {
	return run(ctx, "qstash", "test.mjs", urls, "TRIREME_MESSAGES_TOKEN="+token)
}

// MessagesDev runs the client of messages in its development mode: it has to find the
// server for development that listens on that port of 127.0.0.1 by itself.
func MessagesDev(ctx context.Context, port string) (output []byte, err error) {
	return runIn(ctx, "qstash", "dev.mjs", "QSTASH_DEV=true", "QSTASH_DEV_PORT="+port)
}

// Workflows runs the program of the client of workflows against the nodes at urls, whose
// /v2 opens with token: with the newest release, or with the last one of 0.2 if old.
func Workflows(ctx context.Context, urls []string, token string, old bool) (output []byte, err error) {
	release := "./sdk.mjs"
	if old {
		release = "../workflow02/sdk.mjs"
	}
	return run(ctx, "workflow", "test.mjs", urls, "TRIREME_MESSAGES_TOKEN="+token, "TRIREME_SDK="+release)
}

// Commits runs a workflow and a destination that bring commands, with the tokens of /v2 and of the keyspace.
func Commits(ctx context.Context, urls []string, messages, standard string) (output []byte, err error) {
	return run(ctx, "workflow", "commits.mjs", urls, "TRIREME_MESSAGES_TOKEN="+messages, "TRIREME_TOKEN="+standard)
}

// States runs the workflow that sets its state, takes updates and keeps events.
func States(ctx context.Context, urls []string, messages, standard string) (output []byte, err error) {
	return run(ctx, "workflow", "states.mjs", urls, "TRIREME_MESSAGES_TOKEN="+messages, "TRIREME_TOKEN="+standard)
}

// Deployments runs a workflow that stays on its deployment, and is moved.
func Deployments(ctx context.Context, urls []string, messages string) (output []byte, err error) {
	return run(ctx, "workflow", "deployments.mjs", urls, "TRIREME_MESSAGES_TOKEN="+messages)
}

// run runs a program of a folder; nodes are their URLs.
func run(ctx context.Context, folder, file string, nodes []string, env ...string) (output []byte, err error) {
	return runIn(ctx, folder, file, append(env, "TRIREME_URLS="+strings.Join(nodes, ","))...)
}

func runIn(ctx context.Context, folder, file string, env ...string) (output []byte, err error) {
	if !Installed() {
		return nil, ErrNotInstalled
	}
	program := exec.CommandContext(ctx, "node", file)
	program.Dir = filepath.Join(here(), folder)
	program.Env = append(os.Environ(), env...)
	output, err = program.CombinedOutput()
	if err != nil {
		return output, fmt.Errorf("clients: node %s: %w", file, err)
	}
	return output, nil
}

// Installed reports whether the clients' packages are there.
func Installed() bool {
	for _, path := range []string{"redis/node_modules/@upstash/ratelimit", "qstash/node_modules/@upstash/qstash",
		"workflow/node_modules/@upstash/workflow", "workflow02/node_modules/@upstash/workflow", "resp/node_modules/ioredis"} {
		if _, err := os.Stat(filepath.Join(here(), filepath.FromSlash(path), "package.json")); err != nil {
			return false
		}
	}
	return true
}

// here returns the clients folder of the checkout that the working directory is in: the
// folder beside go.mod. The path of this source would not do, as -trimpath shortens it. It
// is empty outside a checkout.
func here() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "clients")
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}
