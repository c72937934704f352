package main

import (
	"time"

	"github.com/spf13/pflag"

	"trireme/audit"
	"trireme/fsm/flow"
	"trireme/fsm/queue"
	"trireme/httpapi"
	"trireme/resp"
)

// settings are what the flags of dev and serve say.
type settings struct {
	Config           string
	NodeID           string
	DataDir          string
	HTTP             string
	HTTPAdvertise    string
	RESP             string
	RESPAdvertise    string
	TLSCert          string
	TLSKey           string
	Cluster          string
	ClusterAdvertise string
	Gossip           string
	GossipKey        string
	InitialCluster   string
	ClusterCA        string
	ClusterCert      string
	ClusterKey       string
	Plaintext        []string
	Join             []string
	Replace          string

	HeaderPrefix   []string
	MaxRequestSize byteSize
	MaxMemory      byteSize
	DailyLimit     uint
	MaxKeySize     byteSize
	MaxRecordSize  byteSize
	MaxPending     uint
	MaxRows        int
	Limits         httpapi.Limits
	RESPLimits     resp.Limits
	MetricsPublic  bool
	StaleForever   bool

	Deliveries deliverySettings
	Messages   queue.Settings
	Workflows  flow.Settings

	Heartbeat         time.Duration
	SnapshotThreshold uint64
	LogLevel          string
	LogFormat         string
	Pprof             string
	AuditLog          string

	// Of dev only.
	Port   int
	Memory bool
}

// defaultRequestSize is the default of --max-request-size. A request has to fit into
// one log entry, which ends at maxRequestSize.
const (
	defaultRequestSize = 10 << 20
	maxRequestSize     = 48 << 20
)

// The defaults of what one key and its value may take: existing clients of the gateway's
// protocol live with these.
const (
	defaultKeySize    = 32 << 10
	defaultRecordSize = 100 << 20
)

// defaultSnapshotThreshold is how many entries after a snapshot the next one begins.
const defaultSnapshotThreshold = 50_000

// nodeFlags declares what dev and serve have in common.
func nodeFlags(f *pflag.FlagSet, s *settings) {
	s.MaxRequestSize, s.MaxKeySize, s.MaxRecordSize = defaultRequestSize, defaultKeySize, defaultRecordSize
	f.StringVar(&s.Config, "config", "", "YAML `FILE` with these settings, one key a flag")
	f.StringVar(&s.DataDir, "data-dir", "", "`DIR` of the log, the stable store and the snapshots")
	f.StringVar(&s.HTTP, "http", "127.0.0.1:8080", "`ADDR` of the HTTP API")
	f.StringSliceVar(&s.HeaderPrefix, "header-prefix", []string{"Svc", "Upstash"}, "service header `PREFIXES`, the first is ours")
	f.Var(&s.MaxRequestSize, "max-request-size", "largest request body, at most 48MiB; 0 is 48MiB")
	f.Var(&s.MaxMemory, "max-memory", "logical memory at which writes that grow are refused; 0 is none; replicated, taken at the first start")
	f.UintVar(&s.DailyLimit, "daily-request-limit", 0, "`COMMANDS` a day and database; 0 is none; replicated, taken at the first start")
	f.Var(&s.MaxKeySize, "max-key-size", "largest key that a write may name; 0 is none; replicated like --max-memory")
	f.Var(&s.MaxRecordSize, "max-record-size", "largest value of one key; 0 is none; replicated like --max-memory")
	f.UintVar(&s.MaxPending, "max-pending", 0, "most `ENTRIES` of a stream that XREADGROUP lets a consumer have unacknowledged; 0 is none; replicated like --max-memory")
	edgeFlags(f, s)
	respFlags(f, s)
	f.DurationVar(&s.Heartbeat, "heartbeat", 500*time.Millisecond, "Raft heartbeat and election timeout")
	f.Uint64Var(&s.SnapshotThreshold, "snapshot-threshold", defaultSnapshotThreshold, "log `ENTRIES` between snapshots")
	f.BoolVar(&s.MetricsPublic, "metrics-public", false, "serve /metrics and /healthz without the admin token on every address")
	f.BoolVar(&s.StaleForever, "stale-forever", false, "answer stale reads however long no leader was heard")
	f.StringVar(&s.LogLevel, "log-level", "info", "debug, info, warn or error")
	f.StringVar(&s.LogFormat, "log-format", "text", "json or text")
	f.StringVar(&s.AuditLog, "audit-log", audit.ToLog, "`FILE` of the record of administrative acts; log: lines of the node's log; off: none")
	f.StringVar(&s.Pprof, "pprof", "", "serve Go's profiles on this loopback `ADDR`")
	deliveryFlags(f, &s.Deliveries)
	messageFlags(f, &s.Messages)
	workflowFlags(f, &s.Workflows)
}

