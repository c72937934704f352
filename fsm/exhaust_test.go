package fsm_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/commandtest"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// fullDatabase is a database at its memory limit, from which everything is tried that may add to it.
type fullDatabase struct {
	*databases
	serial int
}

const fullLimit = 300_000

func newFullDatabase(t *testing.T) *fullDatabase {
	f := &fullDatabase{databases: newDatabases(t)}
	f.must(fsm.SetLevel.Code, fsm.SetLevel.Body(fsm.LevelChange{Level: env.Base}))
	if err := f.create("a"); err != nil {
		t.Fatal(err)
	}
	for _, words := range [][]string{
		{"SET", "string", "v"}, {"RPUSH", "list", "a", "b", "c"}, {"SADD", "set", "a", "b", "c"}, {"ZADD", "zset", "1", "a", "2", "b"}, {"HSET", "hash", "f", "v", "g", "w"},
		{"XADD", "stream", "1-1", "f", "v"}, {"XADD", "stream", "1-2", "f", "v"}, {"XGROUP", "CREATE", "stream", "group", "0"}, {"JSON.SET", "json", "$", `{"a":[1],"b":"c"}`},
	} {
		if v := f.do(words...); v != "" {
			t.Fatalf("%v: %s", words, v)
		}
	}
	f.must(fsm.ConfigureDatabase.Code, fsm.ConfigureDatabase.Body(fsm.DatabaseSettings{Name: "a", MaxMemory: fullLimit}))
	f.refill()
	return f
}

func (fd *fullDatabase) must(code uint16, body []byte) {
	fd.t.Helper()
	if _, err := fd.propose(code, body); err != nil {
		fd.t.Fatal(err)
	}
}

// do runs a command and returns its error, empty if it has none.
func (fd *fullDatabase) do(words ...string) string {
	fd.t.Helper()
	row := make([][]byte, len(words))
	for i, w := range words {
		row[i] = []byte(w)
	}
	return fd.rows(row)[0]
}

func (fd *fullDatabase) rows(rows ...[][]byte) (refusals []string) {
	fd.t.Helper()
	as := acl.Identity{DB: "a", By: acl.ByProcess, User: acl.DefaultName}
	v, err := fd.propose(fsm.Exec.Code, fsm.Exec.Body(fsm.Batch{As: as, Origin: command.RESP, Mode: fsm.Pipeline, Rows: rows}))
	if err != nil {
		fd.t.Fatal(err)
	}
	for _, one := range v.(fsm.Results).Values {
		text := ""
		if one.IsError() {
			text = one.Text()
		}
		refusals = append(refusals, text)
	}
	return refusals
}

// refill fills the database again, after something that has made room.
func (fd *fullDatabase) refill() {
	fd.t.Helper()
	for _, size := range []int{5000, 100} {
		for fd.do("SET", fd.unique(10), strings.Repeat("x", size)) == "" {
		}
	}
}

// unique is a word that was not used before.
func (fd *fullDatabase) unique(size int) string {
	fd.serial++
	name := fmt.Sprint("u", fd.serial)
	return name + strings.Repeat("x", max(0, size-len(name)))
}

// check fails if the database holds more than its limit, what one command may exceed it by, and the deadlines of its keys.
func (fd *fullDatabase) check(tried any) {
	fd.t.Helper()
	fd.m.View(0, [16]byte{}, func(v *fsm.View) {
		for _, d := range v.Databases() {
			if most := int64(fullLimit + fullLimit/100 + 48*d.Keys); d.Name == "a" && d.Bytes > most {
				fd.t.Fatalf("%.200q: a holds %d bytes, %d are allowed", tried, d.Bytes, most)
			}
		}
	})
}

// TestNoCommandFillsADatabase runs every command of the table with long words that were not there before, again and again,
// in a database that is at its limit. Whatever they add, the limit holds.
func TestNoCommandFillsADatabase(t *testing.T) {
	f := newFullDatabase(t)
	const long = "LONG"
	patterns := [][]string{
		{long}, {long, long}, {long, long, long}, {long, "1", long}, {"2", long, long}, {"NAME", long}, {"1", "body " + long},
	}
	for _, key := range []string{"string", "list", "set", "zset", "hash", "stream", "json"} {
		patterns = append(patterns, []string{key, long}, []string{key, long, long}, []string{key, long, "1"}, []string{key, "1", long}, []string{key, key + "2", long})
	}
	tried := 0
	for _, c := range command.NewTable().Rows() {
		if c.Flags&command.Write == 0 || slices.Contains([]string{"flushall", "flushdb"}, c.Name) {
			continue
		}
		for _, p := range patterns {
			var rows [][][]byte
			for range 2 {
				var row [][]byte
				for _, w := range strings.Fields(c.Name) {
					row = append(row, []byte(w))
				}
				for _, w := range p {
					row = append(row, []byte(strings.ReplaceAll(w, long, f.unique(4000))))
				}
				rows = append(rows, row)
			}
			f.rows(rows...)
			tried += len(rows)
			f.check(rows[0])
		}
		f.refill()
	}
	if tried < 10_000 {
		t.Errorf("%d commands only", tried)
	}
}

