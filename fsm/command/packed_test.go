package command_test

import (
	"bytes"
	"math/rand/v2"
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
