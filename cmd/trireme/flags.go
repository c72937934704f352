package main

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/node/audit"
	"github.com/trireme-dev/trireme/resp"
)

// settings holds the flags of dev and serve.
type settings struct {
	Config      string
	NodeID      string
	SecretFiles map[string]*string // paths by variable; see secretNames
	Heartbeat   time.Duration
	Drain       time.Duration

	clientSettings
	clusterSettings
	edgeSettings
	firstSettings
	diskSettings
	watchSettings
	devSettings

	Deliveries deliverySettings
	Console    consoleSettings
	Backups    backupSettings
}

// clientSettings are the addresses at which clients reach the node, and how they are secured.
type clientSettings struct {
	HTTP          string
	HTTPAdvertise string
	RESP          string
	RESPAdvertise string
	TLSCert       string
	TLSKey        string
	Plaintext     []string // parts that may be served unencrypted, the cluster port too
}

// clusterSettings say where the other nodes are, how they reach this one, and what they trust.
type clusterSettings struct {
	Cluster          string
	ClusterAdvertise string
	ClusterCA        string
	ClusterCert      string
	ClusterKey       string
	ClusterSecret    string
	ClusterInsecure  bool
	Gossip           string
	GossipKey        string
	InitialCluster   string
	Join             []string
	Replace          string
}

// edgeSettings bound what clients may take of this node. Each node has its own.
type edgeSettings struct {
	HeaderPrefix   []string
	MaxRequestSize byteSize
	// MaxReplySize bounds the replies to an HTTP request, MaxBufferedBytes all requests and replies under way; 0 = unlimited.
	MaxReplySize, MaxBufferedBytes byteSize
	MaxRows                        int
	Limits                         httpapi.Limits
	RESPLimits                     resp.Limits
	MetricsPublic                  bool
	StaleForever                   bool
	IndexMemory                    byteSize
}

// firstSettings are the settings that a new cluster begins with. They are replicated: a cluster that has settings
// keeps its own.
type firstSettings struct {
	MaxMemory                byteSize
	MaxMemoryPolicy          evictionPolicy
	DailyLimit               uint
	MaxKeySize               byteSize
	MaxRecordSize            byteSize
	MaxPending               uint
	MaxRequestWork           uint
	MaxScriptSteps           uint
	TenantWork, TenantScript uint // percent
	TenantMemory             uint // percent
	Messages                 queue.Settings
	Workflows                workflow.Settings
}

// diskSettings say what the node keeps on its disk, and how much of it must stay free.
type diskSettings struct {
	DataDir           string
	MinFreeDisk       freeDisk
	InlineBytes       byteSize
	ColdAfter         time.Duration
	DiskStall         time.Duration
	SnapshotThreshold uint64
}

// watchSettings say what the node tells its operators, and where.
type watchSettings struct {
	LogLevel  string
	LogFormat string
	Pprof     string
	AuditLog  string
}

// devSettings are the settings that only dev has.
type devSettings struct {
	Port   int
	Quiet  bool
	Memory bool
	Demo   bool
	Sink   bool
	Clock  string // empty: the machine's
}

// defaultRequestSize is the default of --max-request-size. A request has to fit into
// one log entry, which ends at maxRequestSize.
const (
	defaultRequestSize = 10 << 20
	maxRequestSize     = 48 << 20
)

// The default limits of one key and its value, in bytes. Existing clients of the gateway's protocol
// work within them.
const (
	defaultKeySize    = 32 << 10
	defaultRecordSize = 100 << 20
)

// defaultSnapshotThreshold is the number of log entries after which a small state is snapshotted again.
const defaultSnapshotThreshold = 50_000

