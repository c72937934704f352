package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trireme-dev/trireme/cli"
	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/consensus/logstore"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/httpapi/console"
	"github.com/trireme-dev/trireme/internal/testclock"
)

// devHeartbeat makes a single node ready at once: its first election waits for one
// heartbeat timeout.
const devHeartbeat = 50 * time.Millisecond

// devRESP is the address of dev's RESP listener, unless the port is taken.
const devRESP = "127.0.0.1:6379"

func devCommand() *cobra.Command {
	s := &settings{}
	cmd := &cobra.Command{
		Use:     "dev",
		Short:   "Run one node for development, on loopback, without any setup",
		Example: "  trireme dev\n  trireme dev --memory --sink",
		Args:    cli.UsageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := load(cmd.Flags()); err != nil {
				return err
			}
			if err := s.checkDev(cmd); err != nil {
				return err
			}
			return s.dev(cmd)
		},
	}
	f := cmd.Flags()
	nodeFlags(f, s)
	f.IntVar(&s.Port, "port", 0, "`PORT` of the HTTP API on 127.0.0.1, instead of --http")
	f.BoolVar(&s.Quiet, "quiet", false, "do not print a line for each delivery")
	f.BoolVar(&s.Memory, "memory", false, "keep data in a temporary directory that is removed at exit")
	f.BoolVar(&s.Sink, "sink", false, "receive deliveries at /test/sink/NAME, and print them")
	f.StringVar(&s.Clock, "clock", "", "clock for tests, `real|frozen|auto`, moved by requests to /test; implies --memory (docs/testing.md)")
	f.BoolVar(&s.Demo, "demo", false, "create sample data to try out the console, and run a small shop that keeps using the node")
	redefault(f, map[string]string{"resp": devRESP, "data-dir": ".trireme", "heartbeat": devHeartbeat.String(), "log-level": "warn", "min-free-disk": devFreeDisk})
	return cmd
}

func (s *settings) checkDev(cmd *cobra.Command) error {
	if err := s.check(); err != nil {
		return err
	}
	set := cmd.Flags().Changed
	if set("port") {
		if set("http") {
			return cli.Usagef("--port and --http both set the address: give one of them")
		}
		if s.Port < 0 || s.Port > 65535 {
			return cli.Usagef("--port must be 0 to 65535, got %d", s.Port)
		}
		s.HTTP = net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port))
	}
	if !loopback(s.HTTP) {
		return cli.Usagef("--http %s is not on loopback: dev serves this machine only, serve serves others", s.HTTP)
	}
	if s.RESP != off && !loopback(s.RESP) {
		return cli.Usagef("--resp %s is not on loopback: dev serves this machine only, serve serves others", s.RESP)
	}
	if s.Clock != "" {
		if _, err := testclock.ParseMode(s.Clock); err != nil {
			return cli.Usagef("--clock: %w", err)
		}
		s.Memory = true
	}
	if s.Memory && set("data-dir") {
		return cli.Usagef("--memory and --data-dir exclude each other: give one of them")
	}
	return nil
}