// edgeFlags declares the limits of this node's HTTP listener.
func edgeFlags(f *pflag.FlagSet, s *settings) {
	f.IntVar(&s.MaxRows, "max-rows", httpapi.DefaultMaxRows, "most commands of a pipeline or transaction")
	l := &s.Limits
	f.IntVar(&l.Connections, "max-connections", httpapi.DefaultConnections, "most HTTP connections; 0 is none")
	f.IntVar(&l.ConnectionsPerIP, "max-connections-per-ip", 0, "most HTTP connections of one address; 0 is none")
	f.IntVar(&l.InFlight, "max-in-flight", 0, "most requests of one token that are answered at a time; 0 is none")
	f.IntVar(&l.HeaderBytes, "max-header-size", httpapi.DefaultHeaderBytes, "most bytes of a request's line and header")
	f.DurationVar(&l.HeaderTime, "header-timeout", httpapi.DefaultHeaderTime, "how long a header may take to arrive")
	f.DurationVar(&l.BodyTime, "body-timeout", httpapi.DefaultBodyTime, "how long a request may take to arrive")
	f.DurationVar(&l.ReplyTime, "reply-timeout", httpapi.DefaultReplyTime, "how long a request may take to be answered and its reply to be read")
}

// clusterFlags declares what only a node of a cluster has.
func clusterFlags(f *pflag.FlagSet, s *settings) {
	f.StringVar(&s.NodeID, "node-id", "", "stable `ID` of this node; it stays with its data directory")
	f.StringVar(&s.HTTPAdvertise, "http-advertise", "", "`ADDR` at which others reach the HTTP API, where it differs")
	f.StringVar(&s.Cluster, "cluster", "", "`ADDR` of Raft and of requests between nodes (default: this node's address in --initial-cluster)")
	f.StringVar(&s.ClusterAdvertise, "cluster-advertise", "", "`ADDR` at which other nodes reach the cluster port, where it differs")
	f.StringVar(&s.Gossip, "gossip", "", "`ADDR` of gossip (default: none)")
	f.StringVar(&s.GossipKey, "gossip-key", "", "`KEY` that encrypts gossip: 16, 24 or 32 bytes in base64")
	f.StringVar(&s.InitialCluster, "initial-cluster", "", "first configuration, `n1=ADDR,n2=ADDR,n3=ADDR` by cluster address; used on an empty data directory only")
	f.StringSliceVar(&s.Join, "join", nil, "gossip `ADDRS` of a running cluster to join; used on an empty data directory only")
	f.StringVar(&s.Replace, "replace", "", "with --join: take the place of node `ID`")
	f.StringVar(&s.TLSCert, "tls-cert", "", "certificate `FILE` of the HTTP API and the RESP listener")
	f.StringVar(&s.TLSKey, "tls-key", "", "key `FILE` of the HTTP API and the RESP listener")
	f.StringVar(&s.ClusterCA, "cluster-ca", "", "certificate authority `FILE` of the cluster port: nodes show each other certificates that it signed")
	f.StringVar(&s.ClusterCert, "cluster-cert", "", "certificate `FILE` of this node on the cluster port; it names the node's id")
	f.StringVar(&s.ClusterKey, "cluster-key", "", "key `FILE` of this node on the cluster port")
	f.StringSliceVar(&s.Plaintext, "plaintext", nil, "`PARTS` that may go unencrypted beyond loopback: http, cluster")
}
