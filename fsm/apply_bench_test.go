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

// BenchmarkApplyRequests measures the apply of an entry with 33 requests of one SET each on random keys, as 64 connections make
// them. Here everything is in the processor's caches; between two entries of a server it is not, and the apply then takes twice
// as long.
func BenchmarkApplyRequests(b *testing.B) {
	const keys, requests = 100_000, 33
	m, value, index := NewMachine(), make([]byte, 64), uint64(1)
	r := rand.New(rand.NewPCG(1, 2))
	entry := func() []byte {
		e := &Entry{Stamp: 1000, Term: 1}
		for range requests {
			batch := Batch{As: acl.Trusted(acl.DefaultName), Origin: command.OriginHTTP, Rows: [][][]byte{{[]byte("SET"), fmt.Appendf(nil, "key:%012d", r.IntN(keys)), value}}}
			e.Requests = append(e.Requests, Request{Code: Exec.Code, Body: Exec.Body(batch)})
		}
		return e.Encode()
	}
	entries := make([][]byte, 2*keys/requests)
	for i := range entries {
		entries[i] = entry()
	}
	apply := func() {
		outcomes, err := m.Apply(index, 1, entries[int(index)%len(entries)])
		if err != nil || outcomes[0].Err != nil {
			b.Fatal(err, outcomes)
		}
		index++
	}
	for range entries {
		apply()
	}
	b.ReportAllocs()
	for b.Loop() {
		apply()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*requests), "ns/SET")
}
