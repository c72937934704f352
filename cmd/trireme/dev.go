package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"trireme/cluster"
	"trireme/cluster/logstore"
	"trireme/fsm"
	"trireme/fsm/queue"
)

// devHeartbeat makes a single node ready at once: its first election waits for one
// heartbeat timeout.
const devHeartbeat = 50 * time.Millisecond

// devRESP is where dev opens its RESP listener, unless the port is taken.
const devRESP = "127.0.0.1:6379"

func devCommand() *cobra.Command {
	s := &settings{}
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Run one node for development, on loopback, with nothing to set up",
		Args:  usageArgs(cobra.NoArgs),
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
	f.BoolVar(&s.Memory, "memory", false, "keep nothing: a temporary folder, removed at exit")
	redefault(f, map[string]string{"resp": devRESP, "data-dir": ".trireme", "heartbeat": devHeartbeat.String(), "log-level": "warn"})
	return cmd
}

func (s *settings) checkDev(cmd *cobra.Command) error {
	if err := s.check(); err != nil {
		return err
	}
	set := cmd.Flags().Changed
	if set("port") {
		if set("http") {
			return usagef("--port and --http say the same thing twice: give one of them")
		}
		if s.Port < 0 || s.Port > 65535 {
			return usagef("--port %d is no port", s.Port)
		}
		s.HTTP = net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port))
	}
	if !loopback(s.HTTP) {
		return usagef("--http %s is not on loopback: dev serves this machine only, serve serves others", s.HTTP)
	}
	if s.RESP != off && !loopback(s.RESP) {
		return usagef("--resp %s is not on loopback: dev serves this machine only, serve serves others", s.RESP)
	}
	if s.Memory && set("data-dir") {
		return usagef("--memory keeps nothing and --data-dir says where to keep it: give one of them")
	}
	return nil
}

// dev runs the node; what it prints on standard output is for people and scripts.
func (s *settings) dev(cmd *cobra.Command) error {
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
		return fmt.Errorf("make the data directory: %w", err)
	}
	listener, err := bind(s.HTTP)
	if err != nil {
		return taken("http", err)
	}
	respListener, busy, err := s.listenRESP(cmd.Flags().Changed("resp"))
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	if busy {
		log.Warn("no RESP listener: its port is taken; --resp names another", "resp", s.RESP)
	}
	tokens, err := devCredentials(s.DataDir)
	if err != nil {
		return errors.Join(err, closeAll(listener, respListener))
	}
	keys, err := givenKeys()
	if err != nil {
		return errors.Join(err, closeAll(listener, respListener))
	}
	ctx, stop := untilSignal(cmd.Context(), log)
	defer stop()
	d := &devNode{settings: s, tokens: tokens, keys: keys, url: "http://" + listener.Addr().String(), out: cmd.OutOrStdout()}
	if respListener != nil {
		d.resp = respListener.Addr().String()
	}
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
	tokens credentials
	keys   queue.Keys // of the environment
	url    string
	resp   string // the address of the RESP listener, empty without
	out    io.Writer
}

// devNodeID is the one node's id, and devAddr its cluster address: any port, for
// nobody calls it.
const (
	devNodeID = "n1"
	devAddr   = "127.0.0.1:0"
)

// devSpace asks little of the disk of somebody's own machine, which is often nearly
// full.
var devSpace = logstore.Space{FloorBytes: 64 << 20, AlarmBytes: 256 << 20, Reserve: -1}

func (d *devNode) options() (cluster.Options, error) {
	return cluster.Options{
		NodeID: devNodeID, Bind: devAddr, HTTP: d.HTTP, InitialCluster: []cluster.Peer{{ID: devNodeID, Addr: devAddr}},
		Space:    devSpace,
		Founding: func(bool) (fsm.Founding, bool) { return d.founding(&d.tokens), true },
	}, nil
}

func (d *devNode) loopbackOnly() bool { return true }

func (d *devNode) signingKeys() signingKeys {
	k := signingKeys{Keys: devKeys, again: true, out: d.out}
	if d.keys != (queue.Keys{}) {
		k.Keys = d.keys
	}
	return k
}

// settled waits for the tokens: those of the last start are the cluster's until then.
func (d *devNode) settled(v *fsm.View) bool { return v.Founded() == d.tokens.digests() }

func (d *devNode) ready(n *cluster.Node) {
	fmt.Fprintf(d.out, "Trireme %s is running at %s\n\n", version, d.url)
	for _, line := range append(environment(d.url, d.resp, d.tokens, d.signingKeys().Keys), "", "TRIREME_URL="+d.url, "TRIREME_ADMIN_TOKEN="+d.tokens.Admin) {
		fmt.Fprintln(d.out, line)
	}
	n.Machine().View(0, [16]byte{}, func(v *fsm.View) {
		if v.Tokens() != d.tokens.digests() {
			fmt.Fprintln(d.out, "\nThe tokens of the database default were reset: those above don't open it any more.")
		}
	})
}
