package payloads

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm/payload"
)

// open opens a store. A payload that is lost ends the goroutine that reads it, and fails the test.
func open(t *testing.T, o Options) *Store {
	t.Helper()
	o.DataDir = t.TempDir()
	if o.Fatal == nil {
		o.Fatal = func(err error) { t.Fatal(err) }
		if o.Fetch == nil {
			o.lost = time.Millisecond
		}
	}
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// text returns a payload of n bytes that no other number has.
func text(i, n int) []byte {
	r := rand.New(rand.NewPCG(uint64(i), 1))
	b := make([]byte, n)
	for j := range b {
		b[j] = byte(r.Uint32())
	}
	return b
}

// keep keeps count payloads of 1 to 5 KiB.
func keep(t *testing.T, s *Store, count int) (list []payload.Payload) {
	t.Helper()
	for i := range count {
		list = append(list, payload.New(text(i, payload.Apart+i%4096), s))
	}
	return list
}

func same(t *testing.T, list []payload.Payload) {
	t.Helper()
	for i, p := range list {
		want := text(i, payload.Apart+i%4096)
		if p.Len() != len(want) || !bytes.Equal(p.Bytes(), want) || p.Digest() != payload.DigestOf(want) {
			t.Fatalf("payload %d of %d bytes is another", i, len(want))
		}
	}
}

// segmentsOn returns the files on the disk.
func segmentsOn(t *testing.T, s *Store) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(s.dir, "*.pay"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestPayloadsAreReadBack: payloads that went to the disk, over several segments, are read back unchanged, and none of them is in memory.
func TestPayloadsAreReadBack(t *testing.T) {
	s := open(t, Options{size: 1 << 20})
	list := keep(t, s, 2000)
	if err := s.move(true); err != nil {
		t.Fatal(err)
	}
	same(t, list)
	n := s.Stats()
	if n.Memory != 0 || n.Segments < 4 || n.Written != n.Disk || n.Read != 4000/2 || n.Damaged != 0 {
		t.Errorf("%+v", n)
	}
}

// TestShortPayloadsStay: payloads shorter than the setting are not kept by the store.
func TestShortPayloadsStay(t *testing.T) {
	s := open(t, Options{Inline: 2000})
	if s.Keep(make([]byte, 1999)) != nil || s.Keep(make([]byte, 2000)) == nil {
		t.Error("the setting does not count")
	}
}

// TestYoungPayloadsStay: young payloads stay in memory up to a limit; beyond it the oldest go to the disk.
func TestYoungPayloadsStay(t *testing.T) {
	s := open(t, Options{young: 100 << 10})
	list := keep(t, s, 10)
	if err := s.move(false); err != nil || s.Stats().Written != 0 {
		t.Fatal("young payloads were written", err)
	}
	more := payload.New(text(0, 100<<10), s)
	if err := s.move(false); err != nil {
		t.Fatal(err)
	}
	n := s.Stats()
	if n.Written == 0 || n.Written > 100<<10 || n.Memory > 100<<10 {
		t.Errorf("%+v", n)
	}
	same(t, list)
	runtime.KeepAlive(more)
}

// TestOldPayloadsGo: payloads older than the age go to the disk by themselves.
func TestOldPayloadsGo(t *testing.T) {
	s := open(t, Options{age: time.Nanosecond})
	list := keep(t, s, 10)
	if err := s.move(false); err != nil {
		t.Fatal(err)
	}
	if n := s.Stats(); n.Memory != 0 || n.Written == 0 {
		t.Errorf("%+v", n)
	}
	same(t, list)
}

// TestBringersWait: callers that bring more than memory has room for write it themselves, so memory is bounded whatever else runs.
func TestBringersWait(t *testing.T) {
	s := open(t, Options{young: 64 << 10})
	list := keep(t, s, 400)
	if n := s.Stats(); n.Memory > 3*64<<10+writeSize {
		t.Errorf("%+v", n)
	}
	same(t, list)
}

// collected runs the collector until f is true.
func collected(t *testing.T, f func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !f(); {
		if time.Now().After(end) {
			t.Fatal("it did not come to pass")
		}
		runtime.GC()
	}
}

// TestForgottenPayloadsGo: files without needed payloads are removed, and files with few are copied together; payloads
// are read from their new places.
func TestForgottenPayloadsGo(t *testing.T) {
	s := open(t, Options{size: 256 << 10})
	list := keep(t, s, 2000)
	if err := s.move(true); err != nil {
		t.Fatal(err)
	}
	before := s.Stats()
	for i := range list {
		if i%5 != 0 {
			list[i] = payload.Payload{}
		}
	}
	collected(t, func() bool {
		s.compact()
		return s.Stats().Disk < before.Disk/2
	})
	if n := len(segmentsOn(t, s)); n != s.Stats().Segments {
		t.Errorf("%d files, %d segments", n, s.Stats().Segments)
	}
	for i := 0; i < len(list); i += 5 {
		if !bytes.Equal(list[i].Bytes(), text(i, payload.Apart+i%4096)) {
			t.Fatalf("payload %d is another", i)
		}
	}
	list = nil
	_ = payload.New(text(0, 300<<10), s)
	if err := s.move(true); err != nil { // so that no segment is the current one
		t.Fatal(err)
	}
	collected(t, func() bool {
		s.compact()
		return len(segmentsOn(t, s)) <= 1
	})
}

// TestDamagedPayloadsAreFetched: bytes that changed on the disk, or are gone, come from another node, and are written anew.
func TestDamagedPayloadsAreFetched(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(*testing.T, string)
	}{
		{"flipped", func(t *testing.T, name string) {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for i := range b {
				b[i] ^= 1
			}
			if err := os.WriteFile(name, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{"truncated", func(t *testing.T, name string) {
			if err := os.Truncate(name, 0); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			other := open(t, Options{})
			theirs := keep(t, other, 50)
			if err := other.move(true); err != nil {
				t.Fatal(err)
			}
			s := open(t, Options{Fetch: func(_ context.Context, want []payload.Digest) [][]byte { return other.Find(want, 1<<30) }})
			list := keep(t, s, 50)
			if err := s.move(true); err != nil {
				t.Fatal(err)
			}
			for _, name := range segmentsOn(t, s) {
				c.damage(t, name)
			}
			same(t, list)
			if n := s.Stats(); n.Damaged != 50 || n.Fetched != 50 {
				t.Errorf("%+v", n)
			}
			if err := s.move(true); err != nil {
				t.Fatal(err)
			}
			same(t, list)
			if n := s.Stats(); n.Damaged != 50 || n.Memory != 0 {
				t.Errorf("not written anew: %+v", n)
			}
			runtime.KeepAlive(theirs)
		})
	}
}

// TestCompactionKeepsWhatIsReferredTo: from segments with more live bytes than one write takes, all live payloads are copied,
// whatever their sizes and their places in the segment.
func TestCompactionKeepsWhatIsReferredTo(t *testing.T) {
	for name, length := range map[string]int{"small": payload.Apart, "half a write": writeSize / 2, "a write": writeSize, "more than a write": writeSize + 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const alive = 5 * writeSize / 2 // bytes: three writes
			count := (alive+length-1)/length + 1
			s := open(t, Options{size: int64(4 * count * length)})
			base := text(0, length) // which compression makes no smaller
			body := func(i int) []byte {
				b := bytes.Clone(base)
				copy(b, fmt.Sprintf("payload %d", i))
				return b
			}
			var list []payload.Payload
			for i := range 4 * count {
				list = append(list, payload.New(body(i), s))
			}
			if err := s.move(true); err != nil {
				t.Fatal(err)
			}
			for i := range list {
				if i%4 != 3 { // the last of the segment lives
					list[i] = payload.Payload{}
				}
			}
			want := int64(count * length)
			collected(t, func() bool {
				s.compact()
				return s.Stats().Disk <= want+want/2
			})
			for i := 3; i < len(list); i += 4 {
				if !bytes.Equal(list[i].Bytes(), body(i)) {
					t.Fatalf("payload %d is another", i)
				}
			}
			n := s.Stats()
			if n.Damaged != 0 || n.Disk < want || n.Memory != 0 {
				t.Errorf("%d bytes are alive: %+v", want, n)
			}
			if last := list[len(list)-1]; len(s.Find([]payload.Digest{last.Digest()}, 1)) != 1 {
				t.Error("what was copied is not found for other nodes")
			}
			runtime.KeepAlive(list) // a payload that nobody has is not found
		})
	}
}

// TestFetchedBytesAreCompared: the answer of another node is used only if its digest is the one that was asked for. The other
// nodes are asked until one has the payload, or the node ends.
func TestFetchedBytesAreCompared(t *testing.T) {
	want := text(1, 5000)
	other := bytes.Clone(want)
	other[4999] ^= 1
	for name, c := range map[string]struct {
		answers [][][]byte // one after the other; the last one again and again
		lost    bool
	}{
		"the right one":           {answers: [][][]byte{{want}}},
		"another, then it":        {answers: [][][]byte{{other}, {want}}},
		"another beside it":       {answers: [][][]byte{{other, want}}},
		"a part, then it":         {answers: [][][]byte{{want[:4999]}, {append(bytes.Clone(want), 0)}, {{}}, nil, {want}}},
		"nobody has it":           {answers: [][][]byte{nil}, lost: true},
		"all have something else": {answers: [][][]byte{{other}}, lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, fatal := 0, make(chan error, 1)
			s := open(t, Options{lost: 350 * time.Millisecond, Fatal: func(err error) { fatal <- err }, Fetch: func(_ context.Context, digests []payload.Digest) [][]byte {
				if len(digests) != 1 || digests[0] != payload.DigestOf(want) {
					t.Errorf("asked for %x", digests)
				}
				asked++
				return c.answers[min(asked, len(c.answers))-1]
			}})
			if !c.lost {
				s.opts.lost = time.Minute
			}
			p := payload.New(bytes.Clone(want), s)
			if err := s.move(true); err != nil {
				t.Fatal(err)
			}
			for _, name := range segmentsOn(t, s) {
				if err := os.Truncate(name, 0); err != nil {
					t.Fatal(err)
				}
			}
			read := make(chan []byte, 1)
			go func() { read <- p.Bytes() }() // for ever, if it is lost
			select {
			case got := <-read:
				if c.lost || !bytes.Equal(got, want) || asked != len(c.answers) {
					t.Errorf("after %d of %d answers it is read as %d bytes, equal: %v", asked, len(c.answers), len(got), bytes.Equal(got, want))
				}
			case err := <-fatal:
				if !c.lost {
					t.Errorf("the node ends: %v", err)
				}
			case <-time.After(time.Minute):
				t.Error("neither read nor lost")
			}
		})
	}
}

// TestFindLooksEverywhere: payloads in memory and on the disk are found, and no others.
func TestFindLooksEverywhere(t *testing.T) {
	s := open(t, Options{})
	onDisk := payload.New(text(1, 5000), s)
	if err := s.move(true); err != nil {
		t.Fatal(err)
	}
	inMemory := payload.New(text(2, 5000), s)
	got := s.Find([]payload.Digest{onDisk.Digest(), inMemory.Digest(), payload.DigestOf([]byte("no such"))}, 1<<20)
	if len(got) != 2 || !bytes.Equal(got[0], text(1, 5000)) || !bytes.Equal(got[1], text(2, 5000)) {
		t.Errorf("%d found", len(got))
	}
}

// TestDiskThatTakesNothing: payloads that can't be written stay in memory, and are written when the disk accepts writes again.
func TestDiskThatTakesNothing(t *testing.T) {
	s := open(t, Options{})
	list := keep(t, s, 20)
	if err := os.RemoveAll(s.dir); err != nil {
		t.Fatal(err)
	}
	if err := s.move(true); err == nil {
		t.Fatal("there was nothing to write to")
	}
	same(t, list)
	if n := s.Stats(); n.Failures != 1 || n.Memory == 0 {
		t.Errorf("%+v", n)
	}
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := s.move(true); err != nil {
		t.Fatal(err)
	}
	same(t, list)
	if n := s.Stats(); n.Memory != 0 || n.Disk == 0 || n.Written != n.Disk {
		t.Errorf("what could not be written before is in memory still: %+v", n)
	}
}

// TestReadersMeanwhile: payloads are read while they are moved and copied.
func TestReadersMeanwhile(t *testing.T) {
	s := open(t, Options{size: 64 << 10, age: time.Nanosecond})
	list := keep(t, s, 300)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for ctx.Err() == nil {
				same(t, list)
			}
		})
	}
	for i := range 20 {
		young := keep(t, s, 50)
		if err := s.move(true); err != nil {
			t.Error(err)
		}
		if i%2 == 0 {
			young = nil
		}
		runtime.GC()
		s.compact()
		runtime.KeepAlive(young)
	}
	cancel()
	all.Wait()
}

func BenchmarkRead(b *testing.B) {
	for _, n := range []int{1 << 10, 4 << 10, 64 << 10} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, err := Open(Options{DataDir: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			p := payload.New(text(1, n), s)
			if err := s.move(true); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(n))
			for b.Loop() {
				_ = p.Bytes()
			}
		})
	}
}
