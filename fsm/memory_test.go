package fsm_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// fill writes values of 10,000 bytes to a database until one is refused, and returns how many were written and the refusal.
// Then it writes small ones, until it has nothing left.
func (t tenants) fill(db, token string) (written int, refusal string) {
	t.t.Helper()
	written, refusal = t.fillWith(db, token, strings.Repeat("x", 10_000))
	t.fillWith(db, token, "x")
	return written, refusal
}

func (t tenants) fillWith(db, token, value string) (written int, refusal string) {
	t.t.Helper()
	for ; written < 1000; written++ {
		if v := t.exec(db, token, "SET", fmt.Sprint(len(value), "filler", written), value); v.IsError() {
			return written, v.Text()
		}
	}
	t.t.Fatalf("database %q takes everything", db)
	return 0, ""
}

// limits sets the memory of the cluster and the part of it of a database.
func (t tenants) limits(bytes, percent int64) {
	t.t.Helper()
	s := fsm.Settings{MaxMemory: bytes}
	s.SetTenantMemory(percent)
	if _, err := propose(t.deliverer, fsm.Configure, s); err != nil {
		t.t.Fatal(err)
	}
}

// TestDatabaseMemory has a database fill its part of the memory by every kind of write. It is refused by an error that
// names it and its limit, and the others go on writing; when it deletes, so does it.
func TestDatabaseMemory(t *testing.T) {
	c := newTenants(t, 41)
	c.limits(2_000_000, fsm.DefaultTenantMemory)
	written, refusal := c.fill("a", "a-token")
	if written < 90 || written > 100 || !strings.HasPrefix(refusal, "ERR DB capacity quota exceeded. Limit: 1000000 bytes, Actual: 10") || !strings.HasSuffix(refusal, "Setting: maxMemory of database a") {
		t.Fatalf("%d values, then %s", written, refusal)
	}
	for _, words := range [][]string{
		{"SETRANGE", "far", "100000", "x"},
		{"EVAL", "for i = 1, 1000 do redis.call('RPUSH', 'list', string.rep('y', 1000)) end", "0"},
		{"EVAL", "return redis.pcall('SET', 'new', string.rep('y', 100000))", "0"},
		{"MSG.PUBLISH", "http://example.com", "x"},
		{"FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() return 1 end)"},
	} {
		if v := c.exec("a", "a-token", words...); !strings.Contains(v.Text(), "of database a") || !strings.Contains(v.Text(), "Limit: 1000000 bytes") {
			t.Errorf("%s: %.200s", words[0], v.Text())
		}
	}
	publish := queue.Publications{Items: []queue.Publication{url("a")}}
	var refused *fsm.Error
	if _, err := proposeIn(c, "a", c.number("a"), fsm.Publish, publish); !errors.Is(err, queue.ErrMemory) || !errors.As(err, &refused) || !strings.Contains(refused.Text, "memory limit of database a reached") {
		t.Errorf("a publishes: %v", err)
	}
	c.publish("b", url("b"))
	c.publish("", url("default"))
	if v := c.exec("b", "b-token", "SET", "k", strings.Repeat("x", 500_000)); v.IsError() {
		t.Errorf("b writes: %s", v.Text())
	}
	if v := c.exec("a", "a-token", "DEL", "10000filler0", "10000filler1"); v.Int() != 2 {
		t.Errorf("a deletes: %s", v.Text())
	}
	if v := c.exec("a", "a-token", "SET", "k", "v"); v.IsError() {
		t.Errorf("a writes again: %s", v.Text())
	}
	if x, y := c.a.Fork().Digest(), c.b.Fork().Digest(); x != y {
		t.Error("the two machines differ")
	}
}

