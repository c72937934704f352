package main

import "context"

// acceptance is one run of this program. An error of perform says what failed.
type acceptance struct {
	name    string // by what it shows
	alias   string // its former name, also accepted
	about   string
	perform func(ctx context.Context, s *session) error
}

// acceptances are all runs, by area.
var acceptances = []acceptance{
	{"fresh-clone", "core.1", "a fresh clone runs, answers the first requests, and its tests pass", freshClone},
	{"busy-clone", "adopt.1", "fresh-clone in an empty home directory, with empty caches, at a load of 20", busyClone},
	{"read-elsewhere", "core.2", "10,000 writes through any node, each read through another at once", readElsewhere},
	{"client-tests", "core.3", "the published client, unmodified, against three nodes", clientTests},
	{"leader-kill", "core.4", "kill -9 and graceful stop of the leader under 64 clients", leaderLost},
	{"leader-stop", "core.5", "SIGSTOP of the leader and of a follower for 5 s, readers on all nodes", frozen},
	{"grey-disk", "state.10", "syncs of the leader, and then of all nodes, take 200 ms longer under 64 clients; snapshots in turn", greyDisk},
	{"all-killed", "core.6", "all nodes killed at once with 1,000,000 keys", allKilled},
	{"poison", "reliability.8", "an entry that ends every node: they wait at the third start, and go on without its database", poisoned},
	{"damaged-disk", "core.7", "flipped bits, truncated files, failing disks", damagedDisk},
	{"snapshot-stall", "core.8", "1,000,000 keys, snapshot under write load: p99.9 of writes", bench("stall")},
	{"replicas", "core.9", "two replicas and a third restored midway, 1,000,000 random commands", replicas},
	{"benchmarks", "core.10", "the benchmarks", bench("-install")},
	{"fuzzing", "core.11", "fuzzing, 5 minutes a target", fuzzing},
	{"steady-leader", "core.12", "no leadership change in a fault-free minute under full load", bench("steady")},
	{"http-specification", "gateway.1", "every sentence of the specification, on one node and on any of three", specification},
	{"http-client", "gateway.2", "the published client, unmodified, with the token of each kind, on three nodes", publishedClient},
	{"revoked-tokens", "gateway.3", "tokens revoked while a node is cut off, on all nodes in every mode", revokedTokens},
	{"subscribers", "gateway.4", "200 subscribers, 10,000 messages from all nodes, two leaders killed", channels},
	{"mixed-requests", "gateway.5", "64 clients, 200 mixed requests each, in all forms and formats", longTests("./httpapi", "TestCrowd", "-full")},
	{"malformed-requests", "gateway.6", "malformed requests over raw sockets", longTests("./httpapi", "TestMalformedRequests.*", "-full")},
	{"bank", "gateway.7", "amounts moved in transactions while leaders are killed", bank},
	{"fidelity", "families.2", "1,000,000 random commands through each entry point, compared with redis-server", fidelity},
	{"command-replicas", "families.3", "two replicas and a restored third, 1,000,000 random commands", replicas},
	{"resp-clients", "families.4", "ordinary clients of the Redis protocol, unmodified, against three nodes", respClients},
	{"client-methods", "families.5", "every method of the published client over HTTP, with its values", clientMethods},
	{"blocking-pops", "families.6", "100 clients wait on three nodes for 10,000 elements: each once, in turn on a node", blockingPops},
	{"hostile-scripts", "families.8", "hostile scripts: bounded, the same on all nodes, which live", hostileScripts},
	{"rdb-import", "families.9", "a file of 1,000,000 keys from redis-server: imported, dumped, restored in another one", importing},
	{"strangers", "security.2", "the parsers that strangers reach before authentication: fuzzed for 5 minutes a target (ARGS=\"-fuzztime 10m\")", strangers},
	{"parsers", "families.10", "the parsers: fuzzed for 5 minutes a target, and their time as what they read grows", parsers},
	{"delivered-once", "messages.3", "100,000 messages from 64 clients, a fifth of the attempts fails, the leader killed every 2 s", deliveredOnce},
	{"fifo", "messages.4", "a queue of 5,000 messages in order, with failures and three leaders killed", inOrder},
	{"schedules", "messages.5", "50 schedules through 10 leaders killed and clocks an hour wrong", onTime},
	{"flow-control", "messages.6", "flow control: rates and parallelism, in peace and with leaders killed", flowControlled},
	{"deduplication", "messages.7", "64 publications of one id at once, also while a leader is killed", onceOnly},
	{"outbox", "messages.8", "10,000 transactions that count and publish, with leaders killed", outbox},
	{"message-cost", "messages.9", "how soon a message arrives, and what a million that wait cost", bench("messages")},
	{"big-join", "messages.12", "messages with bodies of 4 KiB wait: a snapshot, a restart and a join are measured, and what is written (ARGS=\"-messages 5000000\" for 20 GB)", bigJoin},
	{"long-history", "messages.13", "20,000,000 messages and 500,000 runs over two weeks of the clocks: nodes lost, segments damaged, everything found (ARGS=\"-messages 200000\")", longHistory},
	{"waiting-messages", "messages.11", "10,000,000 messages with bodies of 4 KiB wait, the leader is killed, a node replaced (ARGS=\"-messages 500000\" or \"-body 64\" on a smaller disk)", waiting},
	{"many-databases", "databases.1", "100,000 databases: how fast they are made, SETs, memory and a restart beside one database (ARGS=\"-databases 1000\")", many},
	{"cold-values", "keyspace.1", "10 GB of values of 4 KiB go to the disk: memory, hot and cold GETs, a restart, damage and a join (ARGS=\"-messages 50000\")", cold},
	{"clocks", "messages.14", "wall clocks of one node and of all set forward and back: cluster time never stands, nothing comes before its time of day", clocks},
	{"hostile-endpoints", "messages.10", "destinations that do the worst they can, and one that doesn't", hostile},
	{"workflow-clients", "workflows.1", "the published client of workflows, the newest and an old release, unmodified, on three nodes", workflowClients},
	{"workflow-specification", "workflows.2", "every rule of the specification about workflows, on any of three nodes", longTests("./httpapi/workflows/spectest", "Test.*")},
	{"workflow-steps", "workflows.3", "200 runs of 10 steps of mixed types, a tenth of the calls fails, the leader killed every 5 s", mixedRuns},
	{"workflow-waiters", "workflows.4", "1,000 waiters: notify, timeout and cancel at the same moment", waitRace},
	{"workflow-resume", "workflows.5", "resume: finished steps, two at once, 120 in bulk", revivedRuns},
	{"workflow-outages", "workflows.6", "all three nodes killed at 100 moments of the lives of runs", outages},
	{"workflow-step-cost", "workflows.7", "workflows of three empty steps beside Restate, and what a finished step costs", workflowCost},
	{"workflow-growth", "workflows.8", "what a run costs as it grows to 1,000 steps", bench("workflows")},
	{"membership", "operate.1", "nodes join, leave and are replaced, certificates are renewed, every node is upgraded, under load", operate},
	{"foreign-nodes", "operate.2", "two clusters never merge; a wrong key, certificate or cluster id is refused with its reason", refusedStrangers},
	{"backups", "operate.3", "backups under load, restored on three nodes; harmed files; leaders killed during a restore", backups},
	{"walkthroughs", "operate.6", "what docs/operations.md says step by step: three nodes with TLS, one lost and replaced, a backup restored", scripts("walkthrough|restore")},
	{"attacks", "security.1", "attacks on three nodes, none of which succeeds, and what another database's clients see meanwhile", attacks},
	{"neighbours", "security.4", "clients that ask for as much as their database's limits let them, and what another database's clients see meanwhile", neighbours},
	{"prices", "security.5", "small requests whose work or memory was counted nowhere, and what another database's clients see meanwhile", prices},
	{"scaling", "security.6", "every command, pattern, script and queue with eight times the sizes of make test, and operations, searches and lists: what they do grows as what is charged", scaled},
	{"hourly-schedules", "tools.2", "1,000 advances of an hour with 100 hourly schedules: each fires once in each hour", longTests("./clients/triremetest", "TestHourlySchedules", "-full")},
	{"seeded-faults", "reliability.3", "every seeded fault of the product is found within 90 seconds", seededFaults},
	{"simulation", "reliability.4", "500,000 simulated histories of a cluster, none of which breaks a rule", simulation},
	{"rolling-upgrade", "reliability.7", "upgraded and downgraded node by node under load; no way back after the level has risen", rolling},
	{"rolling-proxy", "operate.7", "upgraded, downgraded and restarted node by node behind a reverse proxy that follows /readyz: no request of 100,000 fails", rollingProxy},
}

// find returns the run with the name or former name, or nil.
func find(name string) *acceptance {
	for i := range acceptances {
		if r := &acceptances[i]; name != "" && (r.name == name || r.alias == name) {
			return r
		}
	}
	return nil
}
