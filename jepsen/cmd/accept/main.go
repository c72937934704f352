// Command accept performs one line of an issue's acceptance list in full length:
//
//	accept -line core.4
//
// It prints figures and ends with PASS or FAIL, exit code 0 or 1. What was
// finished is kept under .accept/, so that an interrupted run goes on where it
// stopped, as long as the code is the same.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"trireme/jepsen/lab"
)

// line performs one acceptance line. An error says what failed.
type line struct {
	about   string
	perform func(ctx context.Context, s *session) error
}

var lines = map[string]line{
	"core.1":      {"a fresh clone runs, answers the first requests, and its tests pass", freshClone},
	"core.2":      {"10,000 writes through any node, each read through another at once", readElsewhere},
	"core.3":      {"the published client, unmodified, against three nodes", clientTests},
	"core.4":      {"kill -9 and graceful stop of the leader under 64 clients", leaderLost},
	"core.5":      {"SIGSTOP of the leader and of a follower for 5 s, readers on all nodes", frozen},
	"core.6":      {"all nodes killed at once with 1,000,000 keys", allKilled},
	"core.7":      {"flipped bits, truncated files, failing disks", damagedDisk},
	"core.8":      {"1,000,000 keys, snapshot under write load: p99.9 of writes", bench("stall")},
	"core.9":      {"two replicas and a third restored midway, 1,000,000 random commands", replicas},
	"core.10":     {"the benchmarks", bench("-install")},
	"core.11":     {"fuzzing, 5 minutes a target", fuzzing},
	"gateway.1":   {"every sentence of the specification, on one node and on any of three", specification},
	"gateway.2":   {"the published client, unmodified, with the token of each kind, on three nodes", publishedClient},
	"gateway.3":   {"tokens revoked while a node is cut off, on all nodes in every mode", revokedTokens},
	"gateway.4":   {"200 subscribers, 10,000 messages from all nodes, two leaders killed", channels},
	"gateway.5":   {"64 clients, 200 mixed requests each, in all forms and formats", longTests("./httpapi", "TestCrowd", "-full")},
	"gateway.6":   {"malformed requests over raw sockets", longTests("./httpapi", "TestMalformedRequests.*", "-full")},
	"gateway.7":   {"amounts moved in transactions while leaders are killed", bank},
	"families.4":  {"ordinary clients of the Redis protocol, unmodified, against three nodes", respClients},
	"families.5":  {"every method of the published client over HTTP, with its values", clientMethods},
	"families.6":  {"100 clients wait on three nodes for 10,000 elements: each once, in turn on a node", blockingPops},
	"families.9":  {"a file of 1,000,000 keys from redis-server: imported, dumped, restored in another one", importing},
	"families.2":  {"1,000,000 random commands through each door, compared with redis-server", fidelity},
	"families.3":  {"two replicas and a restored third, 1,000,000 random commands", replicas},
	"messages.3":  {"100,000 messages from 64 clients, a fifth of the attempts fails, the leader killed every 2 s", deliveredOnce},
	"messages.4":  {"a queue of 5,000 messages in order, with failures and three leaders killed", inOrder},
	"messages.5":  {"50 schedules through 10 leaders killed and clocks an hour wrong", onTime},
	"messages.6":  {"flow control: rates and parallelism, in peace and with leaders killed", flowControlled},
	"messages.7":  {"64 publications of one id at once, also while a leader is killed", onceOnly},
	"messages.8":  {"10,000 transactions that count and publish, with leaders killed", outbox},
	"workflows.1": {"the published client of workflows, the newest and an old release, unmodified, on three nodes", workflowClients},
	"workflows.2": {"every rule of the specification about workflows, on any of three nodes", longTests("./httpapi/workflows/spectest", "Test.*")},
	"workflows.3": {"200 runs of 10 steps of mixed types, a tenth of the calls fails, the leader killed every 5 s", mixedRuns},
	"workflows.4": {"1,000 waiters: notify, timeout and cancel at the same moment", waitRace},
	"workflows.5": {"resume: finished steps, two at once, 120 in bulk", revivedRuns},
	"workflows.7": {"workflows of three empty steps beside Restate, and what a finished step costs", workflowCost},
	"workflows.8": {"what a run costs as it grows to 1,000 steps", bench("workflows")},
	"workflows.6": {"all three nodes killed at 100 moments of the lives of runs", outages},
	"core.12":     {"no leadership change in a fault-free minute under full load", bench("steady")},
	"operate.1":   {"nodes join, leave and are replaced, certificates are renewed, every node is upgraded, under load", operate},
	"operate.2":   {"two clusters never merge; a wrong key, certificate or cluster id is refused with its reason", refusedStrangers},
	"operate.3":   {"backups under load, restored on three nodes; harmed files; leaders killed during a restore", backups},
	"operate.6":   {"what docs/operations.md says step by step: three nodes with TLS, one lost and replaced, a backup restored", scripts("walkthrough|restore")},

	"families.8":    {"hostile scripts: bounded, the same on all nodes, which live", hostileScripts},
	"reliability.3": {"every seeded fault of the product is found within 90 seconds", seededFaults},
	"reliability.7": {"upgraded and downgraded node by node under load; no way back after the level has risen", rolling},
	"reliability.4": {"500,000 simulated histories of a cluster, none of which breaks a rule", simulation},

	"families.10": {"the parsers: fuzzed for 5 minutes a target, and their time as what they read grows", parsers},
	"messages.9":  {"how soon a message arrives, and what a million that wait cost", bench("messages")},
	"messages.10": {"destinations that do the worst they can, and one that doesn't", hostile},
}

