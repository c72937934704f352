package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"filippo.io/age"
	"github.com/prometheus/client_golang/prometheus"
)

// testState is a state of payloads only. Its backup is a list of their digests.
type testState struct {
	mu  sync.Mutex
	all [][]byte
}

type testPayload []byte

func (p testPayload) Bytes() []byte             { return p }
func (p testPayload) Len() int                  { return len(p) }
func (p testPayload) Digest() [sha256.Size]byte { return sha256.Sum256(p) }

// add adds n payloads of size random bytes.
func (ts *testState) add(random *rand.ChaCha8, n, size int) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for range n {
		b := make([]byte, size)
		_, _ = random.Read(b)
		ts.all = append(ts.all, b)
	}
}

// set replaces the payloads.
func (ts *testState) set(all [][]byte) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.all = all
}

// drop removes the oldest n.
func (ts *testState) drop(n int) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.all = ts.all[min(n, len(ts.all)):]
}

// source is the state as it is now.
func (ts *testState) source() Source {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	all := slices.Clone(ts.all)
	return Source{
		Cluster: "c", Key: [32]byte{1},
		Payloads: func(each func(Payload) error) error {
			for _, b := range all {
				if err := errors.Join(each(testPayload(b)), each(testPayload(b))); err != nil {
					return err
				}
			}
			return nil
		},
		Write: func(w io.Writer) error {
			for _, b := range all {
				d := sha256.Sum256(b)
				if _, err := w.Write(d[:]); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// incremental is a schedule that is due every hour.
func incremental(a Archive, ts *testState) *Schedule {
	s := &Schedule{
		Archive: a, Keep: 3, Log: slog.New(slog.DiscardHandler),
		Next:    func(after time.Time) time.Time { return after.Truncate(time.Hour).Add(time.Hour) },
		Leads:   func() bool { return true },
		Cluster: func() string { return "c" },
		Take:    func(context.Context) (Source, error) { return ts.source(), nil },
	}
	s.Register(prometheus.NewRegistry())
	return s
}

// restored reads a backup, and returns how many payloads it names that no pack had.
func restored(a Archive, b Backup, keys []age.Identity) (payloads, missing int, err error) {
	found := map[[sha256.Size]byte]bool{}
	o, err := Read(context.Background(), a, b, keys, func(p []byte) error { found[sha256.Sum256(p)] = true; return nil })
	if err != nil {
		return 0, 0, err
	}
	defer o.Close()
	list, err := io.ReadAll(o)
	for d := range slices.Chunk(list, sha256.Size) {
		if payloads++; !found[[sha256.Size]byte(d)] {
			missing++
		}
	}
	return payloads, missing, err
}

// backupsOf are the backups of an archive, each of which must be whole.
func backupsOf(t *testing.T, a Archive, keys []age.Identity) []Backup {
	t.Helper()
	all, err := List(context.Background(), a, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		if n, missing, err := restored(a, b, keys); err != nil || missing > 0 {
			t.Errorf("%s: %d of %d payloads are missing: %v", b.Name, missing, n, err)
		}
	}
	return all
}

// TestIncremental: a backup writes what is new, small packs are put together, and what no backup names any more is removed.
func TestIncremental(t *testing.T) {
	key, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		open   func(t *testing.T) Archive
		sealed bool
	}{
		"folder":           {func(t *testing.T) Archive { return folder(t.TempDir()) }, false},
		"encrypted folder": {func(t *testing.T) Archive { return folder(t.TempDir()) }, true},
		"bucket":           {func(t *testing.T) Archive { return s3(t, direct) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, a, ts := context.Background(), c.open(t), &testState{}
			random := rand.NewChaCha8([32]byte{1})
			s := incremental(a, ts)
			var keys []age.Identity
			if c.sealed {
				s.Recipients, keys = []age.Recipient{key.Recipient()}, []age.Identity{key}
			}
			ts.add(random, 640, 50_000) // two packs
			at := time.Date(2026, 1, 1, 0, 30, 0, 0, time.UTC)
			var written []int64
			for range 4 {
				n, _, err := s.make(ctx, at)
				if err != nil {
					t.Fatal(err)
				}
				written = append(written, n)
				at = at.Add(time.Hour)
				ts.add(random, 20, 50_000)
			}
			if written[0] < 32e6 || written[1] > 2<<20 || written[2] > 3<<20 || written[3] > 4<<20 {
				t.Errorf("written: %d", written)
			}
			if len(backupsOf(t, a, keys)) != 4 {
				t.Error("not all backups are there")
			}
			if c.sealed {
				all, _ := List(ctx, a, "")
				if _, _, err := restored(a, all[0], nil); !all[0].Sealed || !errors.Is(err, errNoKey) {
					t.Errorf("%+v without a key: %v", all[0], err)
				}
			}
			if c.sealed {
				other, err := age.GenerateX25519Identity()
				if err != nil {
					t.Fatal(err)
				}
				s.Recipients = []age.Recipient{other.Recipient()}
				at = at.Add(time.Hour)
				_, name, err := s.make(ctx, at)
				b, _ := ParseName(name)
				if _, missing, failed := restored(a, b, []age.Identity{other}); errors.Join(err, failed) != nil || missing > 0 {
					t.Errorf("with another key, %d payloads are missing: %v, %v", missing, err, failed)
				}
				s.Recipients = []age.Recipient{key.Recipient()}
				if err := a.Remove(ctx, name); err != nil {
					t.Fatal(err)
				}
			}
			ts.drop(1 << 20)
			for range 100 {
				at = at.Add(time.Hour)
				ts.add(random, 1, 50_000)
				s.Look(ctx, at)
			}
			names, err := a.Names(ctx)
			if left := backupsOf(t, a, keys); err != nil || len(left) != 3 || len(names) > 60 {
				t.Errorf("%d backups and %d files are left: %v", len(left), len(names), err)
			}
			n, faults, err := Check(ctx, a, nil)
			if err != nil || len(faults) > 0 || n.Backups != 3 {
				t.Errorf("%+v, %+v, %v", n, faults, err)
			}
		})
	}
}

// testArchive is an archive in memory whose requests take their time, and may be the last thing that its node does.
type testArchive struct {
	mu     *sync.Mutex
	files  map[string][]byte
	random *rand.Rand
	dies   bool // some requests, and all after them, fail
	dead   bool
}

var errDead = errors.New("the node has ended")

// wait is the time that a request takes.
func (ta *testArchive) wait(ctx context.Context) error {
	ta.mu.Lock()
	pause := time.Duration(ta.random.Int64N(int64(4 * time.Minute)))
	if ta.random.IntN(60) == 0 {
		pause = time.Duration(ta.random.Int64N(int64(12 * time.Hour)))
	}
	ta.dead = ta.dead || ta.dies && ta.random.IntN(40) == 0
	dead := ta.dead
	ta.mu.Unlock()
	if dead {
		return errDead
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pause):
		return nil
	}
}

func (ta *testArchive) String() string { return "memory" }

func (ta *testArchive) Put(ctx context.Context, name string, r io.Reader) error {
	b, err := io.ReadAll(r)
	if err := errors.Join(err, ta.wait(ctx)); err != nil {
		return err
	}
	ta.mu.Lock()
	defer ta.mu.Unlock()
	ta.files[name] = b
	return nil
}

func (ta *testArchive) Names(ctx context.Context) ([]string, error) {
	if err := ta.wait(ctx); err != nil {
		return nil, err
	}
	ta.mu.Lock()
	defer ta.mu.Unlock()
	return slices.Sorted(maps.Keys(ta.files)), nil
}

func (ta *testArchive) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	if err := ta.wait(ctx); err != nil {
		return nil, err
	}
	ta.mu.Lock()
	defer ta.mu.Unlock()
	b, has := ta.files[name]
	if !has {
		return nil, ErrNotThere
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

func (ta *testArchive) Remove(ctx context.Context, name string) error {
	if err := ta.wait(ctx); err != nil {
		return err
	}
	ta.mu.Lock()
	defer ta.mu.Unlock()
	delete(ta.files, name)
	return nil
}

// TestBackupsAtOnce has nodes make backups in one archive at the same time, for weeks, while requests take up to half a day and
// nodes end in the middle: every backup that is there can be restored at any time.
func TestBackupsAtOnce(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { backupsAtOnce(t, seed) })
		})
	}
}

