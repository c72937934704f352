package layout

// A Rule says what the packages of a folder may import from this repository. It holds for all folders below it that have no rule
// of their own. Packages below one rule may import each other.
type Rule struct {
	Folder string
	Use    string   // what the folder is for
	May    []string // folders; "fsm" is that package alone, "fsm/..." also what is below it
	Never  []string // folders that it must not reach through others either, but behind Machine
	Tests  []string // what its tests may import in addition to May and to Support
}

// Machine is the package that hides what it imports: who holds a state machine does not know what the machine executes.
// What a package reaches through it does not count for Rule.Never.
const Machine = "fsm"

// Rules are in the order of docs/architecture.md: from the command line down. No package of the product imports one of a rule
// above its own.
var Rules = []Rule{
	{
		Folder: "cmd/trireme",
		Use:    "the command line: settings, wiring, signals. The only package that knows all others",
		// workflow serves the workflows of the demo.
		May: []string{
			"httpapi/...", "resp/...", "cluster/...", "scheduler/...", "cli/...", "node/...", "fsm/...", "console/...",
			"internal/...", "workflow",
		},
		Tests: []string{"clients"},
	},
	{Folder: "docs/examples", Use: "programs of users, with their tests", May: []string{"workflow"}, Tests: []string{"clients/triremetest"}},
	{
		Folder: "cli",
		Use:    "what asks a node: the client commands over HTTP, doctor, imports, and files of messages",
		May:    []string{"fsm/command", "fsm/jsondoc", "fsm/reply", "resp/protocol", "internal/plural"},
		Never:  []string{"httpapi/...", "resp", "cluster/...", "scheduler/...", "node/...", "fsm"},
	},
	{Folder: "cli/doctor", Use: "judges what was measured of a host and of the nodes of a cluster", May: []string{"cluster", "internal/plural"}, Never: []string{"httpapi/...", "node/..."}},
	{Folder: "cli/importer", Use: "reads RDB files and sends them to a node over HTTP", May: []string{"fsm/...", "internal/...", "resp/protocol"}, Tests: []string{"httpapi"}},
	{Folder: "cli/messagesfile", Use: "reads and writes files of messages and workflow runs", May: []string{"fsm/..."}},
	{Folder: "cmd/commanddocs", Use: "writes docs/commands from the command table", May: []string{"fsm/command"}},
	{
		Folder: "httpapi",
		Use:    "HTTP: credentials, parsing, encoding, limits",
		May: []string{
			"node/...", "fsm/...", "scheduler/cron", "internal/...", "console/...",
		},
		Never: []string{"resp/...", "cluster/...", "scheduler"},
		Tests: []string{"cli/doctor", "workflow"},
	},
	{
		Folder: "resp",
		Use:    "the Redis protocol: connections, transactions, subscriptions, blocking commands",
		May:    []string{"node/...", "fsm/...", "internal/..."},
		Never:  []string{"cluster/...", "scheduler/..."},
	},
	{
		Folder: "cluster",
		Use:    "membership, writes and reads: makes many machines act as one. Knows no command: of fsm it imports the machine, not what it executes",
		May:    []string{"cluster/consensus", "cluster/consensus/logstore", "cluster/transport", "fsm", "fsm/env", "fsm/payload", "fsm/reply", "fsm/wire", "internal/..."},
		Never:  []string{"scheduler/...", "node/...", "fsm/command", "fsm/keyspace", "fsm/queue", "fsm/script/...", "fsm/workflow"},
		Tests:  []string{"cli/doctor", "node/...", "fsm/..."},
	},
	{
		Folder: "cluster/consensus",
		Use:    "one node's part in a replicated log. The only folder that knows the raft library, and no state machine",
		May:    []string{"cluster/transport", "fsm/wire", "internal/failpoint"},
		Tests:  []string{"internal/..."},
	},
	{Folder: "cluster/transport", Use: "connections between nodes, and calls over them", May: []string{"fsm/env", "fsm/wire", "internal/certs", "internal/connlimit", "internal/socket"}},
	{
		Folder: "scheduler",
		Use:    "delivery on the leader: claims attempts, sends them, records results. Also schedule times and the egress guard",
		May:    []string{"fsm", "fsm/env", "fsm/queue", "fsm/workflow", "fsm/backoff", "fsm/httpfield", "fsm/httpurl", "fsm/wire", "internal/failpoint", "internal/httpclient", "internal/httpsyntax", "internal/idn"},
		Never:  []string{"node/...", "fsm/command", "fsm/keyspace", "fsm/script/..."},
		Tests:  []string{"cluster"},
	},
	{
		Folder: "node",
		Use:    "what a node derives from the state and the log, for itself: search indexes, subscriptions, spans, statistics, audit, quotas",
		May:    []string{"fsm/...", "internal/..."},
		Tests:  []string{"cluster", "httpapi"},
	},
	{
		Folder: "fsm",
		Use:    "the state machine: entries, operations, sessions, snapshots. Deterministic, no I/O",
		May: []string{
			"fsm/acl", "fsm/backoff", "fsm/channel", "fsm/command", "fsm/cow", "fsm/dedup", "fsm/env", "fsm/keyspace", "fsm/payload", "fsm/queue",
			"fsm/rdb", "fsm/reply", "fsm/saving", "fsm/script", "fsm/search", "fsm/wire", "fsm/workflow", "internal/plural",
		},
		Tests: []string{"fsm/..."},
	},
	{
		Folder: "fsm/command",
		Use:    "the commands: one table, a file for each group of a family",
		May: []string{
			"fsm/acl", "fsm/ascii", "fsm/channel", "fsm/cow", "fsm/env", "fsm/exact", "fsm/geo", "fsm/glob", "fsm/hll", "fsm/jsondoc", "fsm/keyspace",
			"fsm/listpack", "fsm/queue", "fsm/rdb", "fsm/reply", "fsm/script/...", "fsm/search", "fsm/vector", "fsm/wire", "fsm/workflow",
		},
		Tests: []string{"fsm", "httpapi", "resp/..."},
	},
	{
		Folder: "fsm/workflow",
		Use:    "workflow runs: steps, waits, failures",
		May:    []string{"fsm/cow", "fsm/env", "fsm/jsondoc", "fsm/queue", "fsm/payload", "fsm/saving", "fsm/sealed", "fsm/wire"},
	},
	{
		Folder: "fsm/queue",
		Use:    "messages: queues, attempts, retries, schedules, dead letters, flow control",
		May:    []string{"fsm/backoff", "fsm/cow", "fsm/env", "fsm/glob", "fsm/sealed", "fsm/httpfield", "fsm/httpurl", "fsm/payload", "fsm/saving", "fsm/wire"},
	},
	{
		Folder: "fsm/script",
		Use:    "scripts and functions, and the Lua that runs them",
		May:    []string{"fsm/ascii", "fsm/cow", "fsm/exact", "fsm/reply", "fsm/wire"},
	},
	{
		Folder: "fsm/rdb",
		Use:    "values in the format of Redis",
		May:    []string{"fsm/env", "fsm/jsondoc", "fsm/keyspace", "fsm/listpack", "fsm/reply", "fsm/wire"},
		Tests:  []string{"fsm/vector"},
	},
	{
		Folder: "fsm/keyspace",
		Use:    "the data: objects, expiry, memory accounting",
		May:    []string{"fsm/cow", "fsm/env", "fsm/jsondoc", "fsm/listpack", "fsm/payload", "fsm/vector", "fsm/wire"},
	},
	{Folder: "fsm/vector", Use: "vectors and their nearest neighbours", May: []string{"fsm/cow", "fsm/exact", "fsm/wire"}},
	{Folder: "fsm/search", Use: "definitions of search indexes, and the fields of documents", May: []string{"fsm/jsondoc", "fsm/reply", "fsm/wire"}},
	{Folder: "fsm/acl", Use: "users, rules and tokens", May: []string{"fsm/ascii", "fsm/cow", "fsm/env", "fsm/glob", "fsm/wire"}},
	{Folder: "fsm/channel", Use: "who listens to which channel", May: []string{"fsm/cow", "fsm/glob", "fsm/wire"}},
	{Folder: "fsm/dedup", Use: "replies of requests with an idempotency key", May: []string{"fsm/cow", "fsm/wire"}},
	{Folder: "fsm/sealed", Use: "old records that do not change any more: volumes of them in payloads", May: []string{"fsm/cow", "fsm/payload", "fsm/wire"}},
	{Folder: "fsm/payload", Use: "large byte strings, wherever a node keeps them", May: []string{"fsm/wire"}},
	{Folder: "fsm/saving", Use: "trees as records of a snapshot", May: []string{"fsm/cow", "fsm/wire"}},
	{Folder: "fsm/jsondoc", Use: "JSON documents and paths", May: []string{"fsm/cow", "fsm/wire"}},
	{Folder: "fsm/reply", Use: "reply values and their encodings", May: []string{"fsm/wire"}},
	{Folder: "fsm/geo", Use: "geohashes and distances", May: []string{"fsm/exact"}},
	{Folder: "fsm/cow", Use: "ordered maps that fork in constant time"},
	{Folder: "fsm/env", Use: "what one apply may know: time, index, level, random numbers"},
	{Folder: "fsm/wire", Use: "the encoding of everything stored"},
	{Folder: "fsm/ascii", Use: "words without regard to case, byte by byte"},
	{Folder: "fsm/backoff", Use: "the expressions of retry delays"},
	{Folder: "fsm/exact", Use: "floating-point results that are equal on every processor"},
	{Folder: "fsm/glob", Use: "patterns of Redis"},
	{Folder: "fsm/httpfield", Use: "which headers belong to a connection"},
	{Folder: "fsm/httpurl", Use: "the URLs of destinations, escaped"},
	{Folder: "fsm/hll", Use: "HyperLogLog"},
	{Folder: "fsm/listpack", Use: "the list encodings inside RDB files"},
	{Folder: "console", Use: "the web console, embedded in the binary"},
	{
		Folder: "internal",
		Use:    "what any Go server could use, and what tests share",
		Tests:  []string{"fsm/httpurl"},
	},
	{
		Folder: "jepsen",
		Use:    "faults against real processes and simulated clusters, and checkers of what clients saw",
		May: []string{
			"clients/...", "workflow", "cluster/clock", "cluster/consensus/logstore", "cluster/consensus/logstore/logstoretest", "cluster/session", "cli/importer/redisproc", "fsm/...", "scheduler/...", "internal/...", "bench/growth",
		},
		Tests: []string{"resp/..."},
	},
	{
		Folder: "bench",
		Use:    "load generator and comparison with other servers",
		May:    []string{"workflow", "fsm/...", "httpapi/fastpath", "resp/protocol", "internal/..."},
	},
	{
		Folder: "clients",
		Use:    "unmodified clients of other projects against the product, and the command scripts through every entry point",
		Tests:  []string{"httpapi/...", "resp/...", "node/...", "fsm/...", "internal/..."},
	},
	{
		Folder: "clients/triremetest",
		Use:    "a server with a clock of the test's own, in the process of the test",
		May:    []string{"cluster", "cluster/consensus/logstore", "fsm/...", "httpapi/...", "internal/...", "node/...", "scheduler/..."},
		Tests:  []string{"workflow"},
	},
	{Folder: "workflow", Use: "durable functions in Go: serves and starts them. For users, so it imports nothing of this repository"},
	{Folder: "deploy", Use: "packages for Docker, systemd, Debian and Helm, dashboard and alerts"},
	{Folder: "scripts", Use: "programs of the Makefile", May: []string{"internal/layout"}},
}

// Support are the packages that exist for tests. A test of any package may import them; no product package does.
var Support = []string{
	"cluster/clustertest", "cluster/consensus/logstore/logstoretest", "fsm/command/commandtest", "fsm/command/scripttest", "httpapi/httpapitest",
	"cli/importer/redisproc", "internal/testcpu", "internal/testgate", "jepsen/testcluster/...", "resp/resptest", "scheduler/egress/egresstest",
}

// SupportMay lists the imports that packages of Support may have in addition to their folder's rule.
var SupportMay = map[string][]string{
	"cluster/clustertest":    {"fsm/..."},
	"httpapi/httpapitest":    {"cluster/...", "scheduler/..."},
	"resp/resptest":          {"cluster/...", "fsm/command/scripttest"},
	"cli/importer/redisproc": {"resp/protocol"},
}

// Libraries are modules of others that only some folders may import, tests included. Everybody else sees what those folders
// make of them.
var Libraries = map[string][]string{
	"github.com/hashicorp/raft":           {"cluster/consensus/..."},
	"github.com/hashicorp/raft-boltdb/v2": {"cluster/consensus/logstore"},
}
