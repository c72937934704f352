package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/trireme-dev/trireme/cli"
	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
)

func serveCommand() *cobra.Command {
	s := &settings{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run one node of a cluster",
		Long: "Runs one node of a cluster. Every flag has a variable (--data-dir is TRIREME_DATA_DIR) and a key in\n" +
			"the YAML file of --config; a flag overrides the variable, the variable overrides the file.",
		Example: "  trireme serve --config /etc/trireme/trireme.yaml\n  trireme serve --node-id n1 --data-dir /var/lib/trireme --initial-cluster n1=127.0.0.1:7080",
		Args:    cli.UsageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := load(cmd.Flags()); err != nil {
				return err
			}
			if err := s.checkServe(); err != nil {
				return err
			}
			return s.serve(cmd)
		},
	}
	nodeFlags(cmd.Flags(), s)
	clusterFlags(cmd.Flags(), s)
	return cmd
}

func (s *settings) serve(cmd *cobra.Command) error {
	log, err := s.logger(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	log = log.With("node", s.NodeID)
	given, err := givenCredentials(s.secret)
	if err != nil {
		return err
	}
	if s.isNew() && !s.clientsOnLoopback() {
		if err := given.refuseShort(); err != nil {
			return err
		}
	}
	keys, err := givenKeys(s.secret)
	if err != nil {
		return err
	}
	security, err := s.security(log)
	if err != nil {
		return err
	}
	listener, respListener, err := s.listen(log)
	if err != nil {
		return err
	}
	ctx, stop := untilSignal(cmd.Context(), log)
	defer stop()
	return s.serveNode(ctx, log, listener, respListener, &clusterNode{settings: s, log: log, security: security, given: given, keys: keys, out: cmd.OutOrStdout()})
}

// clientsOnLoopback reports whether the ports for clients are on loopback. There, a token short enough to be guessed causes
// a warning; elsewhere it is refused.
func (s *settings) clientsOnLoopback() bool {
	return loopback(s.HTTP) && (s.RESP == off || loopback(s.RESP))
}

// isNew reports whether this node will found a cluster: its data directory holds none yet, and it joins none.
func (s *settings) isNew() bool {
	entries, err := os.ReadDir(s.DataDir)
	return len(s.Join) == 0 && (len(entries) == 0 || errors.Is(err, fs.ErrNotExist))
}

// listen opens the listeners for clients. resp is nil if --resp is off.
func (s *settings) listen(log *slog.Logger) (http, resp net.Listener, err error) {
	config, err := s.certificate(log)
	if err != nil {
		return nil, nil, err
	}
	if http, err = bind(s.HTTP); err != nil {
		return nil, nil, bindError("http", err)
	}
	if resp, _, err = s.listenRESP(true); err != nil {
		return nil, nil, errors.Join(err, http.Close())
	}
	if config != nil {
		http = tls.NewListener(http, config)
	}
	return http, resp, nil
}

// clusterNode is the profile of serve.
type clusterNode struct {
	*settings
	log      *slog.Logger
	security *cluster.Security
	given    credentials
	keys     queue.Keys // of the environment
	out      io.Writer

	mu    sync.Mutex
	drawn *credentials // all tokens, once this node was asked to bootstrap
}

func (cn *clusterNode) options() (cluster.Options, error) {
	peers, err := parsePeers(cn.InitialCluster)
	if err != nil {
		return cluster.Options{}, err
	}
	key, err := cn.gossipKey()
	if err != nil {
		return cluster.Options{}, err
	}
	return cluster.Options{
		NodeID: cn.NodeID, Security: cn.security,
		Addresses: cluster.Addresses{Bind: cn.Cluster, Advertise: cn.ClusterAdvertise, HTTP: cn.HTTPAdvertise, Gossip: cn.Gossip},
		Entrance:  cluster.Entrance{InitialCluster: peers, Join: cn.Join, Replace: cn.Replace, GossipKey: key},
		Owner:     cluster.Owner{Bootstrap: cn.bootstrap},
	}, nil
}

// bootstrap returns the tokens of a new cluster. It writes generated ones to a file before the
// cluster has them, so that a crash never leaves a cluster with unknown tokens.
func (cn *clusterNode) bootstrap(first bool) (fsm.Bootstrap, bool) {
	if !first {
		return fsm.Bootstrap{}, false
	}
	cn.mu.Lock()
	defer cn.mu.Unlock()
	if cn.drawn == nil {
		tokens := cn.given
		drawn := tokens.complete()
		cn.drawn = &tokens
		if err := cn.keep(drawn); err != nil {
			cn.drawn = nil
			cn.log.Error("no cluster is bootstrapped with tokens that nobody could read", "error", err)
			return fsm.Bootstrap{}, false
		}
	}
	f := cn.founding(cn.drawn)
	f.Keys = cn.keys
	return f, false
}

// keep writes generated tokens to a file of this node.
func (cn *clusterNode) keep(drawn []credential) error {
	if len(drawn) == 0 {
		return nil
	}
	lines, names := make([]string, len(drawn)), make([]string, len(drawn))
	for i, one := range drawn {
		lines[i], names[i] = one.variable+"="+*one.token, one.variable
	}
	path, err := keepGenerated(cn.DataDir, lines)
	if err == nil {
		fmt.Fprintf(cn.out, "This is a new cluster. Its generated tokens (%s) are in %s\n", strings.Join(names, ", "), path)
	}
	return err
}

// settled returns true: a cluster keeps its settings after bootstrap.
func (cn *clusterNode) settled(*fsm.View) bool { return true }

// ready warns if the cluster does not use the tokens that this node generated, because another node
// led first.
func (cn *clusterNode) ready(n *cluster.Node) {
	if cn.security == nil || cn.security.PlainToo {
		cn.log.Warn("the cluster port is open to everybody who reaches it: give all nodes the same --cluster-secret-file, without --cluster-insecure", "cluster", cn.Cluster)
	}
	cn.mu.Lock()
	defer cn.mu.Unlock()
	n.Machine().View(0, [16]byte{}, func(v *fsm.View) {
		cn.given.warn(cn.log, v)
		if cn.drawn != nil && !v.HoldsAll(cn.drawn.digests()) {
			fmt.Fprintln(cn.out, "The generated tokens of this node are not the cluster's: another node bootstrapped it, look at the file of that one.")
		}
	})
}

func (cn *clusterNode) loopbackOnly() bool { return false }

func (cn *clusterNode) signingKeys() signingKeys {
	return signingKeys{Keys: cn.keys, out: cn.out, dir: cn.DataDir}
}
