package command_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// accessed is a replica whose time a test moves, with the command lines that tests write.
type accessed struct {
	*replica
	now int64
}

func newAccessed(t *testing.T) *accessed { return &accessed{newReplica(t), scripttest.Start} }

func (a *accessed) do(line string) reply.Value {
	return a.run(a.now, &scripttest.Step{Argv: bytes.Fields([]byte(line)), Origin: command.RESP, As: acl.Trusted(acl.DefaultName)})
}

// usedOrNot are commands, and for how many seconds key k, which was idle for 100 before, is idle after them.
var usedOrNot = []struct {
	line string
	idle int64
}{
	{"TTL k", 100}, {"PTTL k", 100}, {"EXPIRETIME k", 100}, {"PEXPIRETIME k", 100}, {"TYPE k", 100}, {"EXISTS k", 100}, {"OBJECT ENCODING k", 100},
	{"OBJECT REFCOUNT k", 100}, {"OBJECT IDLETIME k", 100}, {"MEMORY USAGE k", 100}, {"SCAN 0", 100}, {"KEYS *", 100}, {"DBSIZE", 100}, {"WATCH k", 100},
	{"TOUCH k", 0}, {"GET k", 0}, {"STRLEN k", 0}, {"MGET other k", 0}, {"GETRANGE k 0 1", 0}, {"GETBIT k 1", 0}, {"DUMP k", 0}, {"SET k v", 0}, {"SET k v NX", 0},
	{"APPEND k x", 0}, {"EXPIRE k 1000", 0}, {"PERSIST k", 0}, {"SETBIT k 1 1", 0}, {"COPY k copy", 0}, {"LPUSH k x", 0}, {"HGET k f", 0},
}

// TestAccess holds the time of the last use of a key against redis-server's, command by command.
func TestAccess(t *testing.T) {
	real := startRedis(t)
	ours := newAccessed(t)
	both := func(line string) reply.Value {
		real.do(bytes.Fields([]byte(line))...)
		return ours.do(line)
	}
	for _, c := range usedOrNot {
		tick(t, real, ours.now)
		real.empty()
		ours.do("FLUSHALL")
		both("SET k v")
		ours.now += 100_000
		tick(t, real, ours.now)
		if c.line != "WATCH k" { // which the connection keeps
			both(c.line)
		}
		if got := ours.do("OBJECT IDLETIME k"); !got.Equal(reply.Int(c.idle)) {
			t.Errorf("after %s the key is idle for %v s, want %d", c.line, got, c.idle)
		}
		if got := real.do([]byte("OBJECT"), []byte("IDLETIME"), []byte("k")); !got.Equal(reply.Int(c.idle)) {
			t.Errorf("after %s redis-server says %v, want %d", c.line, got, c.idle)
		}
	}
}

// tick sets the clock of redis-server and waits until its clock of uses, which goes by a timer, has seen that.
func tick(t *testing.T, r *realRedis, now int64) {
	t.Helper()
	r.setClock(now)
	want := fmt.Sprintf("lru_clock:%d\r\n", now/1000&(1<<24-1))
	for deadline := time.Now().Add(time.Minute); !strings.Contains(r.do([]byte("INFO"), []byte("server")).Text(), want); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the clock of redis-server never was %s", want)
		}
	}
}

// TestAccessMoves has the use of a key go where its value goes, and not come from nowhere.
func TestAccessMoves(t *testing.T) {
	r := newAccessed(t)
	r.do("SET k v")
	r.do("HSET h f v")
	r.now += 10_000
	r.do("GET k")
	r.do("HGET h f")
	r.now += 10_000
	r.do("COPY k copied")
	for key, idle := range map[string]int64{"k": 0, "h": 10, "copied": 0} {
		if got := r.do("OBJECT IDLETIME " + key); !got.Equal(reply.Int(idle)) {
			t.Errorf("%s is idle for %v s, want %d", key, got, idle)
		}
	}
	r.now += 10_000
	r.do("RENAME h hash")
	if got := r.do("OBJECT IDLETIME hash"); !got.Equal(reply.Int(0)) {
		t.Errorf("a key that was just renamed is idle for %v s", got)
	}
	r.restore()
	r.now += 5_000
	if got := r.do("OBJECT IDLETIME k"); !got.Equal(reply.Int(5)) {
		t.Errorf("5 s after a restart a key is idle for %v s", got)
	}
}

// TestAccessIsNoPartOfTheState reads on one of two replicas and compares their digests; what an entry computes does not
// depend on it either.
func TestAccessIsNoPartOfTheState(t *testing.T) {
	a, b := newAccessed(t), newAccessed(t)
	for _, r := range []*accessed{a, b} {
		r.do("SET k v")
		r.now += 60_000
	}
	a.do("GET k")
	if got, other := a.do("OBJECT IDLETIME k"), b.do("OBJECT IDLETIME k"); !got.Equal(reply.Int(0)) || !other.Equal(reply.Int(60)) {
		t.Fatalf("the node that served a read says %v, the other %v", got, other)
	}
	for _, r := range []*accessed{a, b} {
		r.do("SET other x")
		v := r.do(`EVAL return(redis.call('SET','told',redis.call('OBJECT','IDLETIME','k'))) 0`)
		if !v.IsError() {
			t.Fatalf("a script was told what only one node knows: %v", v)
		}
	}
	if a.digest() != b.digest() {
		t.Error("a read has changed the state")
	}
}

// TestUnchangedBitsAreNoChange compares with redis-server which commands on bits count as a change and cause an event.
func TestUnchangedBitsAreNoChange(t *testing.T) {
	real, ours := startRedis(t), newAccessed(t)
	ours.m.SetHost(&command.Host{})
	changes := regexp.MustCompile(`rdb_changes_since_last_save:(\d+)`)
	count := func(do func(string) reply.Value) string { return changes.FindString(do("INFO persistence").Text()) }
	theirs := func(line string) reply.Value { return real.do(bytes.Fields([]byte(line))...) }
	real.setClock(ours.now)
	for _, line := range []string{
		"SETBIT b 7 1", "SETBIT b 7 1", "SETBIT b 7 0", "SETBIT b 7 0", "SETBIT b 100 0", "SETBIT b 100 0", "SETBIT new 3 0",
		"BITFIELD b SET u8 0 5", "BITFIELD b SET u8 0 5", "BITFIELD b INCRBY u8 0 0", "BITFIELD b INCRBY u8 0 1", "BITFIELD b GET u8 0",
		"BITFIELD b OVERFLOW FAIL INCRBY u2 0 9", "BITFIELD b SET u8 800 0", "BITFIELD b SET u8 800 0", "DEL none", "DEL b", "FLUSHALL",
	} {
		was, before := count(ours.do), count(theirs)
		got, want := ours.do(line), theirs(line)
		if !got.Equal(want) {
			t.Errorf("%s answers %v, redis-server %v", line, got, want)
		}
		if changed, should := was != count(ours.do), before != count(theirs); changed != should {
			t.Errorf("%s counts as a change: %v, with redis-server: %v", line, changed, should)
		}
	}
}