// TestNoRandomCommandFillsADatabase does the same with commands that are mostly right.
func TestNoRandomCommandFillsADatabase(t *testing.T) {
	f := newFullDatabase(t)
	source := commandtest.Source{Rand: rand.New(rand.NewPCG(1, 2))}
	for i := range 400 {
		var rows [][][]byte
		for range 20 {
			if row := source.Next(); len(row) > 0 {
				rows = append(rows, row)
			}
		}
		f.rows(rows...)
		f.check(rows)
		if i%20 == 0 {
			f.refill()
		}
	}
}

// TestTablesOfADatabaseAreFull fills every table of a database that is no key, one by one, by what is valid.
func TestTablesOfADatabaseAreFull(t *testing.T) {
	f := newFullDatabase(t)
	for name, make := range map[string]func() []string{
		"functions": func() []string {
			lib := f.unique(0)
			return []string{"FUNCTION", "LOAD", "#!lua name=" + lib + "\nredis.register_function('" + lib + "', function() return '" + f.unique(500) + "' end)"}
		},
		"scripts":             func() []string { return []string{"SCRIPT", "LOAD", "return '" + f.unique(500) + "'"} },
		"scripts that ran":    func() []string { return []string{"EVAL", "return '" + f.unique(500) + "'", "0"} },
		"users":               func() []string { return []string{"ACL", "SETUSER", f.unique(200)} },
		"rules of a user":     func() []string { return []string{"ACL", "SETUSER", "user", "~" + f.unique(500)} },
		"passwords of a user": func() []string { return []string{"ACL", "SETUSER", "user", ">" + f.unique(500)} },
		"consumers": func() []string {
			return []string{"XREADGROUP", "GROUP", "group", f.unique(500), "STREAMS", "stream", ">"}
		},
		"consumers by claims": func() []string { return []string{"XCLAIM", "stream", "group", f.unique(500), "0", "1-1"} },
		"consumers by sweeps": func() []string { return []string{"XAUTOCLAIM", "stream", "group", f.unique(500), "0", "0"} },
		"messages":            func() []string { return []string{"MSG.PUBLISH", "http://example.com/" + f.unique(500), "x"} },
		"queues by messages":  func() []string { return []string{"MSG.PUBLISH", "http://example.com/", "x", "QUEUE", f.unique(200)} },
		"aliases of indexes":  func() []string { return []string{"SEARCH.ALIASADD", f.unique(500), "index"} },
	} {
		t.Run(name, func(t *testing.T) {
			f.t = t
			for range 200 {
				f.do(make()...)
				f.check(name)
			}
		})
	}
	f.t = t
	key := "string"
	for range 20 { // names that get longer
		longer := key + f.unique(1000)
		if f.do("RENAME", key, longer) == "" {
			key = longer
		}
		f.check("RENAME")
	}
	number := uint64(0)
	f.m.View(0, [16]byte{}, func(v *fsm.View) { number = v.Database("a") })
	refused := 0
	for range 200 {
		for _, q := range []fsm.Owned{
			{Code: fsm.ChangeQueue.Code, Body: fsm.ChangeQueue.Body(queue.QueueChange{Name: f.unique(0), Act: queue.ActPut, Parallelism: 1})},
			{Code: fsm.ChangeGroup.Code, Body: fsm.ChangeGroup.Body(queue.GroupChange{Name: f.unique(0), Act: queue.ActAddEndpoints, Endpoints: []queue.Endpoint{{URL: "http://example.com/" + f.unique(500)}}})},
			{Code: fsm.ChangeFlowControl.Code, Body: fsm.ChangeFlowControl.Body(queue.FlowControlChange{Key: f.unique(500), Act: queue.ActPause})},
			{Code: fsm.PutSchedule.Code, Body: fsm.PutSchedule.Body(queue.SchedulePut{})},
			{Code: fsm.Publish.Code, Body: fsm.Publish.Body(queue.Publications{Items: []queue.Publication{url(f.unique(500))}})},
		} {
			q.Database, q.Number = "a", number
			if _, err := f.propose(fsm.InDatabase.Code, fsm.InDatabase.Body(q)); errors.Is(err, queue.ErrMemory) {
				refused++
			}
			f.check(q.Code)
		}
	}
	if refused < 900 {
		t.Errorf("%d of 1000 operations were refused", refused)
	}
}

// TestFullDatabaseLetsGo: what frees memory, or is needed to get there, runs in a database at its limit.
func TestFullDatabaseLetsGo(t *testing.T) {
	f := newFullDatabase(t)
	for _, words := range [][]string{
		{"EXPIRE", "set", "1000"}, {"XREADGROUP", "GROUP", "group", "consumer", "STREAMS", "stream", ">"}, {"XACK", "stream", "group", "1-1"}, {"XDEL", "stream", "1-1"},
		{"EVAL", "return redis.call('DEL', 'list')", "0"}, {"RENAME", "hash", "h"}, {"HDEL", "h", "f"}, {"CONFIG", "SET", "maxmemory-policy", keyspace.AllKeysLRU.String()},
		{"SET", "k", "v"}, {"FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() return 1 end)"},
	} {
		if refusal := f.do(words...); refusal != "" {
			t.Errorf("%v: %s", words, refusal)
		}
	}
	f.check("all")
}
