package command_test

import (
	"fmt"
	"testing"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
)

// BenchmarkPackedHashes runs commands on two thousand hashes in turn, so that most are packed when they are used: those of up to 64 fields
// in the order of their insertion, the others in that of the large form.
func BenchmarkPackedHashes(b *testing.B) {
	const hashes = 2000
	table := command.NewTable()
	for _, fields := range []int{10, 64, 66, 100, 128} {
		tx := txOf(table)
		at := uint64(0)
		run := func(readOnly bool, words ...string) {
			var argv [][]byte
			for _, w := range words {
				argv = append(argv, []byte(w))
			}
			at++
			tx.Env = env.New(at, 1, env.Latest, [16]byte{byte(at)}, 0)
			tx.Env.ReadOnly = readOnly
			if v := tx.Exec(argv); v.IsError() {
				b.Fatalf("%q: %s", words, v.Text())
			}
			if !readOnly {
				tx.DB.Cool(keyspace.Hot)
			}
		}
		for i := range hashes {
			for f := range fields {
				run(false, "HSET", fmt.Sprint("hash:", i), fmt.Sprint("field:", f), fmt.Sprint("value:", f))
			}
		}
		tx.DB.Cool(0)
		for _, c := range []struct {
			name string
			run  func(i int)
		}{
			{"HGET", func(i int) { run(true, "HGET", fmt.Sprint("hash:", i%hashes), fmt.Sprint("field:", i%fields)) }},
			{"HGETALL", func(i int) { run(true, "HGETALL", fmt.Sprint("hash:", i%hashes)) }},
			{"HMGET", func(i int) {
				run(true, "HMGET", fmt.Sprint("hash:", i%hashes), "field:1", "field:3", "field:5", "field:9", "field:11", "field:13")
			}},
			{"HSCAN", func(i int) { run(true, "HSCAN", fmt.Sprint("hash:", i%hashes), "0") }},
			{"HRANDFIELD", func(i int) { run(true, "HRANDFIELD", fmt.Sprint("hash:", i%hashes)) }},
			{"HSET", func(i int) {
				run(false, "HSET", fmt.Sprint("hash:", i%hashes), fmt.Sprint("field:", i%fields), "value")
			}},
		} {
			b.Run(fmt.Sprintf("%s/%d", c.name, fields), func(b *testing.B) {
				b.ReportAllocs()
				for i := range b.N {
					c.run(i)
				}
			})
		}
	}
}
