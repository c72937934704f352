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
	db, table := keyspace.New(), NewTable()
	tx := requestOn(db, table)
	for i := range benchKeys {
		if i%100_000 == 0 { // what a request may do is bounded
			tx = requestOn(db, table)
		}
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
		b.Run(argv[0]+"/"+argv[len(argv)-1][:1], func(b *testing.B) { benchForked(b, requestOn(db, table), argv) })
	}
}

func requestOn(db *keyspace.DB, table *Table) *Tx {
	return &Tx{Env: env.New(1, 1000, env.Latest, [16]byte{}, 0), DB: db, User: acl.Default, Table: table}
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

// BenchmarkSmallContainers runs commands on containers of ten and of a hundred elements: on one of them again and again, and
// on a hundred thousand in random order, which are packed (keyspace.DB.Cool).
func BenchmarkSmallContainers(b *testing.B) {
	for _, keys := range []int{1, 100_000} {
		for _, size := range []int{10, 100} {
			if keys*size > 1_000_000 {
				keys = 1_000_000 / size
			}
			db, table := keyspace.New(), NewTable()
			for k := range keys {
				tx := requestOn(db, table)
				for _, words := range [][]string{{"HSET"}, {"RPUSH"}, {"SADD"}, {"ZADD"}} {
					words = append(words, fmt.Sprint(words[0][:1], k))
					for i := range size {
						words = append(words, map[string][]string{
							"HSET": {fmt.Sprint("field:", i), "value"}, "RPUSH": {"element"}, "SADD": {fmt.Sprint("member:", i)}, "ZADD": {fmt.Sprint(i), fmt.Sprint("member:", i)},
						}[words[0]]...)
					}
					if v := tx.Exec(argvOf(words)); v.IsError() {
						b.Fatal(v.Text())
					}
				}
			}
			for _, words := range [][]string{
				{"HGET", "H", "field:5"}, {"HSET", "H", "field:5", "other"}, {"HGETALL", "H"}, {"LMOVE", "R", "R", "LEFT", "RIGHT"}, {"LINDEX", "R", "5"},
				{"SISMEMBER", "S", "member:5"}, {"ZSCORE", "Z", "member:5"}, {"ZINCRBY", "Z", "1", "member:5"}, {"ZRANGE", "Z", "0", "3"},
			} {
				b.Run(fmt.Sprintf("%s/%d keys of %d", words[0], keys, size), func(b *testing.B) {
					b.ReportAllocs()
					r := rand.New(rand.NewPCG(3, 4))
					argv, tx := argvOf(words), requestOn(db, table)
					for b.Loop() {
						k := fmt.Append(argv[1][:0:0], words[1], r.IntN(keys))
						if argv[1] = k; words[0] == "LMOVE" {
							argv[2] = k
						}
						if v := tx.Exec(argv); v.IsError() {
							b.Fatal(v.Text())
						}
					}
				})
			}
		}
	}
}
