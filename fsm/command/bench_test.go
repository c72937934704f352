package command

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
)

// benchKeys is the size of the keyspace that commands are measured on.
const benchKeys = 1_000_000

// bench measures commands on random keys of a full keyspace, 16 bytes a key and 64
// a value.
type bench struct {
	tx   *Tx
	keys [][]byte
}

func newBench(b *testing.B, value string) *bench {
	b.Helper()
	tx := &Tx{Env: env.New(1, 1000, env.Latest, [16]byte{}, 0), DB: keyspace.New(), User: acl.Default, Table: NewTable()}
	keys := make([][]byte, benchKeys)
	for i, n := range rand.New(rand.NewPCG(1, 2)).Perm(benchKeys) {
		keys[i] = fmt.Appendf(nil, "key:%012d", n)
	}
	for _, key := range keys {
		tx.Exec([][]byte{[]byte("SET"), key, []byte(value)})
	}
	return &bench{tx, keys}
}

func (be *bench) run(b *testing.B, argv [][]byte, at int) {
	b.ReportAllocs()
	r := rand.New(rand.NewPCG(3, 4))
	for b.Loop() {
		argv[at] = be.keys[r.IntN(benchKeys)]
		if v := be.tx.Exec(argv); v.IsError() {
			b.Fatal(v.Text())
		}
	}
}

var value64 = string(make([]byte, 64))

func BenchmarkCommands(b *testing.B) {
	text, number := newBench(b, value64), newBench(b, "1000000")
	for _, c := range []struct {
		name string
		on   *bench
		argv []string
	}{
		{"GET", text, []string{"GET", ""}},
		{"SET", text, []string{"SET", "", value64}},
		{"SETEX", text, []string{"SET", "", value64, "EX", "100"}},
		{"INCR", number, []string{"INCR", ""}},
		{"EXISTS", text, []string{"EXISTS", ""}},
		{"TTL", text, []string{"TTL", ""}},
		{"APPEND", text, []string{"APPEND", "", "x"}},
	} {
		b.Run(c.name, func(b *testing.B) { c.on.run(b, argvOf(c.argv), 1) })
	}
}

func BenchmarkDelAndSet(b *testing.B) {
	w := newBench(b, value64)
	b.ReportAllocs()
	r := rand.New(rand.NewPCG(3, 4))
	for b.Loop() {
		key := w.keys[r.IntN(benchKeys)]
		w.tx.Exec([][]byte{[]byte("DEL"), key})
		w.tx.Exec([][]byte{[]byte("SET"), key, []byte(value64)})
	}
}

// BenchmarkSetAfterForks is SET with a fork every 100 commands, the worst a log of
// small entries with reads on forks can bring.
func BenchmarkSetAfterForks(b *testing.B) {
	w := newBench(b, value64)
	b.ReportAllocs()
	r := rand.New(rand.NewPCG(3, 4))
	argv := argvOf([]string{"SET", "", value64})
	n := 0
	for b.Loop() {
		if n++; n%100 == 0 {
			w.tx.DB.Fork()
		}
		argv[1] = w.keys[r.IntN(benchKeys)]
		w.tx.Exec(argv)
	}
}

func BenchmarkSaveAndLoad(b *testing.B) {
	w := newBench(b, value64)
	var records [][]byte
	b.Run("Save", func(b *testing.B) {
		for b.Loop() {
			records = records[:0]
			if err := w.tx.DB.Save(func(r []byte) error { records = append(records, append([]byte(nil), r...)); return nil }); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Load", func(b *testing.B) {
		for b.Loop() {
			l := keyspace.NewLoader()
			for _, r := range records {
				if err := l.Add(r); err != nil {
					b.Fatal(err)
				}
			}
			if _, err := l.Finish(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