// TestMemoryOfAllStillCounts: default has no limit of its own, and what it takes is missing for the others, whose refusal is
// then about the cluster.
func TestMemoryOfAllStillCounts(t *testing.T) {
	c := newTenants(t, 42)
	c.limits(1_000_000, fsm.DefaultTenantMemory)
	as := acl.Trusted(acl.DefaultName)
	for i := range 80 {
		batch := fsm.Batch{As: as, Origin: command.RESP, Rows: [][][]byte{{[]byte("SET"), []byte(fmt.Sprint("k", i)), make([]byte, 10_000)}}}
		out, err := propose(c.deliverer, fsm.Exec, batch)
		if err != nil || out.Values[0].IsError() {
			t.Fatalf("value %d: %v, %v", i, err, out.Values)
		}
	}
	written, refusal := c.fill("a", "a-token")
	if written > 20 || !strings.HasPrefix(refusal, "ERR DB capacity quota exceeded. Limit: 1000000 bytes") || !strings.HasSuffix(refusal, "Setting: maxMemory") {
		t.Errorf("%d values, then %s", written, refusal)
	}
}

// TestDatabaseMemoryIsASetting sets the limit of one database, and the part of those without one. It is in snapshots.
func TestDatabaseMemoryIsASetting(t *testing.T) {
	c := newTenants(t, 43)
	set := func(db string, bytes, want int64) {
		t.Helper()
		n, err := propose(c.deliverer, fsm.ConfigureDatabase, fsm.DatabaseSettings{Name: db, MaxMemory: bytes})
		if err != nil || n.Name != db || n.MaxMemory != max(bytes, fsm.ShareOfMemory) || n.Limit != want {
			t.Errorf("%s of %d: %+v, %v; want %d", db, bytes, n, err, want)
		}
		for _, m := range []*fsm.Machine{c.a, restored(t, c.a)} {
			m.View(0, [16]byte{}, func(v *fsm.View) {
				if got, ok := v.DatabaseSettings(db); !ok || got != n {
					t.Errorf("%s is told as %+v, %t", db, got, ok)
				}
			})
		}
	}
	set("a", fsm.ShareOfMemory, 0) // there is no limit to have a part of
	c.limits(1_000_000, 30)
	set("a", fsm.ShareOfMemory, 300_000)
	set("default", fsm.ShareOfMemory, 0)
	set("default", 700_000, 700_000)
	set("a", 0, 0)
	set("a", 100_000, 100_000)
	if written, refusal := c.fill("a", "a-token"); written > 10 || !strings.Contains(refusal, "Limit: 100000 bytes") {
		t.Errorf("%d values, then %s", written, refusal)
	}
	if written, refusal := c.fill("b", "b-token"); written > 30 || !strings.Contains(refusal, "Limit: 300000 bytes") {
		t.Errorf("%d values, then %s", written, refusal)
	}
	if v := c.exec("a", "a-token", "CONFIG", "SET", "maxmemory", "0"); !v.IsError() {
		t.Error("a database sets its own limit")
	}
	if v := c.exec("a", "a-token", "CONFIG", "SET", "", "0"); !v.IsError() {
		t.Error("a database sets its own limit by an empty name")
	}
	set("a", -7, 300_000)
	if _, err := propose(c.deliverer, fsm.ConfigureDatabase, fsm.DatabaseSettings{Name: "none", MaxMemory: 1}); !errors.Is(err, fsm.ErrNoDatabase) {
		t.Errorf("a database that is not there: %v", err)
	}
	c.limits(1_000_000, 100)
	set("a", fsm.ShareOfMemory, 0)
	c.limits(1, 1)
	set("a", fsm.ShareOfMemory, 1) // 0 would be no limit
}

// in is a command of a database.
func in(db string, words ...string) fsm.Request {
	b := fsm.Batch{As: acl.Identity{DB: db, By: acl.ByProcess, User: acl.DefaultName}, Origin: command.RESP, Rows: [][][]byte{nil}}
	for _, w := range words {
		b.Rows[0] = append(b.Rows[0], []byte(w))
	}
	return fsm.Request{Code: fsm.Exec.Code, Body: fsm.Exec.Body(b)}
}

