package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/peer"
	"github.com/trireme-dev/trireme/bench/internal/proc"
	"github.com/trireme-dev/trireme/bench/internal/scenario"
	"github.com/trireme-dev/trireme/internal/certs"
)

// settings are the flags that every measuring subcommand knows.
type settings struct {
	rows, dir      string
	pairs          int
	seconds        time.Duration
	profile        string
	install        bool
	writes         string
	busy           int
	quiet          time.Duration
	commands       string
	kills, clients int
	binaries
	nodeSettings
	loadSizes
	results
}

// binaries are the paths of the programs that are measured.
type binaries struct {
	bin, etcd, asynq, nats, restate, restateServer, bleve string
}

// nodeSettings say how the product's nodes run.
type nodeSettings struct {
	args      string // further flags, separated by spaces
	heartbeat time.Duration
	tls       bool
}

// loadSizes are the numbers of what the rows load before they measure.
type loadSizes struct {
	keys, bigKeys, vectors, documents int
}

// results say where the figures go, and which of those already there stay.
type results struct {
	out                     string
	merge, resume, markdown bool
}

// define declares the flags with their defaults.
func (s *settings) define(fs *flag.FlagSet) {
	fs.StringVar(&s.rows, "rows", strings.Join(scenario.Numbers(), ","), "numbers of the rows to measure")
	fs.IntVar(&s.pairs, "pairs", 7, "interleaved pairs a row; below 7 nothing is proven")
	seconds := func(v string) error {
		d, err := time.ParseDuration(v + "s")
		s.seconds = d
		return err
	}
	s.seconds = 3 * time.Second
	fs.Func("seconds", "counted seconds of one measurement (default 3)", seconds)
	fs.StringVar(&s.bin, "bin", "bin/trireme", "the product's binary")
	fs.StringVar(&s.etcd, "etcd", "bin/etcd-member", "the etcd member built from bench/etcd")
	fs.StringVar(&s.asynq, "asynq", "bin/asynq", "the program built from bench/asynq")
	fs.StringVar(&s.nats, "nats", "bin/nats", "the program built from bench/nats")
	fs.StringVar(&s.restate, "restate", "bin/restate", "the program built from bench/restate")
	fs.StringVar(&s.restateServer, "restate-server", "bench/restate", "folder where npm has installed Restate's server")
	fs.StringVar(&s.bleve, "bleve", "bin/bleve", "the program built from bench/bleve")
	fs.StringVar(&s.dir, "dir", ".bench", "folder for data (removed) and logs (kept)")
	fs.StringVar(&s.out, "out", "", "JSON results (default DIR/results.json)")
	fs.BoolVar(&s.merge, "merge", false, "keep the rows already in -out that are not measured now")
	fs.BoolVar(&s.resume, "resume", false, "as -merge, and measure only rows that have no figure in -out yet; judge all")
	fs.BoolVar(&s.markdown, "markdown", false, "measure nothing, print -out as a Markdown table")
	fs.BoolVar(&s.install, "install", false, "install missing peers with apt-get when run by root")
	fs.StringVar(&s.args, "args", "", "further flags for every node of ours, separated by spaces")
	fs.BoolVar(&s.tls, "tls", false, "our three nodes share a secret, so that their connections are TLS (etcd's are not)")
	fs.DurationVar(&s.heartbeat, "heartbeat", 500*time.Millisecond, "--heartbeat of the three nodes")
	fs.StringVar(&s.writes, "writes", "leader", "where rows 1 to 3 and 6 write, in ours and in etcd: leader or all")
	fs.IntVar(&s.keys, "keys", 100_000, "keys in the rows that load over HTTP")
	fs.IntVar(&s.bigKeys, "big-keys", 1_000_000, "keys in row 9 and in stall")
	fs.IntVar(&s.vectors, "vectors", 100_000, "vectors in row 19, of 1,536 bytes each, here and in the node")
	fs.IntVar(&s.documents, "documents", 5_000, "documents in row 20")
	fs.IntVar(&s.kills, "kills", 20, "leader kills in row 8")
	fs.IntVar(&s.clients, "kill-clients", 64, "connections that write meanwhile")
	fs.DurationVar(&s.quiet, "quiet", time.Minute, "length of row 18, stall and steady")
	fs.IntVar(&s.busy, "busy", 8, "busy loops beside row 18")
	fs.StringVar(&s.commands, "commands", "", "beside: only these large commands, such as \"LRANGE,DEL of a list\" (default all)")
	fs.StringVar(&s.profile, "profile", "", "folder for processor profiles of the leader (nodes get --pprof)")
}

// check refuses values that make no sense and fills in defaults.
func (s *settings) check() error {
	if s.out == "" {
		s.out = filepath.Join(s.dir, "results.json")
	}
	if s.pairs < 1 || s.seconds <= 0 || s.keys < 1 || s.bigKeys < 1 || s.vectors < 1 || s.documents < 1 || s.kills < 1 || s.clients < 1 || s.busy < 0 || s.quiet <= 0 {
		return fmt.Errorf("-pairs, -seconds, -keys, -big-keys, -vectors, -documents, -kills, -kill-clients and -quiet must be above zero")
	}
	if s.writes != "leader" && s.writes != "all" {
		return fmt.Errorf("-writes is leader or all, not %q", s.writes)
	}
	for _, id := range s.wanted() {
		if !slices.Contains(scenario.Numbers(), id) {
			return fmt.Errorf("no row %q; there are %s", id, strings.Join(scenario.Numbers(), ", "))
		}
	}
	return nil
}

// wanted are the numbers of -rows.
func (s *settings) wanted() []string {
	return strings.FieldsFunc(s.rows, func(r rune) bool { return r == ',' || r == ' ' })
}

// bench makes the run's settings and the env it takes place in.
func (s *settings) bench() (*scenario.Bench, error) {
	ports, err := proc.NewPorts()
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(s.dir)
	if err != nil {
		return nil, err
	}
	env := &peer.Env{
		Trireme: s.bin, Etcd: s.etcd, Asynq: s.asynq, NATS: s.nats, Restate: s.restate, RestateServer: s.restateServer, Bleve: s.bleve, Data: filepath.Join(dir, "data"), Logs: filepath.Join(dir, "logs"),
		Heartbeat: s.heartbeat, Args: strings.Fields(s.args), Pprof: s.profile != "", Ports: ports,
	}
	if s.tls {
		env.Variables = append(env.Variables, "TRIREME_CLUSTER_SECRET="+certs.NewSecret())
	}
	return &scenario.Bench{
		Env: env, Pairs: s.pairs, Duration: s.seconds, Warm: 500 * time.Millisecond, Keys: s.keys, BigKeys: s.bigKeys, Vectors: s.vectors, Documents: s.documents,
		Kills: s.kills, KillClients: s.clients, Quiet: s.quiet, BusyLoops: s.busy, WritesToAll: s.writes == "all",
		Profile: s.profile, Commands: s.commands, Self: self, Servers: map[string]string{}, Log: logTo(os.Stderr),
	}, nil
}

// logTo prints progress with the time since the start.
func logTo(f *os.File) func(string, ...any) {
	begin := time.Now()
	return func(format string, args ...any) {
		fmt.Fprintf(f, "%6.1fs  %s\n", time.Since(begin).Seconds(), fmt.Sprintf(format, args...))
	}
}
