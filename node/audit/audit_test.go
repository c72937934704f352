package audit

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/reply"
)

func open(t *testing.T, destination string) (*Log, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	l, err := Open(destination, "n1", slog.New(slog.NewTextHandler(&out, nil)), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l, &out
}

// counted returns the value of a counter.
func counted(t *testing.T, c prometheus.Counter) float64 {
	t.Helper()
	var m dto.Metric
	if err := c.Write(&m); err != nil {
		t.Fatal(err)
	}
	return m.GetCounter().GetValue()
}

// records are those of a file.
func records(t *testing.T, path string) (all []Record) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var r Record
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Time.IsZero() || r.Node != "n1" {
			t.Fatalf("line %q: %+v, %v", line, r, err)
		}
		all = append(all, r)
	}
	return all
}

// TestFileFollowsItsPath: records are appended across opens, and go to a new file when the
// old one was moved away.
func TestFileFollowsItsPath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.json")
	for range 2 {
		l, err := Open(path, "n1", slog.New(slog.DiscardHandler), prometheus.NewRegistry())
		if err != nil {
			t.Fatal(err)
		}
		l.Write(Record{Act: "start", Who: Process, Outcome: Done})
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	l, _ := open(t, path)
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	l.Write(Record{Act: "remove node", Target: "n3", Who: "admin token", Outcome: Refused, Reason: "too few"})
	if old := records(t, path+".1"); len(old) != 2 {
		t.Errorf("the old file has %+v", old)
	}
	if all := records(t, path); len(all) != 1 || all[0].Target != "n3" || all[0].Outcome != Refused {
		t.Errorf("the new file has %+v", all)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode: %v, %v", info, err)
	}
	if n := counted(t, l.records.WithLabelValues("refused")); n != 1 {
		t.Errorf("%v records counted", n)
	}
	if _, err := Open(t.TempDir(), "n1", slog.New(slog.DiscardHandler), prometheus.NewRegistry()); err == nil {
		t.Error("a folder was opened as a file")
	}
}

// TestLostRecordsAreTold: where the file can't be written the node's log says what happened.
func TestLostRecordsAreTold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l, out := open(t, filepath.Join(dir, "audit.json"))
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	l.Write(Record{Act: "remove node", Target: "n3", Who: "admin token", Outcome: Done})
	if !strings.Contains(out.String(), "could not be recorded") || !strings.Contains(out.String(), "target=n3") || counted(t, l.lost) != 1 {
		t.Errorf("the log has %s", out)
	}
}

func TestRecordsInTheLog(t *testing.T) {
	l, out := open(t, ToLog)
	l.Write(Record{Act: "reset tokens", Target: "shop", Who: "admin token", From: "1.2.3.4:5", Outcome: Done})
	if s := out.String(); !strings.Contains(s, `msg=audit act="reset tokens" who="admin token" outcome=done target=shop from=1.2.3.4:5`) {
		t.Errorf("the log has %s", s)
	}
	off, err := Open(Off, "n1", slog.Default(), prometheus.NewRegistry())
	if off != nil || err != nil || off.Wants([][][]byte{{[]byte("acl"), []byte("setuser")}}) {
		t.Errorf("off: %v, %v", off, err)
	}
	off.Write(Record{})
	if err := off.Close(); err != nil {
		t.Error(err)
	}
}

// TestDeniedCallersDontFillTheDisk: of those without a token one a second is recorded,
// with the count of the others.
func TestDeniedCallersDontFillTheDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.json")
	l, _ := open(t, path)
	now := time.Unix(1000, 0)
	l.now = func() time.Time { return now }
	for range 50 {
		l.Write(Record{Act: "remove node", Who: Nobody, Outcome: Refused})
		l.Write(Record{Act: "remove node", Who: "admin token", Outcome: Done})
		now = now.Add(100 * time.Millisecond)
	}
	denied, omitted, others := 0, 0, 0
	for _, r := range records(t, path) {
		if r.Who == Nobody {
			denied++
			omitted += r.Omitted
		} else {
			others++
		}
	}
	if denied != 5 || omitted != 36 || others != 50 {
		t.Errorf("%d denied, %d omitted, %d others", denied, omitted, others)
	}
}

