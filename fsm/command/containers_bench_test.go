package command

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
)

// BenchmarkLargeContainers runs commands on containers of a million elements, with a fork
// of the keyspace taken every hundredth command and the last ones alive, as snapshots and
// readers keep them. A clone of a whole container would cost milliseconds.
func BenchmarkLargeContainers(b *testing.B) {
	tx := &Tx{Env: env.New(1, 1000, env.Latest, [16]byte{}, 0), DB: keyspace.New(), User: acl.Default, Table: NewTable()}
	for i := range benchKeys {
		name := fmt.Sprintf("name:%012d", i)
		for _, argv := range [][]string{{"HSET", "h", name, value64}, {"RPUSH", "l", name}, {"SADD", "s", name}} {
			if v := tx.Exec(argvOf(argv)); v.IsError() {
				b.Fatal(v.Text())
			}
		}
	}
	for _, argv := range [][]string{
		{"HSET", "h", "?", value64}, {"HGET", "h", "?"}, {"HPEXPIRE", "h", "5000", "FIELDS", "1", "?"},
		{"SADD", "s", "?"}, {"SADD", "s", "new?"}, {"SPOP", "s"}, {"SRANDMEMBER", "s"},
		{"LPUSH", "l", "new"}, {"LPOP", "l"}, {"RPUSH", "l", "new"}, {"LINDEX", "l", "#"}, {"LSET", "l", "#", "new"}, {"LRANGE", "l", "#", "#"},
	} {
		b.Run(argv[0]+"/"+argv[len(argv)-1][:1], func(b *testing.B) { benchForked(b, tx, argv) })
	}
}

// benchForked runs argv with a random name for ? and a random index for #.
func benchForked(b *testing.B, tx *Tx, argv []string) {
	b.ReportAllocs()
	r := rand.New(rand.NewPCG(3, 4))
	var forks [4]*keyspace.DB
	n := 0
	for b.Loop() {
		if n++; n%100 == 0 {
			forks[n/100%len(forks)] = tx.DB.Fork()
		}
		words := argvOf(argv)
		i := r.IntN(benchKeys)
		for j, w := range argv {
			switch w {
			case "?", "new?":
				words[j] = fmt.Appendf(nil, "%s:%012d", map[string]string{"?": "name", "new?": "new"}[w], i)
			case "#":
				words[j] = fmt.Append(nil, i/2)
			}
		}
		if v := tx.Exec(words); v.IsError() {
			b.Fatal(v.Text())
		}
	}
}
