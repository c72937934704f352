package payloads

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/payload"
)

// coldMachine is a machine with a store of payloads, and without a log.
type coldMachine struct {
	t     *testing.T
	m     *fsm.Machine
	s     *Store
	walk  fsm.ColdWalk
	index uint64
}

func newColdMachine(t *testing.T, o Options) *coldMachine {
	s := open(t, o)
	cm := &coldMachine{t: t, m: fsm.NewMachine(), s: s}
	cm.m.KeepPayloads(s)
	return cm
}

func (cm *coldMachine) apply(q fsm.Request) {
	cm.t.Helper()
	cm.index++
	e := fsm.Entry{Stamp: int64(cm.index), Term: 1, Requests: []fsm.Request{q}}
	if _, err := cm.m.Apply(cm.index, 1, e.Encode()); err != nil {
		cm.t.Fatal(err)
	}
}

// run applies commands.
func (cm *coldMachine) run(rows ...[][]byte) {
	cm.t.Helper()
	cm.apply(fsm.Request{Code: fsm.Exec.Code, Body: fsm.Exec.Body(fsm.Batch{As: acl.Trusted(acl.DefaultName), Origin: command.OriginInternal, Mode: fsm.Pipeline, Rows: rows})})
}

func stateKey(i int) []byte { return fmt.Appendf(nil, "value:%d", 1_000_000+i) }

// stateValue has 1 KiB that can't be compressed.
func stateValue(i int) []byte { return text(i, payload.Apart) }

// fill sets some keys, and moves their values to the disk.
func (cm *coldMachine) fill(keys int) {
	cm.t.Helper()
	cm.apply(fsm.Request{Code: fsm.SetLevel.Code, Body: fsm.SetLevel.Body(fsm.LevelChange{Level: fsm.MaxLevel})})
	for i := 0; i < keys; {
		var rows [][][]byte
		for ; i < keys && len(rows) < 1000; i++ {
			rows = append(rows, [][]byte{[]byte("SET"), stateKey(i), stateValue(i)})
		}
		cm.run(rows...)
		cm.walkOver(false)
	}
	if n := cm.cold(); n != int64(keys) {
		cm.t.Fatalf("%d of %d strings are on the disk", n, keys)
	}
}

// walkOver walks over all keys, and moves large strings to the disk, or what is read back.
func (cm *coldMachine) walkOver(back bool) {
	cm.t.Helper()
	for round := false; !round; {
		done, err := cm.m.ShiftValues(&cm.walk, fsm.Shifting{Length: payload.Apart, Idle: -1, Back: back, Keys: 100_000})
		if err != nil {
			cm.t.Fatal(err)
		}
		round = done.Round
	}
}

func (cm *coldMachine) cold() (number int64) {
	cm.m.View(0, [16]byte{}, func(v *fsm.View) { number, _ = v.ColdValues() })
	return number
}

// get reads a value in a view.
func (cm *coldMachine) get(read func(func(*fsm.View)), i int) []byte {
	var b []byte
	read(func(v *fsm.View) {
		b = []byte(v.Exec(acl.Trusted(acl.DefaultName), command.OriginInternal, [][]byte{[]byte("GET"), stateKey(i)}).Text())
	})
	return b
}

