package payloads

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm/payload"
)

// reopen closes a store and opens its directory again.
func reopen(t *testing.T, s *Store, o Options) *Store {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	o.DataDir = filepath.Dir(s.dir)
	again, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// names are the references of payloads.
func names(list []payload.Payload) (refs []payload.Reference) {
	for _, p := range list {
		refs = append(refs, payload.Reference{Digest: p.Digest(), Len: p.Len()})
	}
	return refs
}

// TestStartKeepsSegments: what was written before a start is read after it, whether the last segment was completed or not, and
// what is written again takes no place.
func TestStartKeepsSegments(t *testing.T) {
	for name, killed := range map[string]bool{"stopped": false, "killed": true} {
		t.Run(name, func(t *testing.T) {
			s := open(t, Options{size: 1 << 20})
			list := keep(t, s, 1500)
			if err := s.move(true); err != nil {
				t.Fatal(err)
			}
			if !killed {
				s = reopen(t, s, Options{size: 1 << 20})
			} else {
				again, err := Open(Options{DataDir: filepath.Dir(s.dir), size: 1 << 20})
				if err != nil {
					t.Fatal(err)
				}
				s = again
			}
			before := s.Stats()
			if before.Segments < 3 || before.Disk == 0 {
				t.Errorf("%+v", before)
			}
			for i, k := range s.Named(names(list)) {
				if b, whole := k.(*Body).whole(); !whole || !bytes.Equal(b, text(i, payload.Apart+i%4096)) {
					t.Fatalf("payload %d is not there", i)
				}
			}
			same := keep(t, s, 1500)
			if err := s.move(true); err != nil {
				t.Fatal(err)
			}
			if n := s.Stats(); n.Disk != before.Disk || n.Written != 0 || n.Memory != 0 {
				t.Errorf("what is there was written again: %+v", n)
			}
			runtime.KeepAlive(same)
		})
	}
}

// TestStartRemovesWhatIsNoSegment: files of a former version are removed, and so are segments without payloads.
func TestStartRemovesWhatIsNoSegment(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, Dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"000001.seg", "00000002.pay", "2.pay", "00000003.PAY"} {
		if err := os.WriteFile(filepath.Join(dir, Dir, name), text(1, 10_000), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(Options{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(s.dir); err != nil || len(left) != 0 || s.Stats().Segments != 0 {
		t.Errorf("%v are left, %v", left, err)
	}
}

// TestEveryDamageIsNoticed flips bits and cuts off ends of segments, complete and not, while the node is down. Every payload is then
// read unchanged, here or from another node; the rest of a damaged segment is still here.
func TestEveryDamageIsNoticed(t *testing.T) {
	const count = 60
	other := open(t, Options{})
	keep(t, other, count)
	if err := other.move(true); err != nil {
		t.Fatal(err)
	}
	fetch := func(_ context.Context, want []payload.Digest) [][]byte { return other.Find(want, 1<<30) }
	r := rand.New(rand.NewPCG(3, 8))
	for round := range 120 {
		s := open(t, Options{size: 60 << 10})
		list := keep(t, s, count)
		if err := s.move(true); err != nil {
			t.Fatal(err)
		}
		if round%2 == 0 {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		files, flips := segmentsOn(t, s), 0
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			switch round % 6 {
			case 0, 1: // anywhere
				b[r.IntN(len(b))] ^= 1 << r.IntN(8)
				flips++
			case 2, 3: // the salt, then the end
				b[r.IntN(beginSize)] ^= 1 << r.IntN(8)
				b[len(b)-1-r.IntN(40)] ^= 1 << r.IntN(8)
				flips += 2
			case 4:
				b = b[:r.IntN(len(b))]
			case 5:
				for range 20 {
					b[r.IntN(len(b))] ^= 0xff
				}
			}
			if err := os.WriteFile(f, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		again, err := Open(Options{DataDir: filepath.Dir(s.dir), Fetch: fetch, Fatal: func(err error) { t.Error(err) }})
		if err != nil {
			t.Fatal(err)
		}
		kept := again.Named(names(list))
		for i, k := range kept {
			if !bytes.Equal(k.Bytes(), text(i, payload.Apart+i%4096)) {
				t.Fatalf("round %d: payload %d is another", round, i)
			}
		}
		if n := again.Stats(); flips > 0 && n.Fetched > int64(flips) {
			t.Errorf("round %d: %d payloads were fetched after %d flips in %d files", round, n.Fetched, flips, len(files))
		}
	}
}

// TestPayloadsCantForgeSegments: a payload with the content of a segment, or a part of one, is read as what it is after a crash.
func TestPayloadsCantForgeSegments(t *testing.T) {
	from := open(t, Options{})
	keep(t, from, 20)
	if err := errors.Join(from.move(true), from.Close()); err != nil {
		t.Fatal(err)
	}
	segment, err := os.ReadFile(segmentsOn(t, from)[0])
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, Options{})
	forged := []payload.Payload{payload.New(text(900, 3000), s), payload.New(segment[beginSize:], s), payload.New(segment, s)}
	if err := s.move(true); err != nil {
		t.Fatal(err)
	}
	again, err := Open(Options{DataDir: filepath.Dir(s.dir)}) // the process was killed
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range again.Named(names(forged)) {
		if b, whole := k.(*Body).whole(); !whole || !bytes.Equal(b, forged[i].Bytes()) {
			t.Errorf("payload %d is not there", i)
		}
	}
	if again.has(new(payload.DigestOf(text(3, payload.Apart+3)))) {
		t.Error("a forged payload is there")
	}
}

// TestDamageFoundByCopying: a payload that compaction can't read is fetched, and no snapshot names it meanwhile.
func TestDamageFoundByCopying(t *testing.T) {
	other := open(t, Options{})
	theirs := keep(t, other, 10)
	if err := other.move(true); err != nil {
		t.Fatal(err)
	}
	down := true
	s := open(t, Options{size: 1 << 10, lost: time.Minute, Fetch: func(_ context.Context, want []payload.Digest) [][]byte {
		if down {
			return nil
		}
		return other.Find(want, 1<<30)
	}})
	list := keep(t, s, 10)
	if err := s.move(true); err != nil {
		t.Fatal(err)
	}
	for _, f := range segmentsOn(t, s) {
		if err := os.Truncate(f, 100); err != nil {
			t.Fatal(err)
		}
	}
	s.moving.Lock()
	var all []*Body
	for _, p := range names(list) {
		at := s.index.get(&p.Digest)
		bodies, _ := s.segments.get(at.segment()).live()
		all = bodies
	}
	g := s.segments.after(0)[0]
	err := s.writeAll(all, g)
	s.moving.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	var kept []payload.Kept
	for _, p := range all {
		kept = append(kept, p)
	}
	if err := s.Place(kept); !errors.Is(err, errMissing) {
		t.Errorf("a snapshot names what is lost: %v", err)
	}
	s.fetchMissing(t.Context())
	if err := s.Place(kept); !errors.Is(err, errMissing) {
		t.Errorf("a snapshot names what is lost: %v", err)
	}
	down = false
	s.fetchMissing(t.Context())
	if err := s.Place(kept); err != nil {
		t.Error(err)
	}
	same(t, list)
	same(t, theirs)
}

// gathers are what other nodes do when they are asked.
func gather(t *testing.T, s *Store, list []payload.Payload) error {
	t.Helper()
	g := s.Gather(t.Context(), nil)
	defer g.Done()
	for _, ref := range names(list) {
		if err := g.Want([]payload.Reference{ref, ref}); err != nil {
			t.Fatal(err)
		}
	}
	g.End(nil)
	return g.Err()
}

// TestGathering fetches what is lacking, from nodes of which each has a part and some send something else, and gives up on what none
// has.
func TestGathering(t *testing.T) {
	other := open(t, Options{})
	list := append(keep(t, other, 2500), payload.New(text(1, fetchBytes+1), other))
	asked := make(chan int, 10_000)
	o := Options{lost: 300 * time.Millisecond, Fetch: func(_ context.Context, want []payload.Digest) (got [][]byte) {
		asked <- len(want)
		for i, b := range other.Find(want, 1<<30) {
			if i%3 == 0 {
				got = append(got, b)
			} else if i%3 == 1 {
				got = append(got, append(bytes.Clone(b), 0))
			}
		}
		return got
	}}
	s := open(t, o)
	here := keep(t, s, 100)
	if err := s.move(true); err != nil {
		t.Fatal(err)
	}
	if err := gather(t, s, list); err != nil {
		t.Fatal(err)
	}
	if n := s.Stats(); n.Fetched != int64(len(list)-len(here)) || n.Memory != 0 {
		t.Errorf("%+v", n)
	}
	for range len(asked) {
		if n := <-asked; n > fetchCount {
			t.Errorf("%d were asked for at once", n)
		}
	}
	s = reopen(t, s, o) // it is on the disk
	for i, k := range s.Named(names(list)) {
		if b, whole := k.(*Body).whole(); !whole || !bytes.Equal(b, list[i].Bytes()) {
			t.Fatalf("payload %d is not there", i)
		}
	}
	nobody := payload.New(text(77_777, 5000), nil)
	if err := gather(t, s, []payload.Payload{list[0], nobody}); !errors.Is(err, ErrNotFound) {
		t.Errorf("what no node has was fetched: %v", err)
	}
	g := s.Gather(t.Context(), nil)
	failed := errors.New("the snapshot is damaged")
	g.End(failed)
	if err := g.Err(); !errors.Is(err, failed) {
		t.Errorf("%v", err)
	}
	g.Done()
}

// TestGatheringKeepsWhatWasFetched: nothing in memory refers to what a gathering has fetched, and the leader may send its snapshot
// again. Segments stay for that, however often compact looks, and so do segments that were empty when the snapshot began to come,
// once it names what is in them.
func TestGatheringKeepsWhatWasFetched(t *testing.T) {
	other := open(t, Options{})
	list := keep(t, other, 500)
	s := open(t, Options{size: 256 << 10, Snapshots: func() ([]string, error) { return nil, nil }, Fetch: func(_ context.Context, want []payload.Digest) [][]byte {
		return other.Find(want, 1<<30)
	}})
	var last *Gathering
	fetch := func(former *Gathering) {
		t.Helper()
		last = s.Gather(t.Context(), former)
		s.compact()
		if err := last.Want(names(list)); err != nil {
			t.Fatal(err)
		}
		s.compact()
		last.End(nil)
		if err := last.Err(); err != nil {
			t.Fatal(err)
		}
		for range 2 { // sees that they are empty, and looks whether they may go
			s.compact()
		}
		if n := s.Stats(); n.Fetched != int64(len(list)) {
			t.Fatalf("%d of %d were fetched: some twice", n.Fetched, len(list))
		}
	}
	fetch(nil)
	for range 3 {
		fetch(last)
	}
	before := s.Pin()
	s.compact()
	last.Done()
	last = s.Gather(t.Context(), nil)
	if err := last.Want(names(list)); err != nil {
		t.Fatal(err)
	}
	before.Settle()
	last.End(nil)
	fetch(last)
	last.Done()
	s.compact()
	if n := s.Stats().Segments; n > 1 {
		t.Errorf("%d segments stay that no snapshot names", n)
	}
}
