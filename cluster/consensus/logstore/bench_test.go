package logstore

import (
	"fmt"
	"testing"

	"github.com/hashicorp/raft"
	boltdb "github.com/hashicorp/raft-boltdb/v2"
)

func benchBatch(size int) []*raft.Log {
	var logs []*raft.Log
	for i := range 16 {
		l := entry(uint64(i+1), 1)
		l.Data = make([]byte, size)
		logs = append(logs, l)
	}
	return logs
}

// A batch of 16 entries, with sync: this store, compared with the plain store below it.
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