func backupsAtOnce(t *testing.T, seed uint64) {
	var all sync.WaitGroup
	mu, files, ts := &sync.Mutex{}, map[string][]byte{}, &testState{}
	pool, random := &testState{}, rand.New(rand.NewPCG(seed, 1))
	pool.add(rand.NewChaCha8([32]byte{byte(seed)}), 64, 1<<10) // the state has some of these, which come and go
	var stop atomic.Bool
	for node := range uint64(3) {
		all.Go(func() {
			a := &testArchive{mu: mu, files: files, random: rand.New(rand.NewPCG(seed, 2+node)), dies: true}
			for !stop.Load() {
				a.dead = false
				s := incremental(a, ts)
				s.packSize, s.leastUsed = 16<<10, 4<<10
				now := time.Now()
				if _, _, err := s.make(context.Background(), now); err == nil {
					_ = s.prune(context.Background(), now)
				}
				a.mu.Lock()
				pause := time.Duration(a.random.Int64N(int64(8 * time.Hour)))
				a.mu.Unlock()
				time.Sleep(pause)
			}
		})
	}
	made, removed, first, before := 0, 0, 0, map[string]bool{}
	for range 40 * 12 {
		time.Sleep(2 * time.Hour)
		first = max(0, min(len(pool.all)-24, first+random.IntN(25)-12))
		ts.set(pool.all[first : first+24])
		mu.Lock()
		now := maps.Clone(files)
		mu.Unlock()
		made, removed = made+checkAtOnce(t, now, before), removed+gone(before, now)
		before = map[string]bool{}
		for name := range now {
			before[name] = true
		}
		if t.Failed() {
			break
		}
	}
	stop.Store(true)
	all.Wait()
	if made < 40 || removed < 20 {
		t.Errorf("%d backups were made, and %d packs removed", made, removed)
	}
}

