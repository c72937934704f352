package saving_test

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"testing"

	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/saving"
	"github.com/trireme-dev/trireme/fsm/wire"
)

type kind byte

const (
	header kind = 7
	number kind = 8
)

func tree(keys ...uint64) *cow.BTree[uint64, string] {
	t := cow.NewBTree[uint64, string](func(k uint64) uint64 { return k }, cmp.Compare[uint64])
	for _, k := range keys {
		t.Set(k, string(rune('a'+k)))
	}
	return t
}

func put(k uint64, v string, w *wire.Writer) {
	w.Uvarint(k)
	w.String(v)
}

// TestRecordsAreInOrder: each record is its kind and its fields, and trees are written in the order of their keys.
func TestRecordsAreInOrder(t *testing.T) {
	var got [][]byte
	o := &saving.Saver{Emit: func(b []byte) error { got = append(got, slices.Clone(b)); return nil }}
	if !saving.Put(o, header, func(w *wire.Writer) { w.Bool(true) }) {
		t.Error("Put reports a failure")
	}
	saving.Each(o, number, tree(3, 1, 2), put)
	saving.Each(o, number, tree(), put)
	want := [][]byte{{7, 1}, {8, 1, 1, 'b'}, {8, 2, 1, 'c'}, {8, 3, 1, 'd'}}
	if o.Err != nil || !slices.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("got %v, error %v, want %v", got, o.Err, want)
	}
}

// TestFirstFailureStops: after a failure nothing is made or emitted, and the first error is kept.
func TestFirstFailureStops(t *testing.T) {
	full, emitted, made := errors.New("disk full"), 0, 0
	o := &saving.Saver{Emit: func([]byte) error {
		if emitted++; emitted == 2 {
			return full
		}
		return nil
	}}
	saving.Each(o, number, tree(1, 2, 3, 4), func(k uint64, v string, w *wire.Writer) { made++ })
	if !errors.Is(o.Err, full) || emitted != 2 || made != 2 {
		t.Errorf("error %v after %d records, %d made", o.Err, emitted, made)
	}
	saving.Each(o, number, tree(1), func(uint64, string, *wire.Writer) { made++ })
	if saving.Put(o, header, func(*wire.Writer) { made++ }) || emitted != 2 || made != 2 || !errors.Is(o.Err, full) {
		t.Errorf("after the failure %d records, %d made, error %v", emitted, made, o.Err)
	}
}