// dev runs the node. People and scripts read its standard output.
func (s *settings) dev(cmd *cobra.Command) error {
	s.NodeID = devNodeID
	log, err := s.logger(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	if s.Memory {
		dir, err := os.MkdirTemp("", "trireme-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		s.DataDir = dir
	}
	if err := os.MkdirAll(s.DataDir, 0o700); err != nil {
		return s.explainStart(err)
	}
	listener, err := bind(s.HTTP)
	if err != nil {
		return bindError("http", err)
	}
	respListener, busy, err := s.listenRESP(cmd.Flags().Changed("resp"))
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	if busy {
		log.Warn("no RESP listener: its port is in use; choose another with --resp", "resp", s.RESP)
	}
	tokens, err := devCredentials(s.DataDir, s.secret)
	if err != nil {
		return errors.Join(s.explainStart(err), closeAll(listener, respListener))
	}
	keys, err := givenKeys(s.secret)
	if err != nil {
		return errors.Join(err, closeAll(listener, respListener))
	}
	ctx, stop := untilSignal(cmd.Context(), log)
	defer stop()
	d := &devNode{settings: s, login: newLogin(tokens.Admin), tokens: tokens, keys: keys, url: "http://" + listener.Addr().String(), out: cmd.OutOrStdout()}
	if respListener != nil {
		d.resp = respListener.Addr().String()
	}
	closeShop, err := d.openShop(ctx, log)
	if err != nil {
		return errors.Join(err, closeAll(listener, respListener))
	}
	defer closeShop()
	return s.serveNode(ctx, log, listener, respListener, d)
}

func redefault(f *pflag.FlagSet, values map[string]string) {
	for name, value := range values {
		flag := f.Lookup(name)
		if err := flag.Value.Set(value); err != nil {
			panic(fmt.Sprintf("default of --%s: %v", name, err))
		}
		flag.DefValue = value
	}
}

// devNode is the profile of dev.
type devNode struct {
	*settings
	login  *login
	tokens credentials
	keys   queue.Keys // of the environment
	url    string
	resp   string // the address of the RESP listener, empty without
	out    io.Writer
	demo   *demo // nil without
}

// devNodeID is the one node's id, and devAddr its cluster address, at which it does not listen:
// the node is its whole cluster and opens no cluster port.
const (
	devNodeID = "n1"
	devAddr   = "127.0.0.1:0"
)

// devFreeDisk is dev's --min-free-disk. It is small because a developer's disk is often nearly full.
const devFreeDisk = "64MiB"

// singleNodeStall bounds the time that the disk of a single node may hang before the node ends. No other node can take over, so
// it waits longer than a node of a cluster.
const singleNodeStall = time.Minute

func (dn *devNode) options() (cluster.Options, error) {
	return cluster.Options{
		NodeID:    devNodeID,
		Addresses: cluster.Addresses{Bind: devAddr, NoPort: true, HTTP: dn.HTTP},
		Entrance:  cluster.Entrance{InitialCluster: []cluster.Peer{{ID: devNodeID, Addr: devAddr}}},
		Space:     logstore.Space{Reserve: -1}, DiskStall: singleNodeStall,
		Owner: cluster.Owner{Bootstrap: func(bool) (fsm.Bootstrap, bool) { return dn.founding(&dn.tokens), true }},
	}, nil
}

func (dn *devNode) loopbackOnly() bool { return true }

func (dn *devNode) signingKeys() signingKeys {
	k := signingKeys{Keys: devKeys, again: true, out: dn.out}
	if dn.keys != (queue.Keys{}) {
		k.Keys = dn.keys
	}
	return k
}

// settled reports whether the cluster has this start's tokens; until then it has those of the last one.
func (dn *devNode) settled(v *fsm.View) bool { return v.FoundedWith(dn.tokens.digests()) }

// ready prints the addresses and tokens in one write, so that a script that waits for the address finds the rest.
func (dn *devNode) ready(n *cluster.Node) {
	out := &bytes.Buffer{}
	if dn.Clock != "" {
		fmt.Fprintf(out, "TIME IS NOT REAL: --clock %s, and /test/clock moves it\n\n", dn.Clock)
	}
	fmt.Fprintf(out, "Trireme %s is running at %s\n\n", version, dn.url)
	e := shellEnv{url: dn.url, resp: dn.resp, tokens: dn.tokens, keys: dn.signingKeys().Keys}
	if dn.Sink {
		e.sink = dn.url + sinkPath
	}
	e.print(out)
	path, err := e.write(dn.DataDir)
	if err != nil {
		fmt.Fprintln(out, "\nThese lines were not written to a file: "+err.Error())
	} else if !dn.Memory {
		fmt.Fprintf(out, "\nIn another shell, take these variables by: . %s\n", path)
	}
	dn.demo.begin(out)
	printConsole(out, dn.consoleLink())
	n.Machine().View(0, [16]byte{}, func(v *fsm.View) {
		if !v.HoldsAll(dn.tokens.digests()) {
			fmt.Fprintln(out, "\nThe tokens of the database default were reset: those above don't open it any more.")
		}
	})
	_, _ = dn.out.Write(out.Bytes()) // an error means that the output was closed
}

// consoleLink returns the link that signs a browser in, or "" without a console.
func (dn *devNode) consoleLink() string {
	if dn.Console.Mode == off || !console.Available() {
		return ""
	}
	url := dn.url
	if dn.Console.Listen != "" {
		url = "http://" + dn.Console.Listen
	}
	return url + dn.Console.Base + "/#enter=" + dn.login.key
}
