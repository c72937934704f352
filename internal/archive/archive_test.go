package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/prometheus/client_golang/prometheus"
)

// s3 serves a bucket, behind a handler that may get in the way.
func s3(t *testing.T, between func(http.Handler) http.Handler) Archive {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("kept"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(between(gofakes3.New(backend).Server()))
	t.Cleanup(server.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	a, err := Open("s3://kept/some/prefix?region=eu-north-1&endpoint=" + server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func direct(h http.Handler) http.Handler { return h }

// content reads a backup.
func content(t *testing.T, a Archive, name string) []byte {
	t.Helper()
	r, err := a.Get(context.Background(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestArchives puts, lists, gets and removes in each kind of archive.
func TestArchives(t *testing.T) {
	ctx := context.Background()
	for name, open := range map[string]func(t *testing.T) Archive{
		"folder": func(t *testing.T) Archive {
			a, err := Open(filepath.Join(t.TempDir(), "made", "by", "itself"))
			if err != nil {
				t.Fatal(err)
			}
			return a
		},
		"bucket": func(t *testing.T) Archive { return s3(t, direct) },
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t)
			if all, err := List(ctx, a, ""); err != nil || len(all) > 0 {
				t.Fatalf("%v, %v", all, err)
			}
			at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
			large := bytes.Repeat([]byte("0123456789abcdef"), 2<<20) // more than a part
			for i, b := range [][]byte{[]byte("first"), large, []byte("third")} {
				if err := a.Put(ctx, NameOf("c-1", at.Add(time.Duration(i)*time.Hour), false), bytes.NewReader(b)); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(a.Put(ctx, NameOf("other", at, true), strings.NewReader("x")), a.Put(ctx, "notes.txt", strings.NewReader("x"))); err != nil {
				t.Fatal(err)
			}
			broken := errors.New("broken off")
			if err := a.Put(ctx, NameOf("c-1", at.Add(9*time.Hour), false), io.MultiReader(bytes.NewReader(large), failing{broken})); !errors.Is(err, broken) {
				t.Errorf("%v, want %v", err, broken)
			}
			all, err := List(ctx, a, "c-1")
			if err != nil || len(all) != 3 || !all[0].Time.Equal(at.Add(2*time.Hour)) || !all[2].Time.Equal(at) || all[0].Sealed {
				t.Fatalf("%+v, %v", all, err)
			}
			if every, err := List(ctx, a, ""); err != nil || len(every) != 4 {
				t.Errorf("%+v, %v", every, err)
			}
			if !bytes.Equal(content(t, a, all[1].Name), large) {
				t.Error("the large one is another one")
			}
			if err := a.Remove(ctx, all[2].Name); err != nil {
				t.Error(err)
			}
			if _, err := a.Get(ctx, all[2].Name); !errors.Is(err, ErrNotThere) {
				t.Errorf("%v, want %v", err, ErrNotThere)
			}
		})
	}
}

// failing is a reader that breaks off.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestNames(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.FixedZone("x", 3600))
	for _, sealed := range []bool{false, true} {
		b, ok := ParseName(NameOf("a-b-c", at, sealed))
		if !ok || b.Cluster != "a-b-c" || !b.Time.Equal(at) || b.Sealed != sealed {
			t.Errorf("%+v", b)
		}
		m, ok := ParseName(manifestName("a-b-c", at, sealed))
		if !ok || m.Cluster != "a-b-c" || !m.Time.Equal(at) || m.Sealed != sealed || !m.Packed || b.Packed {
			t.Errorf("%+v", m)
		}
		p, ok := parsePack(packNameOf("a-b-c", at, strings.Repeat("0f", 32), sealed))
		if !ok || p.cluster != "a-b-c" || !p.at.Equal(at) || p.sealed != sealed || p.digest != strings.Repeat("0f", 32) {
			t.Errorf("%+v", p)
		}
	}
	for _, name := range []string{"", "x", "trireme-.backup", "trireme-c.backup", "trireme-c-20260304T050607Z.backup.partial-1", "trireme--20260304T050607Z.backup", "trireme-c-20261304T050607Z.backup", packNameOf("c", at, strings.Repeat("0", 64), false), condemnedName("c", at)} {
		if _, ok := ParseName(name); ok {
			t.Errorf("%q is a backup", name)
		}
	}
	for _, location := range []string{"", "s3://", "gs://bucket", "s3:///prefix", "s3://b/p?endpoint=nonsense"} {
		if _, err := Open(location); !errors.Is(err, ErrLocation) {
			t.Errorf("%q: %v", location, err)
		}
	}
}

// world is a schedule's world.
type world struct {
	leads bool
	taken int
	err   error
}

// scheduleOf is one that is due every hour.
func scheduleOf(a Archive, w *world) *Schedule {
	s := &Schedule{
		Archive: a, Keep: 3, Log: slog.New(slog.DiscardHandler),
		Next:    func(after time.Time) time.Time { return after.Truncate(time.Hour).Add(time.Hour) },
		Leads:   func() bool { return w.leads },
		Cluster: func() string { return "c" },
		Take: func(context.Context) (Source, error) {
			w.taken++
			text := fmt.Sprint("backup ", w.taken)
			return Source{Cluster: "c", Write: func(out io.Writer) error {
				_, err := io.WriteString(out, text)
				return errors.Join(err, w.err)
			}}, nil
		},
	}
	s.Register(prometheus.NewRegistry())
	return s
}

// TestSchedule makes one backup a time, whoever leads, and keeps the newest.
func TestSchedule(t *testing.T) {
	ctx, a := context.Background(), folder(t.TempDir())
	first, second := &world{}, &world{}
	one, two := scheduleOf(a, first), scheduleOf(a, second)
	at := time.Date(2026, 1, 1, 0, 30, 0, 0, time.UTC)
	look := func() { one.Look(ctx, at); two.Look(ctx, at) }
	look()
	if first.taken+second.taken != 0 {
		t.Fatal("a node that doesn't lead made a backup")
	}
	first.leads = true
	look() // the archive has none
	look()
	if first.taken != 1 {
		t.Fatalf("%d backups, want 1", first.taken)
	}
	first.leads, second.leads = false, true
	look()
	at = at.Add(20 * time.Minute)
	look()
	if second.taken != 0 {
		t.Error("the next leader repeated a backup")
	}
	for range 5 {
		at = at.Add(time.Hour)
		look()
	}
	if second.taken != 5 {
		t.Errorf("%d backups in five hours", second.taken)
	}
	all, err := List(ctx, a, "c")
	if err != nil || len(all) != 3 || string(content(t, a, all[0].Name)) != "backup 5" {
		t.Errorf("%+v, %v", all, err)
	}
	// What breaks off leaves nothing, and is tried again later and later.
	second.err = errors.New("broken off")
	at = at.Add(time.Hour)
	for range 3600 {
		at = at.Add(time.Second)
		look()
	}
	if tried := second.taken - 5; tried < 5 || tried > 12 {
		t.Errorf("%d attempts in an hour", tried)
	}
	if left, err := os.ReadDir(string(a)); err != nil || len(left) != 3 {
		t.Errorf("%v, %v", left, err)
	}
	second.err = nil
	at = at.Add(time.Hour)
	look()
	if all, err := List(ctx, a, "c"); err != nil || len(all) == 0 || !all[0].Time.Equal(at) {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestFlakyBucket has a server that fails half of its requests: what is listed is whole.
func TestFlakyBucket(t *testing.T) {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(1, 2))
	a := s3(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			fails := random.IntN(2) == 0
			mu.Unlock()
			if fails {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			h.ServeHTTP(w, r)
		})
	})
	w := &world{leads: true}
	s := scheduleOf(a, w)
	s.Keep = 0
	at := time.Date(2026, 1, 1, 0, 30, 0, 0, time.UTC)
	const want = 3
	made := 0
	for range 100 {
		before := s.newest
		if s.Look(context.Background(), at); !s.newest.Equal(before) {
			made++
		}
		if at = at.Add(time.Hour); made == want {
			break
		}
	}
	all, err := List(context.Background(), a, "c")
	for range 100 {
		if err == nil {
			break
		}
		all, err = List(context.Background(), a, "c")
	}
	if err != nil || made != want || len(all) < want {
		t.Errorf("%d backups made, %d listed, %v", made, len(all), err)
	}
	for _, b := range all {
		if text := string(content(t, a, b.Name)); !strings.HasPrefix(text, "backup ") {
			t.Errorf("%s holds %q", b.Name, text)
		}
	}
}

// TestSealed encrypts backups, which only the right key opens.
func TestSealed(t *testing.T) {
	key, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	other, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	to, err := Recipients(write("recipients", "# operators\n"+key.Recipient().String()+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	right, err := Identities(write("right", key.String()+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := Identities(write("wrong", other.String()+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	a := folder(filepath.Join(dir, "kept"))
	s := scheduleOf(a, &world{leads: true})
	s.Recipients = to
	s.Look(context.Background(), time.Now())
	all, err := List(context.Background(), a, "c")
	if err != nil || len(all) != 1 || !all[0].Sealed {
		t.Fatalf("%+v, %v", all, err)
	}
	sealed := content(t, a, all[0].Name)
	if bytes.Contains(sealed, []byte("backup 1")) {
		t.Error("the backup can be read without a key")
	}
	r, err := Unseal(bytes.NewReader(sealed), right)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(r); err != nil || string(text) != "backup 1" {
		t.Errorf("%q, %v", text, err)
	}
	for _, keys := range [][]age.Identity{nil, wrong} {
		if _, err := Unseal(bytes.NewReader(sealed), keys); err == nil {
			t.Error("opened without its key")
		}
	}
	if _, err := Recipients(write("bad", "nonsense")); err == nil {
		t.Error("nonsense was taken for a recipient")
	}
}
