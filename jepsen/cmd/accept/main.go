package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/trireme-dev/trireme/jepsen/attack"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// session holds the resources of a run.
type session struct {
	root     string // the repository
	dir      string // .accept
	line     string // the run's name
	alias    string // its former name, whose first word is the area
	progress *progress
	out      io.Writer
	rounds   int                  // of repeated experiments; 0 means the run's own number
	fuzzTime time.Duration        // a target
	race     bool                 // build the product with the race detector
	cluster  *testcluster.Cluster // see nodes
	previous string               // the version to upgrade from: a tag, a commit or a binary
	next     string               // the binary to upgrade to; empty for the working tree
	flags    []string             // of the nodes, instead of the line's usual ones
	env      []string             // of the nodes, NAME=value
	attacks  []string             // the names of those to try, all if empty
	messages int                  // of waiting-messages; 0 means all
	body     int                  // bytes of the body of each of them; 0 means waitingBody
	damaged  *waitingRun          // the messages of damaged-disk

	databases int // of many-databases; 0 means all
}

func (s *session) printf(format string, args ...any) { fmt.Fprintf(s.out, format+"\n", args...) }

// count is the number of rounds: the run's own, unless the flag says otherwise.
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
func (s *session) nodes(ctx context.Context) (*testcluster.Cluster, error) {
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
	o := testcluster.Options{Binary: binary, Dir: dir, Env: s.env, RESP: strings.HasPrefix(s.alias, "families.")}
	if s.delivers() {
		o.Args = deliveryFlags
	}
	if s.flags != nil {
		o.Args = s.flags
	}
	c, err := testcluster.NewCluster(o)
	if err != nil {
		return nil, err
	}
	s.cluster = c
	if err := c.Start(); err != nil {
		return nil, err
	}
	return c, waitReady(ctx, c, 30*time.Second)
}

// delivers reports whether the line is about messages or workflows.
func (s *session) delivers() bool {
	return strings.HasPrefix(s.alias, "messages.") || strings.HasPrefix(s.alias, "workflows.")
}

// product builds the binary. Lines about messages set the clocks of nodes wrong, which
// takes failpoints.
func (s *session) product() (string, error) {
	return testcluster.Build(filepath.Join(s.dir, "bin"), testcluster.BuildOptions{Race: s.race, Failpoints: s.delivers()})
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
func waitReady(ctx context.Context, c *testcluster.Cluster, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return c.WaitReady(ctx)
}

func main() {
	attack.Main() // in a process of victims
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout))
}

// run parses the flags and performs the line; the result is the exit code.
func run(ctx context.Context, args []string, out io.Writer) int {
	s := &session{out: out}
	flags := flag.NewFlagSet("accept", flag.ContinueOnError)
	flags.StringVar(&s.line, "run", "", "the run to perform; without it all are listed")
	flags.StringVar(&s.line, "line", "", "the same as -run")
	flags.IntVar(&s.rounds, "rounds", 0, "rounds of repeated experiments, instead of the run's own number")
	flags.DurationVar(&s.fuzzTime, "fuzztime", 5*time.Minute, "time for each fuzz target")
	flags.BoolVar(&s.race, "race", false, "build the product with the race detector (its figures then mean little)")
	flags.StringVar(&s.previous, "previous", "", "rolling-upgrade: the version to upgrade from, a binary or a commit; if empty, what testdata/compat/PREVIOUS names")
	flags.StringVar(&s.next, "next", "", "rolling-upgrade: the binary to upgrade to; the working tree, with a raised feature level, if empty")
	flags.IntVar(&s.messages, "messages", 0, "waiting-messages, big-join, long-history, cold-values: how many, if not the number of the run")
	flags.IntVar(&s.body, "body", 0, "waiting-messages, big-join: the length of a body in `BYTES`, if the disk can't hold 4,096 of each")
	flags.IntVar(&s.databases, "databases", 0, "many-databases: how many, instead of 100,000")
	flags.Func("attacks", "attacks: the `NAMES` of those to try, separated by commas (default all)", func(names string) error {
		s.attacks = strings.Split(names, ",")
		return nil
	})
	fresh := flags.Bool("fresh", false, "forget what was finished before")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if s.line == "" {
		list(out)
		return 0
	}
	l := find(s.line)
	if l == nil {
		s.printf("unknown run %q; the runs are:", s.line)
		list(out)
		return 2
	}
	s.line, s.alias = l.name, l.alias
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

// list prints the runs with what each shows.
func list(out io.Writer) {
	for _, r := range acceptances {
		fmt.Fprintf(out, "  %-22s %s\n", r.name, r.about)
	}
}

// open finds the repository and what was finished before.
func (s *session) open(fresh bool) (err error) {
	if s.root, err = testcluster.Root(); err != nil {
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
