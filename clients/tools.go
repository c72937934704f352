package clients

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os/exec"
	"strings"
)

// tool runs one of Debian's programs against a RESP port, with what it reads from standard
// input.
func tool(ctx context.Context, name, addr, token, stdin string, args ...string) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fmt.Errorf("clients: %w", err)
	}
	program := exec.CommandContext(ctx, name, append([]string{"-h", host, "-p", port, "-a", token}, args...)...)
	program.Env = append(program.Environ(), "REDISCLI_AUTH="+token)
	program.Stdin = strings.NewReader(stdin)
	var problems strings.Builder
	program.Stderr = &problems
	output, err := program.Output()
	if err != nil {
		return string(output), fmt.Errorf("clients: %s %q: %w: %s", name, args, err, problems.String())
	}
	return string(output), nil
}

// cliCase is one use of redis-cli and what it has to print, somewhere.
type cliCase struct {
	stdin string
	args  []string
	want  string
}

// cliElements is the number of elements of the mass insertion.
const cliElements = 5000

func cliCases(prefix string) []cliCase {
	var mass strings.Builder
	for i := range cliElements {
		key := fmt.Sprintf("%s:mass:%d", prefix, i)
		fmt.Fprintf(&mass, "*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$1\r\nv\r\n", len(key), key)
	}
	return []cliCase{
		{"", []string{"PING"}, "PONG\n"},
		{"", []string{"SET", prefix + ":s", "a value"}, "OK\n"},
		{"", []string{"-c", "GET", prefix + ":s"}, "a value\n"},
		{"from standard input", []string{"-x", "SET", prefix + ":x"}, "OK\n"},
		{"", []string{"GET", prefix + ":x"}, "from standard input\n"},
		{"", []string{"--no-raw", "RPUSH", prefix + ":l", "a", "b"}, "(integer) 2\n"},
		{"", []string{"--no-raw", "LRANGE", prefix + ":l", "0", "-1"}, "1) \"a\"\n2) \"b\"\n"},
		{"", []string{"-3", "--no-raw", "HSET", prefix + ":h", "f", "1.5"}, "(integer) 1\n"},
		{"", []string{"-3", "--no-raw", "HGETALL", prefix + ":h"}, "1# \"f\" => \"1.5\"\n"},
		{"", []string{"-3", "--no-raw", "ZADD", prefix + ":z", "1.5", "m"}, "(integer) 1\n"},
		{"", []string{"-3", "--no-raw", "ZSCORE", prefix + ":z", "m"}, "(double) 1.5\n"},
		{"", []string{"--csv", "SMEMBERS", prefix + ":none"}, "\n"},
		{"MULTI\nINCR " + prefix + ":n\nINCR " + prefix + ":n\nEXEC\n", nil, "OK\nQUEUED\nQUEUED\n1\n2\n"},
		{"NOSUCH\nGET\nPING\n", nil, "PONG\n"},
		{mass.String(), []string{"--pipe"}, fmt.Sprintf("errors: 0, replies: %d", cliElements)},
		{"", []string{"--scan", "--pattern", prefix + ":mass:12"}, prefix + ":mass:12\n"},
		{"", []string{"--bigkeys"}, "Biggest   list found"},
		{"", []string{"CLUSTER", "INFO"}, "cluster_state:ok"},
		{"", []string{"INFO", "server"}, "redis_version:"},
	}
}

// redisCLI uses redis-cli in its ways, each on a node picked at random.
func redisCLI(ctx context.Context, addrs []string, token string) ([]byte, error) {
	for _, c := range cliCases(fmt.Sprintf("client-test:%x", rand.Uint64())) {
		got, err := tool(ctx, "redis-cli", addrs[rand.IntN(len(addrs))], token, c.stdin, c.args...)
		if err != nil {
			return []byte(got), err
		}
		if !strings.Contains(got, c.want) {
			return []byte(got), fmt.Errorf("clients: redis-cli %q does not print %q", c.args, c.want)
		}
	}
	return nil, nil
}

// benchmarks are ways of redis-benchmark; each runs all its tests. Its cluster mode is not
// among them: it wants two masters, and ours is one shard.
var benchmarks = [][]string{
	{"-n", "1000", "-c", "20"},
	{"-n", "1000", "-c", "20", "-P", "16", "-r", "1000", "-3"},
}

// benchmarkTests lists the tests whose lines must be in the output.
var benchmarkTests = []string{"PING_INLINE", "SET", "GET", "INCR", "LPUSH", "RPOP", "SADD", "HSET", "SPOP", "ZADD", "ZPOPMIN", "LRANGE_100 (first 100 elements)", "MSET (10 keys)"}

// redisBenchmark runs redis-benchmark. Its figures are not judged here.
func redisBenchmark(ctx context.Context, addrs []string, token string) ([]byte, error) {
	for i, args := range benchmarks {
		got, err := tool(ctx, "redis-benchmark", addrs[i%len(addrs)], token, "", append(args, "-q")...)
		if err != nil {
			return []byte(got), err
		}
		got = strings.ReplaceAll(got, "\r", "\n")
		for _, name := range benchmarkTests {
			if !strings.Contains(got, "\n"+name+": ") && !strings.HasPrefix(got, name+": ") || strings.Contains(strings.ToLower(got), "error") {
				return []byte(got), fmt.Errorf("clients: redis-benchmark %q did not finish %s", args, name)
			}
		}
	}
	return nil, nil
}