func argv(words ...string) (all [][]byte) {
	for _, w := range words {
		all = append(all, []byte(w))
	}
	return all
}

func TestCommands(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.json")
	l, _ := open(t, path)
	by := Caller{As: acl.Identity{DB: "shop", By: acl.ByAdmin, User: "default"}, From: "1.2.3.4:5", Request: "r1"}
	l.Commands(by, [][][]byte{
		argv("GET", "k"), argv("Acl", "SetUser", "ann", "on", ">secret", "#abcdef", "~k*", "+@read"), argv("acl", "whoami"),
		argv("config", "set", "maxmemory", "1gb", "requirepass", "secret"), argv("ACL", "DELUSER", "bob", "eve"), argv("ACL", "RESTTOKEN", "ann", "secret"),
		argv("ACL", "SETUSER", "never", "answered"),
	}, []reply.Value{reply.OK(), reply.OK(), reply.OK(), reply.Error("ERR no"), reply.Int(2), reply.OK()})
	by.As = acl.Identity{By: acl.ByCredential, User: "ann"}
	l.Unanswered(by, [][][]byte{argv("SET", "k", "v"), argv("ACL", "SETUSER")}, reply.Error("UNKNOWN outcome not known"))
	all := records(t, path)
	want := []Record{
		{Act: "acl setuser", Target: "ann", Detail: "on >(hidden) #(hidden) ~k* +@read", Database: "shop", Who: "admin token", Outcome: Done},
		{Act: "config set", Target: "maxmemory requirepass", Detail: "maxmemory=1gb requirepass=(hidden)", Database: "shop", Who: "admin token", Outcome: Refused, Reason: "ERR no"},
		{Act: "acl deluser", Target: "bob eve", Database: "shop", Who: "admin token", Outcome: Done},
		{Act: "acl resttoken", Target: "ann", Database: "shop", Who: "admin token", Outcome: Done},
		{Act: "acl setuser", Database: "default", Who: "user ann", Outcome: Unknown, Reason: "UNKNOWN outcome not known"},
	}
	if len(all) != len(want) {
		t.Fatalf("%d records: %+v", len(all), all)
	}
	for i, r := range all {
		w := want[i]
		w.Time, w.Node, w.From, w.Request = r.Time, "n1", "1.2.3.4:5", "r1"
		if r != w {
			t.Errorf("%+v, want %+v", r, w)
		}
	}
}

// TestNoSecretIsRecorded draws words behind every sign and name of a password.
func TestNoSecretIsRecorded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.json")
	l, _ := open(t, path)
	rapid.Check(t, func(t *rapid.T) {
		secret := "S" + rapid.StringMatching(`[a-z0-9]{12}`).Draw(t, "secret") + "T"
		sign := rapid.SampledFrom([]string{">", "<", "#", "!"}).Draw(t, "sign")
		name := rapid.SampledFrom([]string{"requirepass", "masterauth", "tls-secret", "PassWord"}).Draw(t, "name")
		rows := [][][]byte{argv("ACL", "SETUSER", "u", sign+secret), argv("CONFIG", "SET", name, secret), argv("ACL", "RESTTOKEN", "u", secret)}
		l.Commands(Caller{}, rows, []reply.Value{reply.OK(), reply.OK(), reply.OK()})
		text, err := os.ReadFile(path)
		if err != nil || strings.Contains(string(text), secret) {
			t.Fatalf("a secret stands in the record, or it can't be read: %v", err)
		}
	})
}

func TestLongTextsAreCut(t *testing.T) {
	if s := Text(strings.Repeat("ü", 10_000)); len(s) > maxText+3 || !strings.HasSuffix(s, "ü...") {
		t.Errorf("%d bytes, ends in %q", len(s), s[len(s)-6:])
	}
	if s := Text("a\xffb"); s != "a?b" {
		t.Errorf("%q", s)
	}
}
