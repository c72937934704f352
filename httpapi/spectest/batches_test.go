package spectest

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
)

// rows returns a batch of n commands of one word form.
func rows(n int, row string) string {
	return "[" + strings.TrimSuffix(strings.Repeat(row+",", n), ",") + "]"
}

// numbers reads the integers of a batch's reply.
func numbers(t testing.TB, a answer) (list []int64) {
	t.Helper()
	var envelopes []struct{ Result *int64 }
	if err := json.Unmarshal([]byte(a.body), &envelopes); err != nil || a.status != 200 {
		t.Fatalf("%d %.100s: %v", a.status, a.body, err)
	}
	for _, e := range envelopes {
		if e.Result == nil {
			t.Fatalf("%.100s", a.body)
		}
		list = append(list, *e.Result)
	}
	return list
}

var batches = []claim{
	{"KV-4.1", func(t *testing.T, w *world) {
		w.ask(t, "POST", "/pipeline", `[["PING"]]`).is(t, 200, `[{"result":"PONG"}]`)
	}},
	{"KV-4.2", func(t *testing.T, w *world) {
		w.ask(t, "POST", "/pipeline", `[["ECHO","a"],["PING"]]`).is(t, 200, `[{"result":"a"},{"result":"PONG"}]`)
		w.ask(t, "POST", "/pipeline", `["ECHO","a"]`).fails(t, 400, "expected JSON array")
	}},
	{"KV-4.3", func(t *testing.T, w *world) {
		k := w.key()
		w.ask(t, "POST", "/pipeline", `[["SET","`+k+`","v"],["GET","`+k+`"],["INCR","`+k+`"]]`).
			is(t, 200, `[{"result":"OK"},{"result":"v"},{"error":"ERR value is not an integer or out of range"}]`)
	}},
	{"KV-4.4", func(t *testing.T, w *world) {
		k := w.key()
		w.ask(t, "POST", "/pipeline", `[["GET"],["NOSUCH"],["SET","`+k+`","v"]]`).
			is(t, 200, `[{"error":"ERR wrong number of arguments for 'get' command"},{"error":"ERR Command is not available: 'NOSUCH'"},{"result":"OK"}]`)
		w.array(t, "GET", k).result(t, `"v"`)
	}},
	{"KV-4.5", func(t *testing.T, w *world) {
		// Other requests may come between, so the only promises are that each row counts once and that the rows keep
		// their order.
		k, pipelines, length := w.key(), 4, 500
		var all sync.WaitGroup
		for range pipelines {
			all.Go(func() {
				last := int64(0)
				for _, n := range numbers(t, w.ask(t, "POST", "/pipeline", rows(length, `["INCR","`+k+`"]`))) {
					if n <= last {
						t.Errorf("%d after %d", n, last)
					}
					last = n
				}
			})
		}
		all.Wait()
		w.array(t, "GET", k).result(t, fmt.Sprintf(`"%d"`, pipelines*length))
	}},
	{"KV-4.6", func(t *testing.T, w *world) {
		// One response for all: it has a length, so it began when the last row was done. (Go's client hides that of a compressed one.)
		a := w.ask(t, "POST", "/pipeline", rows(1000, `["ECHO","one of many"]`), "Accept-Encoding: identity")
		if a.status != 200 || a.header.Get("Content-Length") != fmt.Sprint(len(a.body)) {
			t.Errorf("%d, length %s of %d", a.status, a.header.Get("Content-Length"), len(a.body))
		}
	}},
	{"KV-5.1", func(t *testing.T, w *world) {
		w.ask(t, "POST", "/multi-exec", `[["PING"]]`).is(t, 200, `[{"result":"PONG"}]`)
	}},
	{"KV-5.2", func(t *testing.T, w *world) {
		body := `[["ECHO","a"],["ECHO","b"]]`
		a := w.ask(t, "POST", "/pipeline", body)
		w.ask(t, "POST", "/multi-exec", body).is(t, a.status, a.body)
	}},
	{"KV-5.3", func(t *testing.T, w *world) {
		k := w.key()
		w.ask(t, "POST", "/multi-exec", `[["SET","`+k+`","1"],["INCR","`+k+`"],["GET","`+k+`"]]`).
			is(t, 200, `[{"result":"OK"},{"result":2},{"result":"2"}]`)
	}},
	{"KV-5.4", func(t *testing.T, w *world) {
		k, clients, rounds := w.key(), 4, 5
		var all sync.WaitGroup
		for range clients {
			all.Go(func() {
				for range rounds {
					list := numbers(t, w.ask(t, "POST", "/multi-exec", rows(100, `["INCR","`+k+`"]`)))
					if list[len(list)-1]-list[0] != int64(len(list)-1) {
						t.Errorf("others came between %d and %d", list[0], list[len(list)-1])
					}
				}
			})
		}
		all.Wait()
	}},
	{"KV-5.5", func(t *testing.T, w *world) {
		k := w.key()
		w.ask(t, "POST", "/multi-exec", `[["SET","`+k+`","x"],["INCR","`+k+`"],["APPEND","`+k+`","y"]]`).
			is(t, 200, `[{"result":"OK"},{"error":"ERR value is not an integer or out of range"},{"result":2}]`)
		w.array(t, "GET", k).result(t, `"xy"`)
	}},
	{"KV-5.6", func(t *testing.T, w *world) {
		w.ask(t, "POST", "/multi-exec", `[["PING"],["NOSUCH"]]`).only(t, "error")
	}},
	{"KV-5.7", func(t *testing.T, w *world) { w.discards(t, `["GET"]`) }},
	{"KV-5.8", func(t *testing.T, w *world) {
		w.discards(t, `["NOSUCH"]`)
		w.discards(t, `["WATCH","k"]`)
		w.discards(t, `["BLPOP","k",0]`)
	}},
	{"KV-5.9", func(t *testing.T, w *world) {
		w.discards(t, `["ECHO","`+strings.Repeat("x", maxRequest)+`"]`)
	}},
	{"KV-5.10", func(t *testing.T, w *world) {
		path, token := w.limited(t, "transactions", 4)
		w.ask(t, "POST", path+"/multi-exec", `[["SET","k","1"],["GET","k"]]`, token).is(t, 200, `[{"result":"OK"},{"result":"1"}]`)
		w.ask(t, "POST", path+"/multi-exec", `[["SET","k","2"],["GET","k"],["GET","k"]]`, token).fails(t, 400, "ERR max daily request limit exceeded")
		as := acl.Identity{DB: "transactions", By: acl.ByProcess, User: acl.DefaultName}
		if _, err := w.engine.Read(t.Context(), fsm.Reading{}, func(v *fsm.View) {
			if got := v.Exec(as, command.OriginInternal, [][]byte{[]byte("GET"), []byte("k")}).Text(); got != "1" {
				t.Errorf("the discarded transaction wrote: %s", got)
			}
		}); err != nil {
			t.Error(err)
		}
	}},
	{"KV-5.11", func(t *testing.T, w *world) {
		for _, format := range []string{"resp2", "json", "xml"} {
			a := w.ask(t, "POST", "/multi-exec", `[["PING"]]`, "Svc-Response-Format: "+format)
			a.is(t, 200, `[{"result":"PONG"}]`)
			if got := a.header.Get("Content-Type"); got != "application/json" {
				t.Errorf("%s: %s", format, got)
			}
		}
	}},
}

// discards makes sure that a transaction with that row in it is refused and runs nothing.
func (w *world) discards(t *testing.T, row string) {
	t.Helper()
	k := w.key()
	a := w.ask(t, "POST", "/multi-exec", `[["SET","`+k+`","v"],`+row+`]`)
	if a.status != 400 {
		t.Errorf("%.50s: %d %.100s", row, a.status, a.body)
	}
	a.only(t, "error")
	w.array(t, "EXISTS", k).result(t, "0")
}
