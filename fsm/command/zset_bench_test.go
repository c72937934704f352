package command

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/keyspace"
)

// BenchmarkSortedSet measures commands on one set of a million members, alone and with
// a fork every 100 commands that stays alive until the next.
func BenchmarkSortedSet(b *testing.B) {
	tx := testTx(acl.Default, RESP)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range benchKeys {
		tx.Exec([][]byte{[]byte("ZADD"), []byte("z"), fmt.Append(nil, r.IntN(benchKeys)), fmt.Appendf(nil, "member:%08d", i)})
	}
	var alive *keyspace.DB
	for _, c := range []struct {
		name string
		argv func() [][]byte
	}{
		{"ZADD", func() [][]byte {
			return [][]byte{[]byte("ZADD"), []byte("z"), fmt.Append(nil, r.IntN(benchKeys)), fmt.Appendf(nil, "member:%08d", r.IntN(benchKeys))}
		}},
		{"ZRANK", func() [][]byte {
			return [][]byte{[]byte("ZRANK"), []byte("z"), fmt.Appendf(nil, "member:%08d", r.IntN(benchKeys))}
		}},
		{"ZRANGE100", func() [][]byte {
			from := r.IntN(benchKeys - 100)
			return [][]byte{[]byte("ZRANGE"), []byte("z"), fmt.Append(nil, from), fmt.Append(nil, from+99)}
		}},
		{"ZRANGEBYSCORE10", func() [][]byte {
			return [][]byte{[]byte("ZRANGEBYSCORE"), []byte("z"), fmt.Append(nil, r.IntN(benchKeys)), []byte("+inf"), []byte("LIMIT"), []byte("0"), []byte("10")}
		}},
	} {
		for _, forks := range []bool{false, true} {
			name := c.name
			if forks {
				name += "/forks"
			}
			b.Run(name, func(b *testing.B) {
				b.ReportAllocs()
				for n := 0; b.Loop(); n++ {
					if forks && n%100 == 0 {
						alive = tx.DB.Fork()
					}
					if v := tx.Exec(c.argv()); v.IsError() {
						b.Fatal(v.Text())
					}
				}
			})
		}
	}
	if alive != nil && alive.Len() != 1 {
		b.Fatal("the fork has changed")
	}
}

// BenchmarkSetBit sets bits of a string of 64 MiB with a fork every 100 commands.
func BenchmarkSetBit(b *testing.B) {
	tx := testTx(acl.Default, RESP)
	tx.do("SETBIT b 536870911 1")
	r := rand.New(rand.NewPCG(1, 2))
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		if n%100 == 0 {
			tx.DB.Fork()
		}
		tx.Exec([][]byte{[]byte("SETBIT"), []byte("b"), fmt.Append(nil, r.IntN(1<<29)), []byte("1")})
	}
}