// nodeFlags declares the flags that dev and serve share.
func nodeFlags(f *pflag.FlagSet, s *settings) {
	s.MaxRequestSize, s.MaxKeySize, s.MaxRecordSize = defaultRequestSize, defaultKeySize, defaultRecordSize
	f.StringVar(&s.Config, "config", "", "YAML `FILE` with these settings, one key for each flag")
	f.StringVar(&s.DataDir, "data-dir", "", "`DIR` of the log, the stable store and the snapshots")
	f.StringVar(&s.HTTP, "http", "127.0.0.1:8080", "`ADDR` of the HTTP API")
	f.StringSliceVar(&s.HeaderPrefix, "header-prefix", []string{"Svc", "Upstash"}, "`PREFIXES` of service headers; the first is the primary one")
	f.Var(&s.MaxRequestSize, "max-request-size", "maximum size of a request body, up to 48MiB (0 = 48MiB)")
	f.Var(&s.MaxMemory, "max-memory", "memory of all data at which writes that add to it are refused (0 = unlimited); replicated, read at the first start only")
	f.Var(&s.MaxMemoryPolicy, "max-memory-policy", "which keys are evicted at --max-memory: `POLICY` "+keyspace.PolicyNames+"; replicated like --max-memory")
	f.UintVar(&s.DailyLimit, "daily-request-limit", 0, "maximum number of `COMMANDS` per day and database (0 = unlimited); replicated, read at the first start only")
	f.Var(&s.MaxKeySize, "max-key-size", "maximum size of a key in a write (0 = unlimited); replicated like --max-memory")
	f.Var(&s.MaxRecordSize, "max-record-size", "maximum size of the value of one key (0 = unlimited); replicated like --max-memory")
	f.UintVar(&s.MaxPending, "max-pending", 0, "maximum number of unacknowledged stream `ENTRIES` of a consumer in XREADGROUP (0 = unlimited); replicated like --max-memory")
	f.UintVar(&s.MaxRequestWork, "max-request-work", command.DefaultMaxWork, "maximum `STEPS` of work of one request: elements, and 64 bytes each, read, written or replied (0 = unlimited); replicated like --max-memory")
	f.UintVar(&s.MaxScriptSteps, "max-script-steps", command.DefaultMaxScript, "maximum `STEPS` of the scripts of one request (0 = unlimited); replicated like --max-memory")
	f.UintVar(&s.TenantWork, "tenant-work-percent", command.DefaultTenantWork, "part of --max-request-work, in `PERCENT`, of a request that writes to a database other than default; replicated like --max-memory")
	f.UintVar(&s.TenantScript, "tenant-script-percent", command.DefaultTenantScript, "part of --max-script-steps, in `PERCENT`, of a request that writes to a database other than default; replicated like --max-memory")
	f.UintVar(&s.TenantMemory, "tenant-memory-percent", fsm.DefaultTenantMemory, "part of --max-memory, in `PERCENT`, that each database other than default may use if it has no limit of its own; replicated like --max-memory")
	f.Var(&s.IndexMemory, "max-index-memory", "memory that the search indexes of all databases may take on this node (0 = a quarter of the container's or the machine's)")
	edgeFlags(f, s)
	respFlags(f, s)
	f.Var(&s.MinFreeDisk, "min-free-disk", "free disk `SPACE` below which writes are refused: a size, or a percentage (default: 5%, at most 8GiB)")
	s.InlineBytes = payload.Apart
	f.Var(&s.InlineBytes, "inline-bytes", "`SIZE` from which on bodies of messages, events and steps older than a minute, and strings that are not used (--cold-after), are moved from memory to the disk; at least 1KiB")
	f.DurationVar(&s.ColdAfter, "cold-after", 10*time.Minute, "time after which a string of --inline-bytes or more is moved from memory to the disk if nobody reads it, earlier if memory is short (0 = strings stay in memory)")
	f.DurationVar(&s.Heartbeat, "heartbeat", 500*time.Millisecond, "Raft heartbeat and election timeout")
	f.DurationVar(&s.DiskStall, "disk-stall-timeout", 0, "how long a call on the disk may hang before the node ends, so that another one can lead (0 = 2s or four heartbeats, whichever is longer; dev: 1m)")
	f.DurationVar(&s.Drain, "drain", 0, "how long a stopping node is not ready but still answers, so that clients can leave (0 = stop at once)")
	f.Uint64Var(&s.SnapshotThreshold, "snapshot-threshold", defaultSnapshotThreshold, "log `ENTRIES` between snapshots")
	f.BoolVar(&s.MetricsPublic, "metrics-public", false, "serve /metrics and /healthz on every address without the admin token")
	f.BoolVar(&s.StaleForever, "stale-forever", false, "serve stale reads without an age limit")
	f.StringVar(&s.LogLevel, "log-level", "info", "debug, info, warn or error")
	f.StringVar(&s.LogFormat, "log-format", "text", "json or text")
	f.StringVar(&s.AuditLog, "audit-log", audit.ToLog, "`FILE` of the audit log of administrative requests; log = lines of the node's log, off = none")
	f.StringVar(&s.Pprof, "pprof", "", "serve Go profiles on this loopback `ADDR`")
	consoleFlags(f, &s.Console)
	backupFlags(f, &s.Backups)
	secretFileFlags(f, s)
	deliveryFlags(f, &s.Deliveries)
	messageFlags(f, &s.Messages)
	workflowFlags(f, &s.Workflows)
}

