package fsm_test

import (
	"fmt"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
)

// Long reads let other goroutines run again and again on a fork, and never while others wait for the state.
func TestLongReadsYield(t *testing.T) {
	yields := 0
	m := &applied{Machine: fsm.NewMachine()}
	m.Hooks.Yield = func() { yields++ }
	const n = 20_000 // elements of 8 steps or more, of which 10,000 are a turn
	m.fill(t, n)
	list, hash, members, zset := argvOf("RPUSH", "list"), argvOf("HSET", "hash"), argvOf("SADD", "set"), argvOf("ZADD", "zset")
	for i := range n {
		name := fmt.Sprint("element", i)
		list = append(list, []byte(name))
		hash = append(hash, []byte(name), []byte("value"))
		members = append(members, []byte(name))
		zset = append(zset, []byte(fmt.Sprint(i)), []byte(name))
	}
	m.write(t, list, hash, members, zset)
	m.write(t, argvOf("SUNIONSTORE", "target", "set"), argvOf("ZUNIONSTORE", "other", "1", "zset"), argvOf("SORT", "list", "ALPHA", "STORE", "sorted"))
	for _, read := range [][]string{
		{"LRANGE", "list", "0", "-1"}, {"HGETALL", "hash"}, {"SMEMBERS", "set"}, {"SINTER", "set", "target"}, {"ZRANGE", "zset", "0", "-1"}, {"ZUNION", "1", "zset"},
		{"SORT_RO", "list", "ALPHA"}, {"LPOS", "list", "none", "MAXLEN", "0"}, {"KEYS", "none*"}, {"EVAL_RO", "for i = 1, 1000000 do end", "0"},
	} {
		if yields != 0 {
			t.Fatalf("an apply or a bounded read has yielded %d times", yields)
		}
		if m.ViewBriefly(env.At(0), [16]byte{}, func(v *fsm.View) { get(v, read...) }) {
			t.Errorf("%s was within the budget of a bounded read", read[0])
		}
		if yields != 0 {
			t.Errorf("%s has yielded %d times while it held the state", read[0], yields)
		}
		m.ViewFork(env.At(0), [16]byte{}, func(v *fsm.View) { get(v, read...) })
		if yields < 5 {
			t.Errorf("%s has yielded %d times on a fork, want 5 at least", read[0], yields)
		}
		yields = 0
	}
	m.ViewFork(env.At(0), [16]byte{}, func(v *fsm.View) { get(v, "LRANGE", "list", "0", "9") })
	if yields != 0 {
		t.Errorf("a short read has yielded %d times", yields)
	}
}

// A read on a fork that is about to allocate megabytes says so once, before it does.
func TestLargeReads(t *testing.T) {
	large := 0
	m := &applied{Machine: fsm.NewMachine()}
	m.Hooks.Yield, m.Hooks.Large = func() {}, func() { large++ }
	list, hash := argvOf("RPUSH", "list"), argvOf("HSET", "hash")
	for i := range 150_000 {
		name := []byte(fmt.Sprint("element", i))
		list, hash = append(list, name), append(hash, name, name)
	}
	m.write(t, list, hash)
	for _, read := range [][]string{{"LRANGE", "list", "0", "-1"}, {"HGETALL", "hash"}} {
		m.ViewBriefly(env.At(0), [16]byte{}, func(v *fsm.View) { get(v, read...) })
		if large != 0 {
			t.Errorf("%s called the hook while it held the state", read[0])
		}
		m.ViewFork(env.At(0), [16]byte{}, func(v *fsm.View) { get(v, read...) })
		if large != 1 {
			t.Errorf("%s called the hook %d times", read[0], large)
		}
		large = 0
	}
	m.ViewFork(env.At(0), [16]byte{}, func(v *fsm.View) { get(v, "LRANGE", "list", "0", "9999") })
	if large != 0 {
		t.Error("a read of 10,000 elements is a large one")
	}
}

func argvOf(all ...string) (argv [][]byte) {
	for _, w := range all {
		argv = append(argv, []byte(w))
	}
	return argv
}
