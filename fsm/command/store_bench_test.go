package command

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
)

// BenchmarkLargeWrites are commands that compute and store a large result, for which all others wait.
func BenchmarkLargeWrites(b *testing.B) {
	const n = 1_000_000
	tx := &Tx{Env: env.New(1, 1000, env.Latest, [16]byte{}, 0), DB: keyspace.New(), User: acl.Default, Table: NewTable()}
	tx.Limits.MaxWork = Unlimited
	run := func(words ...string) {
		argv := make([][]byte, len(words))
		for i, w := range words {
			argv[i] = []byte(w)
		}
		if v := tx.Exec(argv); v.IsError() {
			b.Fatal(v.Text())
		}
	}
	for i := range n {
		name := fmt.Sprintf("element:%09d", i)
		run("ZADD", "zset", fmt.Sprint(i), name)
		run("SADD", "set", name)
		run("SADD", "other", fmt.Sprintf("element:%09d", i+n/2))
	}

	run("JSON.SET", "document", "$", `{"numbers":[`+strings.TrimSuffix(strings.Repeat("1,", n), ",")+`]}`)
	text := `{"numbers":[` + strings.TrimSuffix(strings.Repeat("1,", n), ",") + `]}`
	for _, words := range [][]string{
		{"ZUNIONSTORE", "target", "1", "zset"}, {"SINTERSTORE", "target", "set", "other"}, {"SUNIONSTORE", "target", "set", "other"},
		{"JSON.SET", "document", "$.numbers[*]", "2"}, {"JSON.NUMINCRBY", "document", "$.numbers[*]", "1"}, {"JSON.SET", "document", "$", text},
	} {
		b.Run(words[0]+words[2][:1], func(b *testing.B) {
			for b.Loop() {
				run(words...)
			}
		})
	}
}
