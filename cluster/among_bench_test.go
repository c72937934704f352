package cluster_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/internal/gcpacer"
	"github.com/trireme-dev/trireme/internal/testcpu"
)

// BenchmarkSetAmongKeys measures the processor time of a SET of a random key, the collector's included, as keys become more. The
// collector is paced as in a node. Run it with -benchtime of at least 5000x: collections are seconds apart.
func BenchmarkSetAmongKeys(b *testing.B) {
	for _, keys := range []int{1_000_000, 5_000_000} {
		b.Run(fmt.Sprintf("keys=%d", keys), func(b *testing.B) { benchmarkAmong(b, keys) })
	}
}

func benchmarkAmong(b *testing.B, keys int) {
	const rows = 800
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	go gcpacer.New().Run(ctx)
	batch := fsm.Batch{As: acl.Trusted(acl.DefaultName), Origin: command.OriginHTTP, Mode: fsm.Pipeline}
	for range rows {
		batch.Rows = append(batch.Rows, [][]byte{[]byte("SET"), []byte("key:#########"), make([]byte, 64)})
	}
	entry := (&fsm.Entry{Stamp: 1000, Term: 1, Requests: []fsm.Request{{Code: fsm.Exec.Code, Body: fsm.Exec.Body(batch)}}}).Encode()
	var places [][]byte // of the numbers of the keys
	for rest := entry; ; {
		i := bytes.IndexByte(rest, '#')
		if i < 0 {
			break
		}
		places = append(places, rest[i:i+9])
		rest = rest[i+9:]
	}
	m, index := fsm.NewMachine(), uint64(1)
	apply := func(key func() int) {
		for _, place := range places {
			for i, n := len(place)-1, key(); i >= 0; i-- {
				place[i] = byte('0' + n%10)
				n /= 10
			}
		}
		outcomes, err := m.Apply(index, 1, entry)
		if err != nil || outcomes[0].Err != nil {
			b.Fatal(err, outcomes)
		}
		index++
	}
	for next := 0; next < keys; {
		apply(func() int { next++; return next * 7919 % keys })
	}
	r := rand.New(rand.NewPCG(1, 2))
	b.ReportAllocs()
	b.ResetTimer()
	before := testcpu.Used(b)
	for range b.N {
		apply(func() int { return r.IntN(keys) })
	}
	b.ReportMetric(float64((testcpu.Used(b)-before).Nanoseconds())/float64(b.N*rows), "cpu-ns/SET")
}