// TestDatabaseEvictsItsOwn has a database with an eviction policy write three times its own limit. It loses keys, and no
// other database does. If the leader picks, it loses those that were not read; without it, the limit holds as well.
func TestDatabaseEvictsItsOwn(t *testing.T) {
	for _, led := range []bool{true, false} {
		t.Run(fmt.Sprintf("led=%t", led), func(t *testing.T) { databaseEvictsItsOwn(t, led) })
	}
}

func databaseEvictsItsOwn(t *testing.T, led bool) {
	const fit, limit = 80, 80 * 1200
	c := newCache(t, keyspace.AllKeysLRU, 100*limit)
	for _, name := range []string{"a", "b"} {
		c.apply(fsm.Request{Code: fsm.CreateDatabase.Code, Body: fsm.CreateDatabase.Body(tokensOf(name))})
	}
	c.apply(fsm.Request{Code: fsm.ConfigureDatabase.Code, Body: fsm.ConfigureDatabase.Body(fsm.DatabaseSettings{Name: "a", MaxMemory: limit})})
	for i := range 2 * fit {
		c.apply(in("b", "SET", fmt.Sprint("k", i), value1000))
	}
	write := func(key string) {
		requests := []fsm.Request{in("a", "SET", key, value1000)}
		room := c.victims.Expect(fsm.Growth{Database: "a", Bytes: int64(len(requests[0].Body)) + 256})
		if led && c.m.Pressed(&c.victims) {
			if picked := c.m.Pick(&c.victims, c.now, [16]byte{byte(c.index), byte(c.index >> 8)}, &room); len(picked.Databases) > 0 {
				requests = append([]fsm.Request{{Code: fsm.Evict.Code, Body: fsm.Evict.Body(picked)}}, requests...)
			}
		}
		out := c.apply(requests...)
		c.victims.Release(room)
		if v := out[len(out)-1].Value.(fsm.Results).Values[0]; v.IsError() {
			t.Fatalf("%s: %s", key, v.Text())
		}
	}
	read := func(db string, words ...string) (v reply.Value) {
		c.now += 100
		c.m.View(c.now, [16]byte{byte(c.now), byte(c.now >> 8)}, func(view *fsm.View) {
			argv := make([][]byte, len(words))
			for i, w := range words {
				argv[i] = []byte(w)
			}
			v = view.Exec(acl.Identity{DB: db, By: acl.ByProcess, User: acl.DefaultName}, command.RESP, argv)
		})
		return v
	}
	for i := range 10 {
		write(fmt.Sprint("hot", i))
	}
	for i := range 3 * fit {
		c.now += 1000
		write(fmt.Sprint("k", i))
		read("a", "GET", fmt.Sprint("hot", i%10))
		read("a", "GET", fmt.Sprint("hot", (i+5)%10))
	}
	var used int64
	c.m.View(c.now, [16]byte{}, func(v *fsm.View) {
		for _, d := range v.Databases() {
			if d.Name == "a" {
				used = d.Bytes
			}
		}
	})
	if used > limit+1300 || used < limit*9/10 {
		t.Errorf("a uses %d bytes of %d", used, limit)
	}
	hot := 0
	for i := range 10 {
		hot += int(read("a", "EXISTS", fmt.Sprint("hot", i)).Int())
	}
	if led && hot < 9 {
		t.Errorf("%d of 10 keys that are read all the time are left", hot)
	}
	if v := read("b", "DBSIZE"); v.Int() != 2*fit {
		t.Errorf("b has %d keys left of %d", v.Int(), 2*fit)
	}
	if text := read("a", "INFO", "memory").Text(); !strings.Contains(text, fmt.Sprintf("maxmemory:%d\r\n", limit)) {
		t.Errorf("INFO of a: %s", text)
	}
	if text := read("a", "MEMORY", "DOCTOR").Text(); !strings.HasPrefix(text, "This database holds ") {
		t.Errorf("MEMORY DOCTOR of a: %s", text)
	}
	c.same()
}
