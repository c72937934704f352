package payloads

import (
	"bytes"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm/payload"
)

// TestHeldCopiesOutliveTheirSegments: values that are put are on the disk at once. While they are held, and let go of, beside each
// other, segments are copied together and removed; each value is read back as what it is, and none is written again because it was
// held.
func TestHeldCopiesOutliveTheirSegments(t *testing.T) {
	s := open(t, Options{size: 64 << 10, young: 1 << 20, age: time.Millisecond})
	const count = 1000
	var bs [][]byte
	for i := range count {
		bs = append(bs, text(i, payload.Apart+i%4096))
	}
	list, err := s.Put(bs)
	if err != nil {
		t.Fatal(err)
	}
	if n := s.Stats(); n.Memory != 0 {
		t.Fatalf("%d bytes are in memory after Put", n.Memory)
	}
	for i := range list { // three of four are forgotten, so that segments are copied
		if i%4 != 0 {
			list[i] = nil
		}
	}
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := g; i < 20*count; i += 4 {
				if k := list[i%count]; k != nil && !bytes.Equal(k.Hold(), bs[i%count]) {
					t.Errorf("value %d is another", i%count)
					return
				}
			}
		})
	}
	for range 50 {
		runtime.GC()
		s.compact()
		if err := s.move(false); err != nil {
			t.Fatal(err)
		}
	}
	all.Wait()
	if err := s.move(true); err != nil {
		t.Fatal(err)
	}
	written := s.Stats().Written
	for i, k := range list {
		if k != nil && !bytes.Equal(k.Hold(), bs[i]) {
			t.Errorf("value %d is another", i)
		}
	}
	if err := s.move(true); err != nil {
		t.Fatal(err)
	}
	for _, k := range list {
		if k != nil {
			if _, near := k.Near(); near {
				t.Fatal("a value is in memory after everything was moved")
			}
		}
	}
	if again := s.Stats().Written; again != written {
		t.Errorf("%d bytes were written because values were held", again-written)
	}
}