// edgeFlags declares the limits of this node's HTTP listener.
func edgeFlags(f *pflag.FlagSet, s *settings) {
	f.IntVar(&s.MaxRows, "max-rows", httpapi.DefaultMaxRows, "maximum number of commands in a pipeline or transaction")
	l := &s.Limits
	s.MaxReplySize, s.MaxBufferedBytes = httpapi.DefaultReplyBytes, httpapi.DefaultBufferedBytes
	f.IntVar(&l.Connections, "max-connections", httpapi.DefaultConnections, "maximum number of HTTP connections (0 = unlimited)")
	f.IntVar(&l.ConnectionsPerIP, "max-connections-per-ip", -1, "maximum number of HTTP connections from one address (0 = unlimited, -1 = a quarter of --max-connections, for all but loopback)")
	f.IntVar(&l.InFlight, "max-in-flight", 0, "maximum number of concurrent requests with one token (0 = unlimited)")
	f.Var(&s.MaxReplySize, "max-reply-size", "maximum size of the replies to one HTTP request (0 = unlimited)")
	f.Var(&s.MaxBufferedBytes, "max-buffered-bytes", "maximum size of all HTTP bodies and replies and RESP requests under way (0 = unlimited)")
	f.IntVar(&l.HeaderBytes, "max-header-size", httpapi.DefaultHeaderBytes, "maximum size of a request's first line and header in bytes")
	f.DurationVar(&l.HeaderTime, "header-timeout", httpapi.DefaultHeaderTime, "time limit for a header to arrive")
	f.DurationVar(&l.BodyTime, "body-timeout", httpapi.DefaultBodyTime, "time limit for a request to arrive")
	f.DurationVar(&l.ReplyTime, "reply-timeout", httpapi.DefaultReplyTime, "time limit for a request to be answered and for its reply to be read")
}

// clusterFlags declares the flags that only serve has.
func clusterFlags(f *pflag.FlagSet, s *settings) {
	f.StringVar(&s.NodeID, "node-id", "", "stable `ID` of this node; it stays with its data directory")
	f.StringVar(&s.HTTPAdvertise, "http-advertise", "", "`ADDR` of the HTTP API as others reach it (default: --http)")
	f.StringVar(&s.Cluster, "cluster", "", "`ADDR` of Raft and of requests between nodes (default: this node's address in --initial-cluster)")
	f.StringVar(&s.ClusterAdvertise, "cluster-advertise", "", "`ADDR` of the cluster port as other nodes reach it (default: --cluster)")
	f.StringVar(&s.Gossip, "gossip", "", "`ADDR` of gossip (default: none)")
	f.StringVar(&s.GossipKey, "gossip-key", "", "`KEY` that encrypts gossip: 16, 24 or 32 bytes in base64 (default: derived from the cluster secret); prefer --gossip-key-file")
	f.StringVar(&s.InitialCluster, "initial-cluster", "", "initial voters and their cluster addresses, `n1=ADDR,n2=ADDR,n3=ADDR`; used with an empty data directory only")
	f.StringSliceVar(&s.Join, "join", nil, "gossip `ADDRS` of a running cluster to join; used with an empty data directory only")
	f.StringVar(&s.Replace, "replace", "", "with --join: replace the node with this `ID`")
	f.StringVar(&s.TLSCert, "tls-cert", "", "certificate `FILE` of the HTTP API and the RESP listener")
	f.StringVar(&s.TLSKey, "tls-key", "", "key `FILE` of the HTTP API and the RESP listener")
	f.StringVar(&s.ClusterCA, "cluster-ca", "", "certificate authority `FILE` that signed the nodes' certificates")
	f.StringVar(&s.ClusterCert, "cluster-cert", "", "certificate `FILE` of this node on the cluster port; it must name the node's id")
	f.StringVar(&s.ClusterKey, "cluster-key", "", "key `FILE` of this node on the cluster port")
	f.StringVar(&s.ClusterSecret, "cluster-secret-file", "", "`FILE` with the secret that all nodes share, instead of certificates on the cluster port; TRIREME_CLUSTER_SECRET is the secret itself")
	f.BoolVar(&s.ClusterInsecure, "cluster-insecure", false, "allow a cluster port without TLS beyond loopback, and with a secret also accept nodes without TLS; for upgrades")
	f.StringSliceVar(&s.Plaintext, "plaintext", nil, "`PARTS` that may be served unencrypted beyond loopback: http, cluster, resp")
}