// session is what a line works with.
type session struct {
	root     string // the repository
	dir      string // .accept
	line     string
	progress *progress
	out      io.Writer
	rounds   int           // of repeated experiments; 0 means the line's own number
	fuzzTime time.Duration // a target
	race     bool          // build the product with the race detector
	cluster  *lab.Cluster  // see nodes
	previous string        // the version to upgrade from: a tag, a commit or a binary
	next     string        // the binary to upgrade to; empty for the working tree
	flags    []string      // of the nodes, instead of the line's usual ones
	env      []string      // of the nodes, NAME=value
}

func (s *session) printf(format string, args ...any) { fmt.Fprintf(s.out, format+"\n", args...) }

// count is the number of rounds: the line's own, unless the flag says otherwise.
func (s *session) count(own int) int {
	if s.rounds > 0 {
		return s.rounds
	}
	return own
}

// scratch makes an empty folder for this line's data.
func (s *session) scratch() (string, error) {
	dir := filepath.Join(s.dir, "data", s.line)
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	return dir, os.MkdirAll(dir, 0o755)
}

// nodes is the line's cluster, built and started when a round first needs it.
func (s *session) nodes(ctx context.Context) (*lab.Cluster, error) {
	if s.cluster != nil {
		return s.cluster, nil
	}
	binary, err := s.product()
	if err != nil {
		return nil, err
	}
	dir, err := s.scratch()
	if err != nil {
		return nil, err
	}
	o := lab.Options{Binary: binary, Dir: dir, Env: s.env, RESP: strings.HasPrefix(s.line, "families.")}
	if s.delivers() {
		o.Args = deliveryFlags
	}
	if s.flags != nil {
		o.Args = s.flags
	}
	c, err := lab.NewCluster(o)
	if err != nil {
		return nil, err
	}
	s.cluster = c
	if err := c.Start(); err != nil {
		return nil, err
	}
	return c, waitReady(ctx, c, 30*time.Second)
}

// delivers tells whether the line is about messages or workflows.
func (s *session) delivers() bool {
	return strings.HasPrefix(s.line, "messages.") || strings.HasPrefix(s.line, "workflows.")
}

// product builds the binary. Lines about messages set the clocks of nodes wrong, which
// takes failpoints.
func (s *session) product() (string, error) {
	return lab.Build(filepath.Join(s.dir, "bin"), lab.BuildOptions{Race: s.race, Failpoints: s.delivers()})
}

// close ends the cluster and reports nodes that ended by themselves.
func (s *session) close() error {
	if s.cluster == nil {
		return nil
	}
	s.cluster.Close()
	var all []error
	for _, c := range s.cluster.Crashes() {
		all = append(all, fmt.Errorf("%s ended by itself with exit code %d; its log ends:\n%s", c.Node, c.ExitCode, c.Log))
	}
	return errors.Join(all...)
}

// waitReady waits for all nodes.
func waitReady(ctx context.Context, c *lab.Cluster, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return c.WaitReady(ctx)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout))
}

// run parses the flags and performs the line; the result is the exit code.
func run(ctx context.Context, args []string, out io.Writer) int {
	s := &session{out: out}
	flags := flag.NewFlagSet("accept", flag.ContinueOnError)
	flags.StringVar(&s.line, "line", "", "the line to perform: "+strings.Join(slices.Sorted(maps.Keys(lines)), ", "))
	flags.IntVar(&s.rounds, "rounds", 0, "rounds of repeated experiments, instead of the line's own number")
	flags.DurationVar(&s.fuzzTime, "fuzztime", 5*time.Minute, "time for each fuzz target")
	flags.BoolVar(&s.race, "race", false, "build the product with the race detector (its figures then mean little)")
	flags.StringVar(&s.previous, "previous", "", "reliability.7: the version to upgrade from, a binary or a commit; if empty, what testdata/compat/PREVIOUS names")
	flags.StringVar(&s.next, "next", "", "reliability.7: the binary to upgrade to; the working tree, with a raised feature level, if empty")
	fresh := flags.Bool("fresh", false, "forget what was finished before")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	l, known := lines[s.line]
	if !known {
		s.printf("unknown line %q; known are %s", s.line, strings.Join(slices.Sorted(maps.Keys(lines)), ", "))
		return 2
	}
	if err := s.open(*fresh); err != nil {
		s.printf("accept: %v", err)
		return 2
	}
	s.printf("%s: %s", s.line, l.about)
	began := time.Now()
	if err := errors.Join(l.perform(ctx, s), s.close()); err != nil {
		s.printf("%v", err)
		s.printf("FAIL %s after %v", s.line, time.Since(began).Round(time.Second))
		return 1
	}
	s.printf("PASS %s after %v", s.line, time.Since(began).Round(time.Second))
	return 0
}

// open finds the repository and what was finished before.
func (s *session) open(fresh bool) (err error) {
	if s.root, err = lab.Root(); err != nil {
		return err
	}
	s.dir = filepath.Join(s.root, ".accept")
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return err
	}
	s.progress, err = openProgress(filepath.Join(s.dir, s.line+".json"), s.identity(), fresh)
	if err == nil && s.progress.resumed() > 0 {
		s.printf("resuming: %d rounds were finished before (-fresh starts over)", s.progress.resumed())
	}
	return err
}
