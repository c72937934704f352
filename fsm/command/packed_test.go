package command_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/commandtest"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/script"
)

// TestPackedValuesAnswerAlike runs random commands on two keyspaces, of which one packs what it can after every command, is
// forked now and then and read again from its records, and the other packs nothing. Replies, records and memory are equal.
func TestPackedValuesAnswerAlike(t *testing.T) {
	table := command.NewTable()
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 38))
		source := commandtest.Source{Rand: r, Fits: func([][]byte) bool { return true }}
		plain, packed := txOf(table), txOf(table)
		fork, was := keyspace.New(), []byte(nil)
		now := int64(1_700_000_000_000)
		for i := range 3000 {
			now += r.Int64N(20)
			argv := source.Next()
			if table.Scripts(argv) {
				continue
			}
			plain.Env, packed.Env = env.New(uint64(i+1), now, env.Latest, [16]byte{byte(i)}, 0), env.New(uint64(i+1), now, env.Latest, [16]byte{byte(i)}, 0)
			switch r.IntN(40) {
			case 0:
				plain.DB.Sweep(plain.Env, 5)
				packed.DB.Sweep(packed.Env, 5)
			case 1:
				packed.DB = packed.DB.Fork()
			case 2:
				fork, was = packed.DB.Fork(), records(t, packed.DB)
			}
			want, got := scripttest.Print(plain.Exec(argv)), scripttest.Print(packed.Exec(argv))
			if got != want {
				t.Fatalf("seed %d, command %d, %q:\npacked:\n%s\nplain:\n%s", seed, i, argv, got, want)
			}
			packed.DB.Cool(0)
			if i%100 == 0 {
				same(t, plain.DB, packed.DB)
				if !bytes.Equal(records(t, fork), was) {
					t.Fatalf("seed %d, command %d: a fork has changed", seed, i)
				}
			}
		}
	}
}

func txOf(table *command.Table) *command.Tx {
	return &command.Tx{DB: keyspace.New(), Users: acl.NewStore(table.Catalog(), 0), User: acl.Default, Table: table, Config: new(command.Config), Scripting: command.Scripting{Scripts: script.NewStore()}}
}

// same fails unless two keyspaces have the same records and count the same memory.
func same(t *testing.T, plain, packed *keyspace.DB) {
	t.Helper()
	if want, got := records(t, plain), records(t, packed); !bytes.Equal(got, want) {
		t.Fatalf("the records differ: %d bytes packed, %d plain", len(got), len(want))
	}
	if packed.Used() != plain.Used() || packed.Len() != plain.Len() {
		t.Fatalf("packed: %d bytes of %d keys, plain: %d of %d", packed.Used(), packed.Len(), plain.Used(), plain.Len())
	}
}

func records(t *testing.T, db *keyspace.DB) (all []byte) {
	t.Helper()
	if err := db.Save(func(record []byte) error { all = append(all, record...); return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestPackedBorders fills a value of every type that is packed beyond what is, and empties it again, an element at a time, on two
// keyspaces of which one packs what it can after every command. They answer alike at every number of elements. Scores are equal by fives.
func TestPackedBorders(t *testing.T) {
	table := command.NewTable()
	for _, c := range []struct {
		add, remove func(i int) []string
		ask         []string
	}{
		{
			func(i int) []string { return []string{"HSET", "k", fmt.Sprint("field", i), fmt.Sprint("value", i)} },
			func(i int) []string { return []string{"HDEL", "k", fmt.Sprint("field", i)} },
			[]string{"HLEN k", "HGETALL k", "HGET k field0", "HSCAN k 0 COUNT 7", "DUMP k", "OBJECT ENCODING k", "MEMORY USAGE k"},
		},
		{
			func(i int) []string { return []string{"SADD", "k", fmt.Sprint("member", i)} },
			func(i int) []string { return []string{"SREM", "k", fmt.Sprint("member", i)} },
			[]string{"SCARD k", "SMEMBERS k", "SISMEMBER k member0", "SSCAN k 0 COUNT 7", "DUMP k", "OBJECT ENCODING k"},
		},
		{
			func(i int) []string { return []string{"SADD", "k", fmt.Sprint(i)} },
			func(i int) []string { return []string{"SREM", "k", fmt.Sprint(i)} },
			[]string{"SCARD k", "SMEMBERS k", "OBJECT ENCODING k", "DUMP k"},
		},
		{
			func(i int) []string {
				return []string{"ZADD", "k", fmt.Sprint(i / 5), fmt.Sprint("member", i*7%1000)}
			},
			func(i int) []string { return []string{"ZREM", "k", fmt.Sprint("member", i*7%1000)} },
			[]string{"ZCARD k", "ZRANGE k 0 -1 WITHSCORES", "ZREVRANGE k 0 -1", "ZRANK k member0", "ZRANGEBYSCORE k 3 9", "DUMP k", "OBJECT ENCODING k"},
		},
		{
			func(i int) []string { return []string{"RPUSH", "k", fmt.Sprint("element", i)} },
			func(int) []string { return []string{"LPOP", "k"} },
			[]string{"LLEN k", "LRANGE k 0 -1", "LINDEX k 60", "LINDEX k -1", "LPOS k element100", "DUMP k", "OBJECT ENCODING k"},
		},
	} {
		plain, packed := txOf(table), txOf(table)
		at := uint64(0)
		run := func(words []string) {
			var argv [][]byte
			for _, w := range words {
				argv = append(argv, []byte(w))
			}
			at++
			plain.Env, packed.Env = env.New(at, 1, env.Latest, [16]byte{}, 0), env.New(at, 1, env.Latest, [16]byte{}, 0)
			if want, got := scripttest.Print(plain.Exec(argv)), scripttest.Print(packed.Exec(argv)); got != want {
				t.Fatalf("%q:\npacked:\n%s\nplain:\n%s", words, got, want)
			}
			packed.DB.Cool(0)
		}
		const most = keyspace.MaxPackedElements + 12
		look := func() {
			for _, a := range c.ask {
				run(strings.Fields(a))
			}
			same(t, plain.DB, packed.DB)
		}
		for i := range most {
			if run(c.add(i)); i%16 == 0 || i > keyspace.MaxPackedElements-4 {
				look()
			}
		}
		for i := range most {
			if run(c.remove(i)); i%16 == 0 || i < 20 {
				look()
			}
		}
		if plain.DB.Len() != 0 {
			t.Fatalf("%q leaves something", c.remove(0))
		}
	}
}
