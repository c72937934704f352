package observe

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

// keys are the members of a JSON object in their order, also those that come twice.
func keys(t *testing.T, line string) (list []string) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(line))
	for depth, key := 0, false; ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		switch v := token.(type) {
		case json.Delim:
			if v == '{' {
				depth, key = depth+1, true
			} else {
				depth, key = depth-1, true
			}
		default:
			if depth == 1 && key {
				list = append(list, v.(string))
			}
			key = !key
		}
	}
}

func TestJSONLogsHaveEachKeyOnce(t *testing.T) {
	l, out := testLogger(t, "debug")
	l.With("node", "n1", "node", "n2").With(slog.Duration("took", 1500*time.Microsecond)).
		Warn("text", "level", 2, "msg", "m", "time", "t", "node", "n3", "error", errors.New("e"), "took", 2*time.Second)
	line := out.String()
	got := keys(t, line)
	if want := []string{"time", "level", "msg", "node", "took", "took_ms", "level_value", "msg_value", "time_value", "error"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	m := records(t, out)[0]
	if m["node"] != "n3" || m["took_ms"] != 2000.0 || m["took"] != 2e9 || m["level"] != "WARN" || m["level_value"] != 2.0 || m["msg"] != "text" || m["error"] != "e" {
		t.Errorf("%s", line)
	}
	l.WithGroup("g").With("a", 1).Info("x", "a", 2, "took", 1500*time.Microsecond)
	if m := records(t, out)[0]; m["g.a"] != 2.0 || m["g.took_ms"] != 1.5 || m["g.took"] != 1.5e6 {
		t.Errorf("%v", m)
	}
	Raft(l.With("part", "node")).Info("entering leader state", "leader", "n1", "level", 3)
	if m := records(t, out)[0]; m["part"] != "raft" || m["level"] != "INFO" || m["level_value"] != 3.0 {
		t.Errorf("%v", m)
	}
	// A library's duration has its unit too, and its "node" leaves the node's id alone.
	Raft(l.With("node", "n1")).Warn("failed to contact", "node", "Node at 127.0.0.1:7071 [Leader]", "time", 1500*time.Millisecond)
	if m := records(t, out)[0]; m["node"] != "n1" || m["server"] != "Node at 127.0.0.1:7071 [Leader]" || m["time_value_ms"] != 1500.0 {
		t.Errorf("%v", m)
	}
	Raft(l).Warn("failed to appendEntries to", "peer", struct{ ID, Address string }{"n2", "127.0.0.1:7072"}, "backoff time", 10*time.Millisecond)
	if m := records(t, out)[0]; m["peer"] != "{ID:n2 Address:127.0.0.1:7072}" || m["backoff_time_ms"] != 10.0 {
		t.Errorf("%v", m)
	}
	l.Info("rejected", "from", &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 7071})
	if m := records(t, out)[0]; m["from"] != "10.0.0.1:7071" {
		t.Errorf("%v", m)
	}
}
