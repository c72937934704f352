package scenario

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/bench/internal/report"
)

// Scenario measures rows that share their servers.
type Scenario struct {
	Name string
	Rows []report.Row // as planned: without pairs
	run  func(ctx context.Context, b *Bench, rows []*report.Row)
}

// Lines and aims are those of the performance plan, section 2; where a number
// has several figures, each is a part.
var plan = []Scenario{
	{Name: "http", run: runHTTP, Rows: []report.Row{
		{ID: "1", Work: "SET, 64 connections, three nodes", Against: "etcd gateway, three members", Unit: "req/s", Ratio: true, Line: 3, AimAt: 8},
		{ID: "2", Work: "SET, 64 connections, three nodes", Against: "webdis + redis, fsync always, one node", Unit: "req/s", Ratio: true, Line: .45, AimAt: 1},
		{ID: "3", Work: "SET, 64 connections, three nodes, p99", Against: "etcd gateway, three members", Unit: "ms", Ratio: true, AtMost: true, Line: .35, AimAt: .15},
		{ID: "4", Part: "etcd", Work: "linearizable GET, 64 connections, all nodes", Against: "etcd gateway, three members", Unit: "req/s", Ratio: true, Line: 4.5, AimAt: 6},
		{ID: "4", Part: "webdis", Work: "linearizable GET, 64 connections, all nodes", Against: "webdis + redis, fsync always, one node", Unit: "req/s", Ratio: true, Line: .9, AimAt: 1},
	}},
	{Name: "single", run: runSingle, Rows: []report.Row{
		{ID: "5", Part: "SET", Work: "64 connections, one node", Against: "webdis + redis, fsync always, one node", Unit: "req/s", Ratio: true, Line: .6, AimAt: 1},
		{ID: "5", Part: "GET", Work: "64 connections, one node", Against: "webdis + redis, fsync always, one node", Unit: "req/s", Ratio: true, Line: 1, AimAt: 1.2},
	}},
	{Name: "pipeline", run: runPipeline, Rows: []report.Row{
		{ID: "6", Work: "pipelines of 100 SET, 16 connections, three nodes", Against: "redis-benchmark -P 100, fsync always", Unit: "cmd/s", Ratio: true, Line: .4, AimAt: 1},
	}},
	{Name: "resp", run: runRESP, Rows: []report.Row{
		{ID: "7", Part: "P100", Work: "SET over RESP, pipelines of 100, 16 connections, one node", Against: "redis, fsync always, redis-benchmark both", Unit: "cmd/s", Ratio: true, Line: .5, AimAt: 1},
		{ID: "7", Part: "P1", Work: "SET over RESP, 64 connections, one node", Against: "redis, fsync always, redis-benchmark both", Unit: "cmd/s", Ratio: true, Line: .7, AimAt: 1},
	}},
	{Name: "failover", run: runFailover, Rows: []report.Row{
		{ID: "8", Work: "kill -9 of the leader to the first write", Against: "no hint: 1070 ms", Unit: "ms", AtMost: true, Line: 300, AimAt: 100},
	}},
	{Name: "fork", run: runFork, Rows: []report.Row{
		{ID: "9", Work: "worst apply stall in a snapshot, 1 M keys", Against: "redis fork", Unit: "ms", Ratio: true, AtMost: true, Line: .25, AimAt: 1, AimOurs: true},
	}},
	{Name: "memory", run: runMemory, Rows: []report.Row{
		{ID: "10", Work: "live heap a key, 1 M keys of 64 B values", Against: "redis used_memory", Unit: "B", Ratio: true, AtMost: true, Line: 1.3, AimAt: 1},
		{ID: "10b", Work: "resident memory after 6 M SETs over 1 M keys of 64 B values", Against: "redis", Unit: "MB", Ratio: true, AtMost: true, Line: 2, AimAt: 1.3},
		{ID: "11", Work: "kill -9 and back with 1 M keys, one node", Against: "redis loading its dump", Unit: "ms", Ratio: true, AtMost: true, Line: 2, AimAt: 1},
	}},
	{Name: "publish", run: runPublish, Rows: []report.Row{
		{ID: "12", Part: "SET", Work: "publish, 64 connections, three nodes", Against: "SET of the same cluster", Unit: "req/s", Ratio: true, Line: .8, AimAt: 1},
		{ID: "12", Part: "NATS", Work: "publish, 64 connections, three nodes", Against: "NATS JetStream, three replicas, synced, 64 clients", Unit: "msg/s", Ratio: true, Line: .6, AimAt: 1.5},
	}},
	{Name: "deliveries", run: runDeliveries, Rows: []report.Row{
		{ID: "13", Part: "durable", Work: "deliveries end to end, 64 parallel, three nodes", Against: "asynq + redis, fsync always, one node", Unit: "msg/s", Ratio: true, Line: 2.5, AimAt: 6},
		{ID: "13", Part: "memory", Work: "deliveries end to end, 64 parallel, three nodes", Against: "asynq + redis, no persistence, one node", Unit: "msg/s", Ratio: true, Line: .6, AimAt: 1.5},
	}},
	{Name: "workflows", run: runWorkflows, Rows: []report.Row{
		{ID: "14", Work: "workflows of three empty steps, 64 at once, three nodes", Against: "Restate, one node", Unit: "runs/s", Ratio: true, Line: 1, AimAt: 3},
		{ID: "15", Work: "workflows of three empty steps, one at a time, p50", Against: "Restate, one node", Unit: "ms", Ratio: true, AtMost: true, Line: 2, AimAt: .8},
	}},
	{Name: "extensions", run: runExtensions, Rows: []report.Row{
		{ID: "21", Part: "p50", Work: "workflows of three empty steps in one delivery, one at a time, p50", Against: "a delivery for each step", Unit: "ms", Ratio: true, AtMost: true, Line: .8, AimAt: .5},
		{ID: "21", Part: "rate", Work: "workflows of three empty steps in one delivery, 64 at once", Against: "a delivery for each step", Unit: "runs/s", Ratio: true, Line: 1.2, AimAt: 2},
		{ID: "22", Work: "workflows of three steps that each commit a SET, 64 at once", Against: "empty steps", Unit: "runs/s", Ratio: true, Line: .7, AimAt: .9},
		{ID: "23", Work: "deliveries of ten priorities, 64 parallel", Against: "without priorities", Unit: "msg/s", Ratio: true, Line: .9, AimAt: 1},
		{ID: "24", Work: "publications delivered in batches of 100", Against: "each by itself", Unit: "msg/s", Ratio: true, Line: 1, AimAt: 1.5},
		{ID: "25", Part: "p50", Work: "workflows of three empty steps in one delivery, ahead of the log, one at a time, p50", Against: "a delivery for each step", Unit: "ms", Ratio: true, AtMost: true, Line: .6, AimAt: .4},
		{ID: "25", Part: "rate", Work: "workflows of three empty steps in one delivery, ahead of the log, 64 at once", Against: "a delivery for each step", Unit: "runs/s", Ratio: true, Line: 1.6, AimAt: 2.5},
	}},
	{Name: "follower", run: runFollower, Rows: []report.Row{
		{ID: "16", Work: "SET through a follower, 1 connection, p50", Against: "through the leader", Unit: "ms", Ratio: true, AtMost: true, Line: 1.5, AimAt: 1.2},
		{ID: "17", Work: "read on a follower right after a write, p50", Against: "on the leader", Unit: "ms", Ratio: true, AtMost: true, Line: 3, AimAt: 1.5},
	}},
	{Name: "steady", run: runSteady, Rows: []report.Row{
		{ID: "18", Work: "leadership changes beside busy loops", Against: "none", Unit: "changes", AtMost: true, Line: 0, AimAt: 0},
	}},
	{Name: "vectors", run: runVectors, Rows: []report.Row{
		{ID: "19", Part: "rate", Work: "VECTOR.QUERY, ten nearest, 384 dimensions, one node", Against: "flat scan in Go, in memory", Unit: "query/s", Ratio: true, Line: .5, AimAt: .9},
		{ID: "19", Part: "recall", Work: "VECTOR.QUERY, ten nearest: those of the scan that were found", Against: "flat scan in Go", Unit: "%", Line: 99, AimAt: 100},
	}},
	{Name: "search", run: runSearch, Rows: []report.Row{
		{ID: "20", Part: "index", Work: "hashes stored and indexed for SEARCH, one node", Against: "bleve alone, on disk", Unit: "doc/s", Ratio: true, Line: 1, AimAt: 2},
		{ID: "20", Part: "query", Work: "SEARCH.QUERY for a word, 4 connections, one node", Against: "bleve alone, on disk", Unit: "query/s", Ratio: true, Line: .5, AimAt: 1},
	}},
}

// Numbers are the row numbers that this benchmark can measure.
func Numbers() []string {
	var all []string
	for _, s := range plan {
		for _, r := range s.Rows {
			if !slices.Contains(all, r.ID) {
				all = append(all, r.ID)
			}
		}
	}
	number := func(id string) int { return len(strings.TrimRight(id, "b")) }
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(number(a)-number(b), strings.Compare(a, b)) })
	return all
}

// Run measures the rows whose numbers are in want and hands each scenario's
// rows to done as soon as they are judged, so that an interrupted run keeps
// what it has.
func (b *Bench) Run(ctx context.Context, want []string, done func([]*report.Row)) error {
	for _, s := range plan {
		var rows []*report.Row
		for _, r := range s.Rows {
			if slices.Contains(want, r.ID) {
				rows = append(rows, &r)
			}
		}
		if len(rows) == 0 {
			continue
		}
		b.Log("scenario %s: %d row(s)", s.Name, len(rows))
		s.run(ctx, b, rows)
		if err := ctx.Err(); err != nil {
			return err
		}
		done(rows)
	}
	return nil
}
