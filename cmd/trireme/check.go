package main

import (
	"encoding/base64"
	"errors"
	"io"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/trireme-dev/trireme/cli"
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/internal/observe"
)

// minDiskStall is the least --disk-stall-timeout: longer than the slowest answer of a healthy disk.
const minDiskStall = time.Second

// minHeartbeat is the shortest heartbeat that two nodes on one machine keep up with.
const minHeartbeat = 10 * time.Millisecond

// check checks the settings that dev and serve share.
func (s *settings) check() error {
	if s.MaxRequestSize > maxRequestSize {
		return cli.Usagef("--max-request-size must not exceed 48MiB: a request must fit into one log entry")
	}
	if s.MaxRequestSize == 0 {
		s.MaxRequestSize = maxRequestSize
	}
	if min(s.TenantWork, s.TenantScript, s.TenantMemory) < 1 || max(s.TenantWork, s.TenantScript, s.TenantMemory) > 100 {
		return cli.Usagef("--tenant-work-percent, --tenant-script-percent and --tenant-memory-percent must be from 1 to 100")
	}
	if s.InlineBytes < payload.Apart {
		return cli.Usagef("--inline-bytes must be at least 1KiB")
	}
	if s.ColdAfter < 0 {
		return cli.Usagef("--cold-after must not be negative")
	}
	if s.MaxRows < 1 {
		return cli.Usagef("--max-rows must be at least 1")
	}
	if err := s.Limits.Check(); err != nil {
		return cli.Usagef("%w", err)
	}
	if s.Heartbeat < minHeartbeat {
		return cli.Usagef("--heartbeat must be at least %s", minHeartbeat)
	}
	if s.Drain < 0 {
		return cli.Usagef("--drain must not be negative, got %s", s.Drain)
	}
	if s.DiskStall != 0 && s.DiskStall < minDiskStall {
		return cli.Usagef("--disk-stall-timeout must be at least %s, got %s", minDiskStall, s.DiskStall)
	}
	if s.SnapshotThreshold == 0 {
		return cli.Usagef("--snapshot-threshold must be at least 1")
	}
	if len(s.HeaderPrefix) == 0 {
		return cli.Usagef("--header-prefix needs at least one prefix")
	}
	if _, err := s.Deliveries.parse(); err != nil {
		return err
	}
	if err := errors.Join(s.checkMessages(), s.checkWorkflows()); err != nil {
		return err
	}
	if _, err := s.Backups.schedule(); err != nil {
		return err
	}
	if s.Pprof != "" && !loopback(s.Pprof) {
		return cli.Usagef("--pprof %s is not on loopback: profiles show what is in memory", s.Pprof)
	}
	if (s.TLSCert == "") != (s.TLSKey == "") {
		return cli.Usagef("--tls-cert and --tls-key must be given together")
	}
	if err := s.checkParts(); err != nil {
		return err
	}
	if err := s.checkRESP(); err != nil {
		return err
	}
	return checkAddress("http", s.HTTP)
}

// checkServe checks the settings of a node of a cluster.
func (s *settings) checkServe() error {
	if err := s.check(); err != nil {
		return err
	}
	if s.NodeID == "" {
		return cli.Usagef("--node-id is required: a name for this node that never changes, such as n1")
	}
	if s.DataDir == "" {
		return cli.Usagef("--data-dir is required: a directory for this node alone")
	}
	peers, err := parsePeers(s.InitialCluster)
	if err != nil {
		return err
	}
	if err := s.checkJoin(); err != nil {
		return err
	}
	if err := s.clusterAddress(peers); err != nil {
		return err
	}
	if s.HTTPAdvertise == "" {
		s.HTTPAdvertise = s.HTTP
	}
	if err := s.checkPlaintext(); err != nil {
		return err
	}
	return s.checkGossip()
}

// The parts of --plaintext.
const (
	plainHTTP    = "http"
	plainCluster = "cluster"
	plainRESP    = "resp"
)

