package logstore

import (
	"reflect"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
	boltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"
)

// giveBackEvery is after how many bytes of entries the memory of the database's file is given back.
const giveBackEvery = 4 << 20

// database is the database of the log. It gives back the memory in which the file is mapped: each page
// that was looked at since the file was opened otherwise counts as the node's, although the log is
// hardly ever read again (docs/design/memory.md).
type database struct {
	*boltdb.BoltStore
	db      *bbolt.DB    // nil if it can't be found: then nothing is given back
	written atomic.Int64 // bytes of entries since memory was given back
	coder   entryCoder   // of who has the database's write transaction
}

// openDatabase opens or makes the database of that path.
func openDatabase(path string, timeout time.Duration) (d *database, err error) {
	defer catch(&err, path, debug.SetPanicOnFault(true))
	b, err := boltdb.New(boltdb.Options{Path: path, BoltOptions: boltOptions(timeout)})
	if err != nil {
		return nil, err
	}
	return &database{BoltStore: b, db: bboltOf(b)}, nil
}

// bboltOf is the database of a store, which has no method for it.
func bboltOf(b *boltdb.BoltStore) *bbolt.DB {
	field := reflect.ValueOf(b).Elem().FieldByName("conn")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*bbolt.DB]() {
		return nil
	}
	return (*bbolt.DB)(field.UnsafePointer())
}

// StoreLog stores an entry.
func (d *database) StoreLog(l *raft.Log) error { return d.StoreLogs([]*raft.Log{l}) }

// StoreLogs stores entries.
func (d *database) StoreLogs(logs []*raft.Log) error {
	err := d.put(logs)
	for _, l := range logs {
		d.written.Add(int64(sizeOf(l)))
	}
	if d.written.Load() >= giveBackEvery {
		d.written.Store(0)
		d.giveBack()
	}
	return err
}

// DeleteRange deletes entries.
func (d *database) DeleteRange(from, to uint64) error {
	err := d.BoltStore.DeleteRange(from, to)
	d.giveBack()
	return err
}

// giveBack gives the memory of the mapped file back to the system. What is read next comes from the
// system's cache of the file. The transaction keeps the file from being mapped anew meanwhile.
func (d *database) giveBack() {
	if d.db == nil {
		return
	}
	// An error says that the database is closed, or that the system refuses: nothing is lost by either.
	_ = d.db.View(func(tx *bbolt.Tx) error { return sysGiveBack(d.db.Info().Data, tx.Size()) })
}

// giveBack gives back the memory of what is mapped by a backend, if it is a database.
func giveBack(b backend) {
	if d, ok := b.(*database); ok {
		d.giveBack()
	}
}
