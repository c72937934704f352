package logstore

import (
	"bytes"
	"math"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	boltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"
	"pgregory.net/rapid"
)

// TestEntriesAreCodedAsByRaftBoltdb: what is stored here is byte for byte what raft-boltdb stores, whatever an entry
// holds, so either reads what the other wrote.
func TestEntriesAreCodedAsByRaftBoltdb(t *testing.T) {
	ours, err := openDatabase(dbPath(t.TempDir()), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	theirs, err := boltdb.New(boltdb.Options{Path: dbPath(t.TempDir()), BoltOptions: boltOptions(time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	if ours.db == nil || bboltOf(theirs) == nil {
		t.Fatal("the database of raft-boltdb is not found")
	}
	rapid.Check(t, func(t *rapid.T) {
		var logs []*raft.Log
		for range rapid.IntRange(1, 5).Draw(t, "entries") {
			l := &raft.Log{
				Index: rapid.Uint64().Draw(t, "index"), Term: rapid.Uint64().Draw(t, "term"), Type: raft.LogType(rapid.Byte().Draw(t, "type")),
				Data: rapid.SliceOfN(rapid.Byte(), -1, 300).Draw(t, "data"), Extensions: rapid.SliceOfN(rapid.Byte(), -1, 40).Draw(t, "extensions"),
			}
			if rapid.Bool().Draw(t, "large") {
				l.Data = bytes.Repeat([]byte{1}, rapid.SampledFrom([]int{math.MaxUint8, math.MaxUint16, math.MaxUint16 + 1}).Draw(t, "size"))
			}
			if rapid.Bool().Draw(t, "with a time") {
				l.AppendedAt = time.Unix(rapid.Int64Range(0, 1<<34).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds"))
			}
			logs = append(logs, l)
		}
		if err := ours.StoreLogs(logs); err != nil {
			t.Fatal(err)
		}
		if err := theirs.StoreLogs(logs); err != nil {
			t.Fatal(err)
		}
		for _, l := range logs {
			a, b := stored(t, ours.db, l.Index), stored(t, bboltOf(theirs), l.Index)
			if len(a) == 0 || !bytes.Equal(a, b) {
				t.Fatalf("%x is stored, by raft-boltdb %x", a, b)
			}
		}
	})
}

// stored is the coded entry of an index.
func stored(t *rapid.T, db *bbolt.DB, index uint64) (value []byte) {
	t.Helper()
	err := db.View(func(tx *bbolt.Tx) error {
		var c entryCoder
		c.reset(nil)
		key, _, err := c.code(&raft.Log{Index: index})
		value = bytes.Clone(tx.Bucket(logsBucket).Get(key))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// BenchmarkPut stores batches of entries of 10 kB in the database.
func BenchmarkPut(b *testing.B) {
	for _, plain := range []bool{false, true} {
		name := map[bool]string{false: "ours", true: "raft-boltdb"}[plain]
		b.Run(name, func(b *testing.B) {
			d, err := openDatabase(dbPath(b.TempDir()), time.Second)
			if err != nil {
				b.Fatal(err)
			}
			defer d.Close()
			next := uint64(1)
			b.ReportAllocs()
			for b.Loop() {
				var logs []*raft.Log
				for range 64 {
					logs = append(logs, &raft.Log{Index: next, Term: 1, Data: make([]byte, 10<<10)})
					next++
				}
				store := d.StoreLogs
				if plain {
					store = d.BoltStore.StoreLogs
				}
				if err := store(logs); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