// checkParts refuses unknown values of --plaintext. It runs before the other checks, which would report a typing mistake as a
// missing certificate.
func (s *settings) checkParts() error {
	for _, part := range s.Plaintext {
		if part != plainHTTP && part != plainCluster && part != plainRESP {
			return cli.Usagef("--plaintext %q is unknown: use %s, %s or %s", part, plainHTTP, plainCluster, plainRESP)
		}
	}
	return nil
}

// checkPlaintext refuses listeners that would send data over a network unencrypted, unless --plaintext allows them.
func (s *settings) checkPlaintext() error {
	given := 0
	for _, file := range []string{s.ClusterCA, s.ClusterCert, s.ClusterKey} {
		if file != "" {
			given++
		}
	}
	switch {
	case given != 0 && given != 3:
		return cli.Usagef("--cluster-ca, --cluster-cert and --cluster-key must be given together")
	case given == 3 && (s.ClusterSecret != "" || os.Getenv(secretName) != ""):
		return cli.Usagef("both a cluster secret and --cluster-ca, --cluster-cert and --cluster-key are given: give one of them")
	case given == 0 && !s.hasSecret() && !loopback(s.Cluster) && !s.insecureCluster():
		return cli.Usagef("--cluster %s is not on loopback and needs --cluster-secret-file, or --cluster-ca, --cluster-cert and --cluster-key: without them anyone who reaches that port controls the cluster; "+
			"`head -c 32 /dev/urandom | base64` makes a secret, the same on all nodes (--cluster-insecure starts without, for upgrades)", s.Cluster)
	case s.TLSCert == "" && !loopback(s.HTTP) && !slices.Contains(s.Plaintext, plainHTTP):
		return cli.Usagef("--http %s is not on loopback and needs --tls-cert and --tls-key: tokens travel on it; if a proxy terminates TLS, --plaintext http allows it", s.HTTP)
	}
	return nil
}

// checkJoin checks how a node becomes part of a cluster: by bootstrap or by joining.
func (s *settings) checkJoin() error {
	switch {
	case len(s.Join) > 0 && s.InitialCluster != "":
		return cli.Usagef("--initial-cluster bootstraps a cluster and --join joins one: give only one of them")
	case s.Replace != "" && len(s.Join) == 0:
		return cli.Usagef("--replace needs --join: it names the node that the joining one replaces")
	case s.Replace != "" && s.Replace == s.NodeID:
		return cli.Usagef("--replace %s names this node itself: the new node needs an id of its own", s.Replace)
	}
	for _, addr := range s.Join {
		if err := checkAddress("join", addr); err != nil {
			return err
		}
	}
	return nil
}

// checkGossip refuses gossip without a key beyond loopback: anyone on the network could join it.
func (s *settings) checkGossip() error {
	if s.Gossip == "" {
		_, err := s.gossipKey()
		return err
	}
	if err := checkAddress("gossip", s.Gossip); err != nil {
		return err
	}
	key, err := s.gossipKey()
	if err != nil {
		return err
	}
	if len(key) == 0 && !loopback(s.Gossip) {
		return cli.Usagef("--gossip %s is not on loopback and needs --cluster-secret-file or --gossip-key, the same on all nodes: `head -c 32 /dev/urandom | base64` makes one", s.Gossip)
	}
	return nil
}

// gossipKey returns the key of --gossip-key, or the one derived from the cluster secret, or nil.
func (s *settings) gossipKey() ([]byte, error) {
	text, err := readSecret(envPrefix+"GOSSIP_KEY", s.GossipKey, s.secretFile("GOSSIP_KEY"))
	if err != nil {
		return nil, err
	}
	if text == "" && s.hasSecret() {
		secrets, err := s.secrets()
		if err != nil {
			return nil, err
		}
		return secrets[0].GossipKey()
	}
	key, err := base64.StdEncoding.DecodeString(text)
	if n := len(key); err != nil || (n != 0 && n != 16 && n != 24 && n != 32) {
		return nil, cli.Usagef("--gossip-key is not 16, 24 or 32 bytes in base64")
	}
	return key, nil
}

// logger makes the log.
func (s *settings) logger(w io.Writer) (*slog.Logger, error) {
	log, err := observe.NewLogger(w, s.LogLevel, s.LogFormat)
	if err != nil {
		return nil, cli.Usagef("%w", err)
	}
	return log, nil
}
