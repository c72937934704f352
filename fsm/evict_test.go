package fsm_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// cache is a machine at a memory limit, and another that applies the same entries but serves no reads.
type cache struct {
	t       *testing.T
	m, twin *fsm.Machine
	index   uint64
	now     int64
	victims fsm.Victims
}

func newCache(t *testing.T, policy keyspace.Policy, limit int64) *cache {
	c := &cache{t: t, m: fsm.NewMachine(), twin: fsm.NewMachine(), now: 1_700_000_000_000}
	c.apply(fsm.Request{Code: fsm.SetLevel.Code, Body: fsm.SetLevel.Body(fsm.LevelChange{Level: fsm.MaxLevel})})
	// A database may fill all of the memory: what the limit of each does, memory_test.go looks at.
	c.apply(fsm.Request{Code: fsm.Configure.Code, Body: fsm.Configure.Body(fsm.Settings{MaxMemory: limit, Policy: policy, TenantMemoryPercent: 100})})
	return c
}

// apply applies an entry on both machines.
func (c *cache) apply(requests ...fsm.Request) []fsm.Outcome {
	c.t.Helper()
	c.index++
	e := fsm.Entry{Stamp: c.now, Term: 1, Requests: requests}
	e.Seed[0], e.Seed[1] = byte(c.index), byte(c.index>>8)
	data := e.Encode()
	if _, err := c.twin.Apply(c.index, 1, bytes.Clone(data)); err != nil {
		c.t.Fatal(err)
	}
	outcomes, err := c.m.Apply(c.index, 1, data)
	if err != nil {
		c.t.Fatal(err)
	}
	return outcomes
}

func exec(words ...string) fsm.Request {
	var argv [][]byte
	for _, w := range words {
		argv = append(argv, []byte(w))
	}
	return fsm.Request{Code: fsm.Exec.Code, Body: fsm.Exec.Body(fsm.Batch{As: acl.Trusted(acl.DefaultName), Origin: command.RESP, Rows: [][][]byte{argv}})}
}

// write is a command in an entry of its own, in which the leader makes room first.
func (c *cache) write(led bool, words ...string) reply.Value {
	c.t.Helper()
	requests := []fsm.Request{exec(words...)}
	room := c.victims.Expect(fsm.Growth{Database: fsm.DefaultDB, Bytes: int64(len(requests[0].Body)) + 256})
	if led && c.m.Pressed(&c.victims) {
		if picked := c.m.Pick(&c.victims, c.now, [16]byte{byte(c.index), byte(c.index >> 8)}, &room); len(picked.Databases) > 0 {
			requests = append([]fsm.Request{{Code: fsm.Evict.Code, Body: fsm.Evict.Body(picked)}}, requests...)
		}
	}
	out := c.apply(requests...)
	c.victims.Release(room)
	return out[len(out)-1].Value.(fsm.Results).Values[0]
}

func (c *cache) read(words ...string) (v reply.Value) {
	c.now += 100
	seed := [16]byte{byte(c.now), byte(c.now >> 8), byte(c.now >> 16)}
	c.m.View(c.now, seed, func(view *fsm.View) {
		var argv [][]byte
		for _, w := range words {
			argv = append(argv, []byte(w))
		}
		v = view.Exec(acl.Trusted(acl.DefaultName), command.RESP, argv)
	})
	return v
}

// left counts those of the keys prefix0, prefix1, ... that exist.
func (c *cache) left(prefix string, n int) (count int) {
	for i := range n {
		count += int(c.read("EXISTS", fmt.Sprint(prefix, i)).Int())
	}
	return count
}

func (c *cache) same() {
	c.t.Helper()
	if a, b := c.m.Fork().Digest(), c.twin.Fork().Digest(); a != b {
		c.t.Error("the two machines differ")
	}
}

var value1000 = strings.Repeat("v", 1000)

// TestEviction fills a machine to three times its limit by each policy, while a tenth of its first keys is read, and looks
// which are left. A machine that serves no reads and applies the same entries has the same state.
func TestEviction(t *testing.T) {
	for policy := keyspace.AllKeysLRU; policy <= keyspace.VolatileTTL; policy++ {
		for _, led := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/led=%v", policy, led), func(t *testing.T) { evicts(t, policy, led) })
		}
	}
}

