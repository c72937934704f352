package rdb

import (
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/vector"
)

// TestDumpOfArrays writes an array as DUMP does and reads it again.
func TestDumpOfArrays(t *testing.T) {
	a := keyspace.NewSparseArray()
	a.Set(3, "x")
	a.Set(keyspace.MaxIndex, "y")
	a.Seek(4)
	payload, err := Dump(stored(Value{Data: a}), env.At(1))
	if err != nil {
		t.Fatal(err)
	}
	v, err := restore(payload, 1, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	b, ok := v.Data.(*keyspace.SparseArray)
	if !ok || b.Len() != 2 || b.Span() != keyspace.MaxIndex+1 || b.Next() != 4 || b.Size() != a.Size() {
		t.Errorf("%+v", v)
	}
}

// TestDumpOfVectors writes a vector index as DUMP does and reads it again.
func TestDumpOfVectors(t *testing.T) {
	x := keyspace.NewVectors(2, vector.Cosine)
	for _, id := range []string{"a", "b"} {
		v, err := vector.New([]float32{1, float32(len(id))})
		if err != nil {
			t.Fatal(err)
		}
		x.Put(id, v)
	}
	db, e := keyspace.New(), env.New(1, 1, env.Latest, [16]byte{}, 0)
	db.PutContainer(e, []byte("v"), x, 0)
	payload, err := Dump(db.Find(e, []byte("v")), env.At(1))
	if err != nil {
		t.Fatal(err)
	}
	v, err := restore(payload, 1, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	y, ok := v.Data.(*keyspace.Vectors)
	if !ok || y.Len() != 2 || y.Dim() != 2 || y.Metric() != vector.Cosine || y.Size() != x.Size() {
		t.Errorf("%+v", v)
	}
}
