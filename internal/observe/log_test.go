package observe

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

// records are the lines that were written, decoded.
func records(t *testing.T, out *bytes.Buffer) (list []map[string]any) {
	t.Helper()
	for line := range strings.Lines(out.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		delete(m, "time")
		list = append(list, m)
	}
	out.Reset()
	return list
}

func testLogger(t *testing.T, level string) (*slog.Logger, *bytes.Buffer) {
	t.Helper()
	out := &bytes.Buffer{}
	l, err := NewLogger(out, level, "json")
	if err != nil {
		t.Fatal(err)
	}
	return l, out
}

func TestNewLoggerRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, bad := range [][2]string{{"loud", "json"}, {"info", "xml"}, {"", "text"}} {
		if _, err := NewLogger(&bytes.Buffer{}, bad[0], bad[1]); err == nil {
			t.Errorf("level %q and format %q were taken", bad[0], bad[1])
		}
	}
}

func TestRaftLevels(t *testing.T) {
	l, out := testLogger(t, "info")
	r := Raft(l)
	r.Info("entering leader state", "leader", hclog.Fmt("Node %s", "n1"))
	r.Info("pipelining replication", "peer", "n2")
	r.Debug("votes needed", "count", 2)
	r.Warn("clearing log suffix", "from", 3)
	got := records(t, out)
	if len(got) != 2 {
		t.Fatalf("wrote %v, want the news and the warning", got)
	}
	if got[0]["level"] != "INFO" || got[0]["leader"] != "Node n1" || got[0]["part"] != "raft" {
		t.Errorf("news: %v", got[0])
	}
	if got[1]["level"] != "WARN" || got[1]["from"] != 3.0 {
		t.Errorf("warning: %v", got[1])
	}
	if r.IsDebug() || !r.IsInfo() || r.GetLevel() != hclog.Info {
		t.Error("the level isn't the target's")
	}
}

func TestRaftNoiseIsDebug(t *testing.T) {
	l, out := testLogger(t, "debug")
	Raft(l).Info("pipelining replication", "peer", "n2", "odd")
	got := records(t, out)
	if len(got) != 1 || got[0]["level"] != "DEBUG" || got[0][hclog.MissingKey] != "odd" {
		t.Errorf("wrote %v", got)
	}
}

func TestRepeatedErrorsAreCounted(t *testing.T) {
	l, out := testLogger(t, "info")
	now := time.Unix(1000, 0)
	often := newLimiter()
	often.now = func() time.Time { return now }
	b := raftLogger(l, often)
	for range 5 {
		b.Error("failed to commit logs", "peer", "n2", "error", errors.New("refused"))
	}
	b.Error("failed to commit logs", "peer", "n3", "error", errors.New("refused"))
	if got := records(t, out); len(got) != 2 || got[0]["peer"] != "n2" || got[1]["peer"] != "n3" || got[0]["error"] != "refused" {
		t.Fatalf("wrote %v, want one line a peer", got)
	}
	now = now.Add(quiet)
	b.Error("failed to commit logs", "peer", "n2")
	if got := records(t, out); len(got) != 1 || got[0]["suppressed"] != 4.0 {
		t.Errorf("after a while wrote %v, want the count of 4", got)
	}
}

func TestLimiterForgets(t *testing.T) {
	l := newLimiter()
	for i := range 3 * limiterKeys {
		if _, ok := l.allow(strings.Repeat("x", i)); !ok {
			t.Fatalf("message %d was never seen and was not let through", i)
		}
	}
	if len(l.seen) > limiterKeys {
		t.Errorf("remembers %d messages", len(l.seen))
	}
}

func TestWithAddsPairs(t *testing.T) {
	l, out := testLogger(t, "info")
	h := Raft(l).Named("a").Named("b").With("k", "v")
	h.Warn("hello")
	if got := records(t, out); len(got) != 1 || got[0]["k"] != "v" {
		t.Errorf("wrote %v", got)
	}
	if h.Name() != "a.b" || len(h.ImpliedArgs()) != 2 {
		t.Errorf("name %q, implied %v", h.Name(), h.ImpliedArgs())
	}
}

func TestStandardReadsLevels(t *testing.T) {
	l, out := testLogger(t, "debug")
	s := Standard(l)
	s.Println("[WARN] memberlist: refuting a suspect message")
	s.Println("[ERR] memberlist: failed")
	s.Println("[DEBUG] memberlist: stream connection")
	s.Println("[n1] is no level")
	var levels []string
	for _, r := range records(t, out) {
		levels = append(levels, r["level"].(string)+" "+r["msg"].(string))
	}
	want := "WARN memberlist: refuting a suspect message|ERROR memberlist: failed|DEBUG memberlist: stream connection|INFO [n1] is no level"
	if got := strings.Join(levels, "|"); got != want {
		t.Errorf("wrote %s", got)
	}
}