// gone counts the packs that are not there any more.
func gone(before map[string]bool, now map[string][]byte) (n int) {
	for name := range before {
		if _, has := now[name]; !has && strings.HasSuffix(name, packSuffix) {
			n++
		}
	}
	return n
}

// checkAtOnce checks that the packs of every backup are there, and returns how many backups are new.
func checkAtOnce(t *testing.T, files map[string][]byte, before map[string]bool) (made int) {
	t.Helper()
	for name, file := range files {
		if b, ok := ParseName(name); !ok || !b.Packed {
			continue
		}
		packs, err := readManifestHead(bytes.NewReader(file))
		if err != nil {
			t.Error(err)
		}
		for _, p := range packs {
			if files[p] == nil {
				t.Errorf("%s needs %s, which is gone", name, p)
			}
		}
		if !before[name] {
			made++
		}
	}
	return made
}

// TestDamagedFiles flips bits of every kind of file, and cuts them: each is found, with the backups that need it, and the next
// backup writes again what is needed, for itself and for those before.
func TestDamagedFiles(t *testing.T) {
	ctx, ts, random := context.Background(), &testState{}, rand.New(rand.NewPCG(5, 6))
	a := &stillArchive{files: map[string][]byte{}}
	s := incremental(a, ts)
	ts.add(rand.NewChaCha8([32]byte{7}), 10, 1<<20)
	at := time.Date(2026, 1, 1, 0, 30, 0, 0, time.UTC)
	for range 2 {
		if _, _, err := s.make(ctx, at); err != nil {
			t.Fatal(err)
		}
		at = at.Add(time.Hour)
	}
	whole := maps.Clone(a.files)
	for name, file := range whole {
		for i := range 60 {
			bad := bytes.Clone(file)
			if at := random.IntN(len(bad)); i%10 == 0 {
				bad = bad[:at]
			} else if i%2 == 0 {
				bad[min(at, random.IntN(200))] ^= 1 << random.IntN(8) // the head
			} else {
				bad[at] ^= 1 << random.IntN(8)
			}
			a.files[name] = bad
			_, faults, err := Check(ctx, a, nil)
			named := slices.IndexFunc(faults, func(f Fault) bool { return f.Name == name })
			if err != nil || named < 0 || len(faults[named].Backups) == 0 {
				t.Fatalf("%s, fault %d: %+v, %v", name, i, faults, err)
			}
		}
		a.files[name] = file
		p, isPack := parsePack(name)
		if !isPack {
			continue
		}
		bad := bytes.Clone(file)
		bad[len(bad)/2] ^= 1
		a.files[name] = bad
		if err := readPack(bytes.NewReader(bad), p.digest, nil, false, func([]byte) error { return nil }); !errors.Is(err, ErrDamaged) {
			t.Errorf("a damaged pack was read: %v", err)
		}
		_, faults, _ := Check(ctx, a, nil)
		if discarded, err := Discard(ctx, a, faults[0]); !discarded || err != nil || len(faults) != 1 || len(faults[0].Backups) != 2 {
			t.Fatalf("%+v, %v", faults, err)
		}
		if _, _, err := s.make(ctx, at); err != nil {
			t.Fatal(err)
		}
		if n := len(backupsOf(t, a, nil)); n != 3 {
			t.Errorf("%d backups", n)
		}
		for name := range a.files {
			delete(a.files, name)
		}
		maps.Copy(a.files, whole)
	}
}