// liveBytes returns the bytes that live in the heap after a collection.
func liveBytes() int64 {
	runtime.GC()
	runtime.GC() // what weak pointers kept
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestColdValuesAreSmall counts the bytes that live for a string on the disk: with its key, its place in the tree, and what the store
// knows of it. A handle for each, with its digest and a weak pointer, took 260.
func TestColdValuesAreSmall(t *testing.T) {
	const keys, most = 40_000, 145
	before := liveBytes()
	cm := newColdMachine(t, Options{})
	cm.fill(keys)
	if err := cm.s.Close(); err != nil { // the segment is complete
		t.Fatal(err)
	}
	if each := (liveBytes() - before) / keys; each > most {
		t.Errorf("%d bytes live for a string on the disk, at most %d are allowed", each, most)
	} else {
		t.Logf("%d bytes live for a string on the disk", each)
	}
	runtime.KeepAlive(cm)
}

// TestWalkEmptiesSegments: of most strings that were on the disk something else is made. The walk over the state moves the others out of
// the segments that are mostly dead, which go then, but not as long as a fork refers to them.
func TestWalkEmptiesSegments(t *testing.T) {
	const keys, left = 2000, 10
	cm := newColdMachine(t, Options{size: 256 << 10})
	cm.fill(keys)
	before := cm.s.Stats()
	fork := cm.m.Fork()
	for i := range keys {
		if i%left != 0 {
			cm.run([][]byte{[]byte("DEL"), stateKey(i)})
		}
	}
	round := func() {
		cm.walkOver(false)
		runtime.GC()
		runtime.GC()
		cm.s.compact()
	}
	for range 4 {
		round()
	}
	if n := cm.s.Stats(); n.Disk < before.Disk || n.Segments < before.Segments {
		t.Errorf("%+v: a fork refers to segments that are gone", n)
	}
	if d, again := fork.Digest(), fork.Digest(); d != again {
		t.Error("the fork has two digests")
	}
	runtime.KeepAlive(fork)
	fork = nil
	for range 4 {
		round()
	}
	if n := cm.s.Stats(); n.Disk > before.Disk/4 {
		t.Errorf("%d bytes of %d are on the disk, of which a tenth lives", n.Disk, before.Disk)
	}
	for i := 0; i < keys; i += left {
		if !bytes.Equal(cm.get(func(f func(*fsm.View)) { cm.m.View(0, [16]byte{}, f) }, i), stateValue(i)) {
			t.Fatalf("value %d is another", i)
		}
	}
}

// TestDamagedSpots: parts of a segment are damaged while strings in it have no more than their places in memory. Digests are right
// whatever part it is, what can't be read comes from another node, and all strings leave the segment.
func TestDamagedSpots(t *testing.T) {
	const keys = 300
	other := open(t, Options{})
	var kept []payload.Kept
	for i := range keys {
		kept = append(kept, other.Keep(stateValue(i)))
	}
	if err := other.move(true); err != nil {
		t.Fatal(err)
	}
	damages := map[string]func(b []byte, listAt int){
		"nothing": func([]byte, int) {},
		"digests of the list": func(b []byte, listAt int) {
			for at := listAt; at+itemSize <= len(b)-listEnd; at += itemSize {
				b[at+8+20] ^= 1
			}
		},
		"the list":  func(b []byte, listAt int) { clear(b[listAt:]) },
		"the heads": func(b []byte, listAt int) { eachHead(b[:listAt], func(h []byte) { clear(h[:headSize]) }) },
		"the bytes": func(b []byte, listAt int) { eachHead(b[:listAt], func(h []byte) { h[headSize+700] ^= 1 }) },
		"all bytes and the list": func(b []byte, listAt int) {
			eachHead(b[:listAt], func(h []byte) { clear(h[headSize : headSize+payload.Apart]) })
			clear(b[listAt:])
		},
	}
	for name, damage := range damages { // unordered: they are independent
		t.Run(name, func(t *testing.T) {
			cm := newColdMachine(t, Options{Fetch: func(_ context.Context, want []payload.Digest) [][]byte { return other.Find(want, 1<<30) }})
			cm.fill(keys)
			digest := cm.m.Fork().Digest()
			g := cm.s.segments.current
			listAt := int(g.size)
			if err := cm.s.Close(); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(g.file.Name())
			if err != nil {
				t.Fatal(err)
			}
			damage(b, listAt)
			if _, err := g.file.WriteAt(b, 0); err != nil {
				t.Fatal(err)
			}
			cm.s.blocks = blocks{}
			if cm.m.Fork().Digest() != digest {
				t.Error("the digest of the state is another")
			}
			for i := range keys {
				if !bytes.Equal(cm.get(func(f func(*fsm.View)) { cm.m.View(0, [16]byte{}, f) }, i), stateValue(i)) {
					t.Fatalf("value %d is another", i)
				}
			}
			if cm.m.Fork().Digest() != digest {
				t.Error("the digest of the state is another after reads")
			}
			harmed := name == "the heads" || name == "the bytes" || name == "all bytes and the list"
			if n := cm.s.Stats(); harmed != (n.Fetched == keys) || !harmed && n.Damaged > 0 {
				t.Errorf("%+v", n)
			}
			var snapshot bytes.Buffer
			if err := cm.m.Fork().WriteReferences(&snapshot, cm.s); err != nil {
				t.Error(err)
			}
			if cm.walkOver(false); cm.cold() != keys || cm.m.Fork().Digest() != digest {
				t.Error("the state is another after a walk")
			}
			runtime.GC()
			runtime.GC()
			cm.s.compact()
			if gone := !cm.s.segments.there(g.no); gone != harmed {
				t.Errorf("the segment has gone: %t", gone)
			}
		})
	}
	runtime.KeepAlive(kept)
}

// eachHead calls f with what begins with the head of each payload.
func eachHead(b []byte, f func(h []byte)) {
	for at := beginSize; at < len(b); at += headSize + payload.Apart {
		f(b[at:])
	}
}
