package clients

import (
	"context"
	"strings"
)

// RESPClient is a published client of the Redis protocol.
type RESPClient struct {
	Name string
	// Needs are programs that have to be there.
	Needs []string
	// Run runs its program against the RESP ports at addrs, whose default database opens
	// with token. The error is not nil unless every check has passed.
	Run func(ctx context.Context, addrs []string, token string) (output []byte, err error)
}

// RESPClients lists the clients with a program here.
func RESPClients() []RESPClient {
	npm := []string{"node", "npm"}
	return []RESPClient{
		{"ioredis", npm, javaScript("ioredis.mjs")},
		{"node-redis", npm, javaScript("node-redis.mjs")},
		{"BullMQ", npm, javaScript("bullmq.mjs")},
		{"go-redis", nil, goRedis},
		{"redis-cli", []string{"redis-cli"}, redisCLI},
		{"redis-benchmark", []string{"redis-benchmark"}, redisBenchmark},
	}
}

// javaScript runs a program of the folder resp.
func javaScript(file string) func(context.Context, []string, string) ([]byte, error) {
	return func(ctx context.Context, addrs []string, token string) ([]byte, error) {
		return runIn(ctx, "resp", file, "TRIREME_RESP="+strings.Join(addrs, ","), "TRIREME_TOKEN="+token)
	}
}
