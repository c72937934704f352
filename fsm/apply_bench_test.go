package fsm

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
)

// BenchmarkApplyPipelines measures the apply of an entry with eight pipelines of 100
// SETs on random keys of a full keyspace, as row 6 of `make bench` makes them.
func BenchmarkApplyPipelines(b *testing.B) {
	for _, keys := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprintf("keys=%d", keys), func(b *testing.B) { benchmarkPipelines(b, keys) })
	}
}

func benchmarkPipelines(b *testing.B, keys int) {
	const pipelines, rows = 8, 100
	m, value := NewMachine(), make([]byte, 64)
	r := rand.New(rand.NewPCG(1, 2))
	entry := func(key func() int) []byte {
		e := &Entry{Stamp: 1000, Term: 1}
		for range pipelines {
			batch := Batch{As: acl.Trusted(acl.DefaultName), Origin: command.OriginHTTP, Mode: Pipeline}
			for range rows {
				batch.Rows = append(batch.Rows, [][]byte{[]byte("SET"), fmt.Appendf(nil, "key:%012d", key()), value})
			}
			e.Requests = append(e.Requests, Request{Code: Exec.Code, Body: Exec.Body(batch)})
		}
		return e.Encode()
	}
	next, index := 0, uint64(1)
	apply := func(data []byte) {
		outcomes, err := m.Apply(index, 1, data)
		if err != nil {
			b.Fatal(err)
		}
		for _, o := range outcomes {
			if o.Err != nil || o.Value.(Results).Values[0].IsError() {
				b.Fatal(o.Err, o.Value)
			}
		}
		index++
	}
	for next < keys {
		apply(entry(func() int { next++; return (next - 1) * 7919 % keys }))
	}
	entries := make([][]byte, 64)
	for i := range entries {
		entries[i] = entry(func() int { return r.IntN(keys) })
	}
	b.ReportAllocs()
	for b.Loop() {
		apply(entries[int(index)%len(entries)])
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*pipelines*rows), "ns/SET")
}
