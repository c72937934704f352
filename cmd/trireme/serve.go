package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"

	"github.com/spf13/cobra"

	"trireme/cluster"
	"trireme/fsm"
	"trireme/fsm/queue"
)

func serveCommand() *cobra.Command {
	s := &settings{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run one node of a cluster",
		Long: "Runs one node of a cluster. Every flag has a variable (--data-dir is TRIREME_DATA_DIR) and a key in\n" +
			"the YAML file of --config; a flag beats the variable, the variable beats the file.",
		Args: usageArgs(cobra.NoArgs),
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
	given, err := givenCredentials()
	if err != nil {
		return err
	}
	keys, err := givenKeys()
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
	return s.serveNode(ctx, log, listener, respListener, &clusterNode{settings: s, security: security, given: given, keys: keys, out: cmd.OutOrStdout()})
}

// listen opens the addresses of clients, that of RESP if it isn't off.
func (s *settings) listen(log *slog.Logger) (http, resp net.Listener, err error) {
	config, err := s.certificate(log)
	if err != nil {
		return nil, nil, err
	}
	if http, err = bind(s.HTTP); err != nil {
		return nil, nil, taken("http", err)
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
	security *cluster.Security
	given    credentials
	keys     queue.Keys // of the environment
	out      io.Writer

	mu    sync.Mutex
	drawn *credentials // complete ones, once this node was asked to found
}

func (c *clusterNode) options() (cluster.Options, error) {
	peers, err := parsePeers(c.InitialCluster)
	if err != nil {
		return cluster.Options{}, err
	}
	key, err := c.gossipKey()
	if err != nil {
		return cluster.Options{}, err
	}
	return cluster.Options{
		Join: c.Join, Replace: c.Replace, GossipKey: key, Security: c.security,
		NodeID: c.NodeID, Bind: c.Cluster, Advertise: c.ClusterAdvertise, HTTP: c.HTTPAdvertise, Gossip: c.Gossip,
		InitialCluster: peers, Founding: c.found,
	}, nil
}

// found gives the tokens of a new cluster. What it draws it prints before the cluster
// has it: a crash in between must not leave tokens that nobody knows.
func (c *clusterNode) found(first bool) (fsm.Founding, bool) {
	if !first {
		return fsm.Founding{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.drawn == nil {
		tokens := c.given
		drawn := tokens.complete()
		c.drawn = &tokens
		if len(drawn) > 0 {
			fmt.Fprintln(c.out, "This is a new cluster. These tokens were drawn for it and are shown this once:")
		}
		for _, one := range drawn {
			fmt.Fprintf(c.out, "%s=%s\n", one.variable, *one.token)
		}
	}
	f := c.founding(c.drawn)
	f.Keys = c.keys
	return f, false
}

// settled is always true: a founded cluster keeps its settings.
func (c *clusterNode) settled(*fsm.View) bool { return true }

// ready tells if the tokens that were printed are not those of the cluster: another
// node led first.
func (c *clusterNode) ready(n *cluster.Node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.drawn == nil {
		return
	}
	n.Machine().View(0, [16]byte{}, func(v *fsm.View) {
		if v.Tokens() != c.drawn.digests() {
			fmt.Fprintln(c.out, "The tokens above are not the cluster's: another node founded it, look at what that one printed.")
		}
	})
}

func (c *clusterNode) loopbackOnly() bool { return false }

func (c *clusterNode) signingKeys() signingKeys { return signingKeys{Keys: c.keys, out: c.out} }