func evicts(t *testing.T, policy keyspace.Policy, led bool) {
	const fit, limit = 80, 80 * 1200
	c := newCache(t, policy, limit)
	for i := range 20 {
		c.write(led, "SET", fmt.Sprint("kept", i), value1000) // without a deadline
	}
	for i := range 20 {
		c.write(led, "SET", fmt.Sprint("hot", i), value1000, "EX", "100000")
	}
	for i := range 3 * fit {
		c.now += 1000
		if v := c.write(led, "SET", fmt.Sprint("k", i), value1000, "EX", fmt.Sprint(10_000+i)); v.IsError() {
			t.Fatalf("write %d: %s", i, v.Text())
		}
		if led {
			c.read("GET", fmt.Sprint("hot", i%20))
			c.read("GET", fmt.Sprint("hot", (i+10)%20))
		}
	}
	if used := usage(c.m); used > limit+1300 || used < limit*9/10 {
		t.Errorf("%d bytes are used of %d", used, limit)
	}
	if kept := c.left("kept", 20); policy.Volatile() && kept != 20 {
		t.Errorf("%d of 20 keys without a deadline are left", kept)
	}
	hot, newest := c.left("hot", 20), c.left("k", 3*fit)
	if policy == keyspace.VolatileTTL && (hot != 20 || c.read("EXISTS", fmt.Sprint("k", 3*fit-1)).Int() != 1 || c.read("EXISTS", "k0").Int() != 0) {
		t.Errorf("the nearest deadlines did not go first: %d of 20 with the farthest are left", hot)
	}
	random := policy == keyspace.AllKeysRandom || policy == keyspace.VolatileRandom
	if led && !random && hot < 19 {
		t.Errorf("%d of 20 keys that are read all the time are left, and %d others", hot, newest)
	}
	if n := c.read("INFO", "stats").Text(); !strings.Contains(n, "evicted_keys:") || strings.Contains(n, "evicted_keys:0\r\n") {
		t.Errorf("INFO: %s", n)
	}
	c.same()
}

func usage(m *fsm.Machine) (bytes int64) {
	m.View(0, [16]byte{}, func(v *fsm.View) { _, bytes = v.Usage() })
	return bytes
}

// TestNothingToEvict has writes refused only when no key may make room for them.
func TestNothingToEvict(t *testing.T) {
	c := newCache(t, keyspace.VolatileLRU, 20_000)
	for i := range 30 {
		c.write(true, "SET", fmt.Sprint("k", i), value1000)
	}
	if v := c.write(true, "SET", "more", value1000); !v.Equal(command.ErrOOM) {
		t.Errorf("a write with nothing to evict: %v", v)
	}
	c.write(true, "PEXPIRE", "k0", "1000000")
	if v := c.write(true, "SET", "more", value1000); v.IsError() {
		t.Errorf("a write that a key could make room for: %s", v.Text())
	}
	if left := c.left("k", 30); c.read("EXISTS", "k0").Int() != 0 || left == 0 {
		t.Errorf("the key with a deadline is left, %d in all, %d bytes, TTL %v", left, usage(c.m), c.read("TTL", "k0"))
	}
	if v := c.write(true, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru"); !v.Equal(reply.OK()) {
		t.Fatalf("CONFIG SET: %v", v)
	}
	for i := range 50 {
		if v := c.write(true, "SET", fmt.Sprint("n", i), value1000); v.IsError() {
			t.Fatalf("write %d after the policy was changed: %s", i, v.Text())
		}
	}
	c.same()
}

// TestEvictionForScripts has a script, a transaction and a large value need more room than the leader could foresee. None
// of them loses a key that it has written itself.
func TestEvictionForScripts(t *testing.T) {
	c := newCache(t, keyspace.AllKeysRandom, 200_000)
	for i := range 300 {
		c.write(true, "SET", fmt.Sprint("old", i), value1000)
	}
	v := c.write(true, "EVAL", `for i=1,50 do redis.call('SET','s'..i,string.rep('x',1000)) end return redis.call('EXISTS','s1','s50')`, "0")
	if !v.Equal(reply.Int(2)) {
		t.Fatalf("a script: %v", v)
	}
	if v := c.write(true, "SET", "large", strings.Repeat("x", 100_000)); v.IsError() {
		t.Errorf("a large value: %s", v.Text())
	}
	if v := c.write(true, "SETRANGE", "long", "150000", "x"); v.IsError() {
		t.Errorf("a string that becomes long: %s", v.Text())
	}
	if v := c.write(true, "SET", "huge", strings.Repeat("x", 250_000)); !v.Equal(command.ErrOOM) {
		t.Errorf("a value above the limit: kind %v", v.Kind())
	}
	c.same()
}

// TestFrequency has the counter of uses grow with reads and fall with time, under an LFU policy only.
func TestFrequency(t *testing.T) {
	c := newCache(t, keyspace.AllKeysLFU, 1<<20)
	c.write(true, "SET", "k", "v")
	if v := c.read("OBJECT", "FREQ", "k"); !v.Equal(reply.Int(5)) {
		t.Errorf("a new key: %v", v)
	}
	for range 1000 {
		c.now -= 99
		c.read("GET", "k")
	}
	many := c.read("OBJECT", "FREQ", "k").Int()
	if many < 8 || many > 40 {
		t.Errorf("after 1000 reads: %d", many)
	}
	c.now += 3 * 60_000
	if v := c.read("OBJECT", "FREQ", "k").Int(); v != many-3 {
		t.Errorf("after 3 minutes more: %d, was %d", v, many)
	}
	if v := c.read("OBJECT", "IDLETIME", "k"); !v.IsError() || !strings.Contains(v.Text(), "An LFU maxmemory policy is selected") {
		t.Errorf("OBJECT IDLETIME: %v", v)
	}
	c.write(true, "CONFIG", "SET", "maxmemory-policy", "noeviction")
	if v := c.read("OBJECT", "FREQ", "k"); !v.IsError() {
		t.Errorf("OBJECT FREQ without an LFU policy: %v", v)
	}
}

