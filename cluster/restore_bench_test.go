package cluster

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/trireme-dev/trireme/cluster/clock"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
)

// BenchmarkRestore reads a compressed snapshot of a million keys of 13 bytes with random values of 64, as a start does.
func BenchmarkRestore(b *testing.B) {
	const keys = 1_000_000
	a := adapter{m: fsm.NewMachine(), ceiling: &clock.Ceiling{}, restored: func() {}}
	fillMachine(b, a.m, keys)
	var snapshot bytes.Buffer
	if err := writeSnapshot(&snapshot, a.m.Fork()); err != nil {
		b.Fatal(err)
	}
	size := snapshot.Len()
	for b.Loop() {
		fresh := adapter{m: fsm.NewMachine(), ceiling: &clock.Ceiling{}, restored: func() {}}
		if err := fresh.Restore(bytes.NewReader(snapshot.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*keys), "ns/key")
	b.ReportMetric(float64(size)/keys, "snapshot-B/key")
}

// fillMachine applies SETs of that many keys, a thousand to an entry.
func fillMachine(b *testing.B, m *fsm.Machine, keys int) {
	const rows = 1000
	r := rand.New(rand.NewPCG(1, 2))
	for at := 0; at < keys; at += rows {
		batch := fsm.Batch{As: acl.Trusted(acl.DefaultName), Origin: command.OriginHTTP, Mode: fsm.Pipeline}
		for i := range rows {
			value := make([]byte, 0, 80)
			for len(value) < 64 {
				value = fmt.Appendf(value, "%016x", r.Uint64())
			}
			batch.Rows = append(batch.Rows, [][]byte{[]byte("SET"), fmt.Appendf(nil, "k%012d", at+i), value})
		}
		e := &fsm.Entry{Stamp: 1000, Term: 1, Requests: []fsm.Request{{Code: fsm.Exec.Code, Body: fsm.Exec.Body(batch)}}}
		if _, err := m.Apply(uint64(at/rows+1), 1, e.Encode()); err != nil {
			b.Fatal(err)
		}
	}
}