// stillArchive is a testArchive whose requests take no time.
type stillArchive struct{ files map[string][]byte }

func (sa *stillArchive) String() string { return "memory" }

func (sa *stillArchive) Put(_ context.Context, name string, r io.Reader) error {
	b, err := io.ReadAll(r)
	sa.files[name] = b
	return err
}

func (sa *stillArchive) Names(context.Context) ([]string, error) {
	return slices.Sorted(maps.Keys(sa.files)), nil
}

func (sa *stillArchive) Get(_ context.Context, name string) (io.ReadCloser, error) {
	b, has := sa.files[name]
	if !has {
		return nil, ErrNotThere
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

func (sa *stillArchive) Remove(_ context.Context, name string) error {
	delete(sa.files, name)
	return nil
}

// TestNewerFiles: what a newer version has written is refused as that, and nothing is removed beside it.
func TestNewerFiles(t *testing.T) {
	ctx, ts := context.Background(), &testState{}
	a := &stillArchive{files: map[string][]byte{}}
	s := incremental(a, ts)
	ts.add(rand.NewChaCha8([32]byte{7}), 10, 1<<20)
	at := time.Date(2026, 1, 1, 0, 30, 0, 0, time.UTC)
	_, name, err := s.make(ctx, at)
	if err != nil {
		t.Fatal(err)
	}
	orphan := packNameOf("c", at.Add(-100*time.Hour), strings.Repeat("00", 32), false)
	a.files[orphan] = []byte("x")
	a.files[condemnedName("c", at.Add(-100*time.Hour))] = []byte(writeList([]string{orphan}))
	a.files[name][len(manifestMagic)]++
	files := len(a.files)
	all, _ := List(ctx, a, "")
	if _, _, err := restored(a, all[0], nil); !errors.Is(err, ErrNewer) {
		t.Errorf("restored: %v", err)
	}
	if _, err := prunePacks(ctx, a, "c", at); !errors.Is(err, ErrNewer) || len(a.files) != files {
		t.Errorf("%d of %d files are left: %v", len(a.files), files, err)
	}
	a.files[name][len(manifestMagic)]--
	if n, err := prunePacks(ctx, a, "c", at); n != 1 || err != nil || a.files[orphan] != nil {
		t.Errorf("%d packs were removed: %v", n, err)
	}
}

// TestDamagedList: a list of condemned packs that is damaged condemns all packs that are older.
func TestDamagedList(t *testing.T) {
	ctx, ts := context.Background(), &testState{}
	a := &stillArchive{files: map[string][]byte{}}
	s := incremental(a, ts)
	ts.add(rand.NewChaCha8([32]byte{7}), 10, 1<<20)
	at := time.Date(2026, 1, 1, 0, 30, 0, 0, time.UTC)
	first, _, err := s.make(ctx, at)
	if err != nil {
		t.Fatal(err)
	}
	list := condemnedName("c", at.Add(time.Hour))
	text := []byte(writeList([]string{packNameOf("c", at, strings.Repeat("00", 32), false)}))
	text[3] ^= 1
	a.files[list] = text
	second, _, err := s.make(ctx, at.Add(2*time.Hour))
	if err != nil || second < first {
		t.Errorf("%d bytes, then %d: %v", first, second, err)
	}
	if _, err := prunePacks(ctx, a, "c", at.Add(100*time.Hour)); err != nil || a.files[list] != nil {
		t.Errorf("the list is there still: %v", err)
	}
	if third, _, err := s.make(ctx, at.Add(101*time.Hour)); err != nil || third > first/2 {
		t.Errorf("%d bytes, then %d: %v", first, third, err)
	}
}