// TestMessagesAreNotEvicted fills the limit with messages: keys make room for them, and when none is left a message is
// refused, while all that were taken are still there.
func TestMessagesAreNotEvicted(t *testing.T) {
	c := newCache(t, keyspace.AllKeysLRU, 100_000)
	for i := range 100 {
		c.write(true, "SET", fmt.Sprint("k", i), value1000)
	}
	publish := queue.Publications{Items: []queue.Publication{{URL: "http://example.com", Body: []byte(value1000)}}}
	taken := 0
	for ; taken < 1000; taken++ {
		if o := c.apply(fsm.Request{Code: fsm.Publish.Code, Body: fsm.Publish.Body(publish)})[0]; o.Err != nil {
			if !errors.Is(o.Err, queue.ErrMemory) {
				t.Fatal(o.Err)
			}
			break
		}
	}
	var kept int
	c.m.View(c.now, [16]byte{}, func(v *fsm.View) { kept = v.Contents().Messages.Messages })
	if keys := c.left("k", 100); taken < 50 || taken == 1000 || kept != taken || keys != 0 {
		t.Errorf("%d messages were taken, %d are kept, and %d keys", taken, kept, keys)
	}
	if v := c.write(true, "SET", "k", strings.Repeat(value1000, 3)); !v.Equal(command.ErrOOM) { // less than a message is left
		t.Errorf("a key in place of messages: %v", v)
	}
	c.same()
}

// TestRefusedEvictionIsTold has a command evict keys of another database and be undone nevertheless, for want of more:
// what is told is that those keys are gone, and nothing of its own.
func TestRefusedEvictionIsTold(t *testing.T) {
	c := newCache(t, keyspace.VolatileLRU, 200_000)
	c.apply(fsm.Request{Code: fsm.CreateDatabase.Code, Body: fsm.CreateDatabase.Body(tokensOf("other"))})
	for i := range 100 {
		c.apply(in("other", "SET", fmt.Sprint("stays", i), value1000))
	}
	for i := range 5 {
		c.apply(in("other", "SET", fmt.Sprint("goes", i), value1000, "EX", "1000"))
	}
	var told []string
	c.m.Track(true)
	c.m.Hooks.Notifications = func(notes []env.Notification) {
		for _, n := range notes {
			told = append(told, n.DB+"/"+n.Channel)
		}
	}
	out := c.apply(in(fsm.DefaultDB, "SET", "large", strings.Repeat("x", 150_000)))
	if v := out[0].Value.(fsm.Results).Values[0]; !v.Equal(command.ErrOOM) {
		t.Fatalf("%v", v)
	}
	slices.Sort(told)
	if got := strings.Join(told, " "); got != "other/goes0 other/goes1 other/goes2 other/goes3 other/goes4" {
		t.Errorf("told: %s", got)
	}
	if v := c.read("EXISTS", "large"); !v.Equal(reply.Int(0)) {
		t.Errorf("EXISTS large: %v", v)
	}
	told = nil
	c.apply(in("other", "SET", "goes", value1000, "EX", "1000"))
	c.apply(in(fsm.DefaultDB, "SET", "huge", strings.Repeat("x", 250_000)))
	if got := strings.Join(told, " "); got != "other/goes" {
		t.Errorf("told of what is larger than the limit: %s", got)
	}
	c.same()
}

// TestEvictedTravels takes the count of evicted keys through a snapshot, and a new leader's machine evicts on.
func TestEvictedTravels(t *testing.T) {
	c := newCache(t, keyspace.AllKeysLRU, 50_000)
	for i := range 100 {
		c.write(true, "SET", fmt.Sprint("k", i), value1000)
	}
	count := func(m *fsm.Machine) (n uint64) {
		m.View(0, [16]byte{}, func(v *fsm.View) { n = v.Evicted() })
		return n
	}
	was := count(c.m)
	var snapshot bytes.Buffer
	if err := c.m.Fork().Write(&snapshot); err != nil {
		t.Fatal(err)
	}
	c.m, c.victims = fsm.NewMachine(), fsm.Victims{}
	if err := c.m.Restore(&snapshot); err != nil {
		t.Fatal(err)
	}
	if now := count(c.m); was < 50 || now != was {
		t.Errorf("%d keys were evicted, after a restart %d", was, now)
	}
	for i := range 100 {
		c.write(true, "SET", fmt.Sprint("n", i), value1000)
	}
	if now := count(c.m); now < was+90 {
		t.Errorf("%d keys were evicted before, %d in all", was, now)
	}
	c.write(true, "FLUSHALL")
	if now := count(c.m); now < was+90 {
		t.Errorf("after FLUSHALL: %d", now)
	}
	c.same()
}
