package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// followStream opens a stream of entries, and returns what reads the next event.
func followStream(t *testing.T, url, last string) (next func() (id, data string)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	r, _ := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	r.Header.Set("Authorization", "Bearer "+httpapitest.Token)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("status %d, %s", answer.StatusCode, answer.Header.Get("Content-Type"))
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<21)
	return func() (id, data string) {
		t.Helper()
		for lines.Scan() {
			line := lines.Text()
			switch {
			case strings.HasPrefix(line, "id: "):
				id = line[4:]
			case strings.HasPrefix(line, "data: "):
				data = line[6:]
			case line == "" && data != "":
				return id, data
			}
		}
		t.Fatalf("the stream has ended: %v", lines.Err())
		return "", ""
	}
}

// The entries of a stream are followed on each node, from any place in it, as they come.
func TestFollow(t *testing.T) {
	nodes := httpapitest.ServeNodes(t, 3, nil)
	do := func(node int, command string) {
		t.Helper()
		words, _ := json.Marshal(strings.Fields(command))
		res, err := http.DefaultClient.Do(httpapitest.NewRequest(t, "POST", "http://"+nodes.Addrs[node]+"/", string(words)))
		if a := read(t, res, err); a.status != http.StatusOK {
			t.Fatalf("%s: %+v", command, a)
		}
	}
	do(0, "TRIGGER.SET feed order: VALUES new STREAM changes")
	do(0, "SET order:0 v0")
	var streams []func() (string, string)
	for i := range 3 {
		streams = append(streams, followStream(t, "http://"+nodes.Addrs[i]+"/follow/changes/0", ""))
	}
	last := make([]string, 3)
	for n := range 250 {
		if n > 0 {
			do(n%3, fmt.Sprintf("SET order:%d v%d", n, n))
		}
		for i, next := range streams {
			id, data := next()
			var entry [2]json.RawMessage
			var fields []string
			if json.Unmarshal([]byte(data), &entry) != nil || json.Unmarshal(entry[1], &fields) != nil {
				t.Fatalf("node %d, %s", i, data)
			}
			if want := fmt.Sprintf("[event set key order:%d type string new v%d]", n, n); fmt.Sprint(fields) != want || !strings.HasSuffix(id, fmt.Sprintf("-%d", n+1)) {
				t.Fatalf("node %d: %s %s, not %s", i, id, fields, want)
			}
			last[i] = id
		}
	}
	do(1, "SET order:x last")
	id, _ := followStream(t, "http://"+nodes.Addrs[2]+"/follow/changes", last[0])()
	if !strings.HasSuffix(id, "-251") {
		t.Errorf("after %s comes %s", last[0], id)
	}
}

// A long poll answers as soon as there is an entry, and null if none comes.
func TestFollowOnce(t *testing.T) {
	g := newGateway(t)
	for path, want := range map[string]string{
		"/follow/none?wait=61s": "use /follow/KEY", "/follow/none?wait=x": "use /follow/KEY", "/follow": "use /follow/KEY", "/follow/a/b/c": "use /follow/KEY",
		"/follow/none/x?wait=1s": "Invalid stream ID",
	} {
		if a := g.send(t, "GET", path, ""); a.status != http.StatusBadRequest || !strings.Contains(a.body, want) {
			t.Errorf("%s: %+v", path, a)
		}
	}
	want := func(path, body string) {
		t.Helper()
		if a := g.send(t, "GET", path, ""); !strings.Contains(a.body, body) {
			t.Errorf("%s: %+v", path, a)
		}
	}
	want("/follow/none?wait=1s", `{"result":null}`)
	g.send(t, "POST", "/xadd/s/1-1/f/v", "")
	want("/follow/s/0?wait=1m", `{"result":[["1-1",["f","v"]]]}`)
	g.send(t, "POST", "/set/k/v", "")
	want("/follow/k/0?wait=1s", "WRONGTYPE")
}

// Large entries come a few at a time, a request counts as one command, and what is too large for a reply ends the stream.
func TestFollowLargeEntries(t *testing.T) {
	g := newGateway(t)
	long := strings.Repeat("x", 700_000)
	for n := range 5 {
		g.send(t, "POST", fmt.Sprintf("/xadd/s/%d-1/f", n+1), long)
	}
	next := followStream(t, g.URL+"/follow/s/0", "")
	for n := range 5 {
		if id, data := next(); id != fmt.Sprintf("%d-1", n+1) || len(data) < len(long) {
			t.Fatalf("event %d is %s with %d bytes", n, id, len(data))
		}
	}
}
