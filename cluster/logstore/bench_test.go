package logstore

import (
	"fmt"
	"testing"

	"github.com/hashicorp/raft"
	boltdb "github.com/hashicorp/raft-boltdb/v2"
)

// nowhere is a backend without a disk: what is measured is the wrapper.
type nowhere struct{ backend }

func (nowhere) StoreLogs([]*raft.Log) error { return nil }

func benchBatch(size int) []*raft.Log {
	var logs []*raft.Log
	for i := range 16 {
		l := entry(uint64(i+1), 1)
		l.Data = make([]byte, size)
		logs = append(logs, l)
	}
	return logs
}

func BenchmarkWrapperAlone(b *testing.B) {
	o := quiet(b.TempDir(), &deaths{})
	o.wrap = func(in backend) backend { return nowhere{in} }
	s, err := Open(o)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	logs := benchBatch(1000)
	b.ReportAllocs()
	for b.Loop() {
		if err := s.StoreLogs(logs); err != nil {
			b.Fatal(err)
		}
	}
}

// A batch of 16 entries, with sync: ours beside the plain store below it.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{200, 4000} {
		plain, err := boltdb.New(boltdb.Options{Path: dbPath(b.TempDir()), BoltOptions: boltOptions(0)})
		if err != nil {
			b.Fatal(err)
		}
		ours, err := Open(quiet(b.TempDir(), &deaths{}))
		if err != nil {
			b.Fatal(err)
		}
		for name, st := range map[string]raft.LogStore{"plain": plain, "ours": ours} {
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				logs := benchBatch(size)
				next, _ := st.LastIndex()
				for b.Loop() {
					for _, l := range logs {
						next++
						l.Index = next
					}
					if err := st.StoreLogs(logs); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		plain.Close()
		ours.Close()
	}
}
