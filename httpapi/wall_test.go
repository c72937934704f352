package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

// hidden is in everything that database a has made, and in nothing that b sends: an answer to b that has it has crossed the wall.
const hidden = "hidden-of-a"

// wall is a server with the databases a and b. Clients of b know the names and ids of everything that a has made.
type wall struct {
	*testing.T
	g    *gateway
	a, b madeDatabase
	// ids are values of path parameters and arguments that name something of a's.
	ids map[string]string
}

func newWall(t *testing.T) *wall {
	g := newGateway(t, func(o *httpapi.Options) { o.Messages = &messages.Parser{Prefixes: []string{"Svc", "Upstash"}} })
	w := &wall{T: t, g: g, ids: map[string]string{}}
	w.a = g.database(t, "POST", "/admin/databases", `{"name":"a"}`, 201)
	w.b = g.database(t, "POST", "/admin/databases", `{"name":"b"}`, 201)
	for _, words := range [][]string{
		{"SET", "key", hidden}, {"SET", hidden, hidden}, {"HSET", "hash", "f", hidden}, {"RPUSH", "list", hidden}, {"SADD", "set", hidden},
		{"ZADD", "zset", "1", hidden}, {"XADD", "stream", "1-1", "f", hidden}, {"ACL", "SETUSER", "user-" + hidden, "on", ">p", "+@all", "~*"},
		{"SCRIPT", "LOAD", "return '" + hidden + "'"}, {"FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() return '" + hidden + "' end)"},
	} {
		body, _ := json.Marshal(words)
		g.expect(t, "POST", "/db/a", string(body), w.a.Token, 200, `{"result":`)
	}
	made := func(method, path, body string, header ...string) (v map[string]any) {
		t.Helper()
		a := g.ask(t, method, "/db/a/v2/"+path, body, append(header, auth(w.a.Token))...)
		if a.status/100 != 2 {
			t.Fatalf("%s %s: %+v", method, path, a)
		}
		_ = json.Unmarshal([]byte(a.body), &v)
		return v
	}
	to := "https://" + hidden + ".example.com/"
	w.ids["messageId"] = made("POST", "publish/"+to, hidden, "Upstash-Delay: 1h")["messageId"].(string)
	made("POST", "enqueue/line/"+to, hidden, "Upstash-Delay: 1h")
	made("POST", "topics/group/endpoints", `{"endpoints":[{"url":"`+to+`"}]}`)
	made("POST", "publish/"+to, hidden, "Upstash-Delay: 1h", "Upstash-Flow-Control-Key: flow", "Upstash-Flow-Control-Value: rate=1")
	w.ids["scheduleId"] = made("POST", "schedules/"+to, hidden, "Upstash-Cron: 0 0 1 1 *", "Upstash-Schedule-Id: plan")["scheduleId"].(string)
	w.ids["workflowRunId"] = made("POST", "trigger/"+to, hidden, "Upstash-Workflow-RunId: wfr_run")["workflowRunId"].(string)
	made("POST", "wait/event", `{"url":"`+to+`","timeout":"1h","step":{"stepId":1,"stepName":"`+hidden+`","stepType":"Wait","concurrent":1,"waitEventId":"event"}}`,
		"Upstash-Workflow-RunId: wfr_run", "Upstash-Workflow-Init: false", "Upstash-Workflow-CallType: step")
	w.ids["queue"], w.ids["topic"], w.ids["key"], w.ids["eventId"] = "line", "group", "flow", "event"
	return w
}

// state returns all that a has, as its snapshot would hold it.
func (w *wall) state() string {
	var b strings.Builder
	w.g.engine.Machine.View(0, [16]byte{}, func(v *fsm.View) {
		add := func(record []byte) error { fmt.Fprintf(&b, "%q\n", record); return nil }
		if err := v.MessagesOf("a").Save(add); err != nil {
			w.Fatal(err)
		}
		if err := v.WorkflowsOf("a").Save(add); err != nil {
			w.Fatal(err)
		}
	})
	for _, words := range []string{`["DBSIZE"]`, `["DUMP","key"]`, `["DUMP","hash"]`, `["DUMP","list"]`, `["DUMP","set"]`, `["DUMP","zset"]`, `["DUMP","stream"]`,
		`["DUMP","` + hidden + `"]`, `["ACL","LIST"]`, `["FUNCTION","LIST"]`, `["GET","key"]`} {
		a := w.g.ask(w.T, "POST", "/db/a", words, auth(w.a.Token))
		fmt.Fprintf(&b, "%s %d %s\n", words, a.status, a.body)
	}
	return b.String()
}

var parameter = regexp.MustCompile(`\{(\w+)\}`)

// targets returns a described path with the names of the things that a has made, at each place where b may send it.
func (w *wall) targets(path string) []string {
	filled := parameter.ReplaceAllStringFunc(path, func(p string) string {
		if id, known := w.ids[p[1:len(p)-1]]; known {
			return url.PathEscape(id)
		}
		if p == "{destination}" {
			return "https://b.example.com/"
		}
		return "1-1"
	})
	list := []string{filled, "/db/b" + filled, "/db/a" + filled}
	for _, list2 := range []string{"messageIds", "workflowRunIds", "dlqIds"} {
		list = append(list, filled+"?"+list2+"="+url.QueryEscape(w.ids["messageId"]))
	}
	return append(list, filled+"?messageId="+w.ids["messageId"], filled+"?workflowRunId="+w.ids["workflowRunId"]+"&count=100")
}

// TestNoEndpointCrossesTheWall asks every operation of the description for objects of another database, with every kind
// of token that is not that database's.
func TestNoEndpointCrossesTheWall(t *testing.T) {
	w := newWall(t)
	d, err := messagesDescribed()
	if err != nil {
		t.Fatal(err)
	}
	before := w.state()
	if !strings.Contains(before, hidden) {
		t.Fatal("nothing is hidden")
	}
	tried := 0
	for _, o := range d.Operations() {
		for _, target := range w.targets(o.Path) {
			for _, token := range []string{w.b.Token, w.b.ReadonlyToken, httpapitest.MessagesToken, httpapitest.Token, httpapitest.ReadOnlyToken, ""} {
				for _, body := range []string{"", `{}`, `{"messageIds":["` + w.ids["messageId"] + `"]}`, `{"workflowRunIds":["wfr_run"]}`} {
					if body != "" && (o.Method == "GET" || o.Method == "HEAD") {
						continue
					}
					a := w.g.ask(t, o.Method, target, body, auth(token))
					tried++
					if strings.Contains(a.body, hidden) {
						t.Errorf("%s %s: %d %s", o.Method, target, a.status, a.body)
					}
				}
			}
		}
	}
	w.unchanged(before, tried, 1000)
}

// unchanged fails the test if a has another state than before, or if too few requests were tried.
func (w *wall) unchanged(before string, tried, fewest int) {
	w.Helper()
	if now := w.state(); now != before {
		w.Errorf("a was changed:\n%s\nwas\n%s", now, before)
	}
	if tried < fewest {
		w.Errorf("%d requests were tried, want %d or more", tried, fewest)
	}
}

// TestNoCommandCrossesTheWall runs every command of the table with the names of a, as the user default of b.
func TestNoCommandCrossesTheWall(t *testing.T) {
	w := newWall(t)
	before := w.state()
	fill := [][]string{
		{"key"}, {"hash", "f"}, {"list", "0", "-1"}, {w.ids["messageId"]}, {"wfr_run", "event"}, {"1", "key"}, {"*"}, {"0"}, {"key", "key2", "1"}, {"stream", "-", "+"},
	}
	tried := 0
	for _, c := range command.NewTable().Rows() {
		name := strings.Fields(c.Name)
		for k, words := range fill {
			for n := range 4 {
				if n == 0 && k > 0 {
					continue // nothing of it is given
				}
				argv := append([]string(nil), name...)
				for i := range n {
					argv = append(argv, words[i%len(words)])
				}
				body, _ := json.Marshal(argv)
				a := w.g.ask(t, "POST", "/db/b", string(body), auth(w.b.Token))
				if tried++; strings.Contains(a.body, hidden) {
					t.Errorf("%s: %s", body, a.body)
				}
			}
		}
	}
	w.unchanged(before, tried, 5000)
}

// TestMessagesOfADatabase uses /v2 of a database by each way that it has.
func TestMessagesOfADatabase(t *testing.T) {
	w := newWall(t)
	count := func(target, token string) (n int) {
		t.Helper()
		a := w.g.ask(t, "GET", target, "", auth(token))
		var page struct {
			Events []struct{} `json:"events"`
		}
		if err := json.Unmarshal([]byte(a.body), &page); err != nil || a.status != 200 {
			t.Fatalf("%s: %+v", target, a)
		}
		return len(page.Events)
	}
	for _, one := range []struct{ target, token string }{
		{"/v2/publish/https://b.example.com", w.b.Token}, {"/db/b/v2/publish/https://b.example.com", w.b.Token}, {"/db/b/v2/publish/https://b.example.com", httpapitest.AdminToken},
	} {
		if a := w.g.ask(t, "POST", one.target, "x", auth(one.token)); a.status != 200 && a.status != 201 {
			t.Errorf("%s: %+v", one.target, a)
		}
	}
	for _, one := range []struct{ target, token string }{
		{"/v2/events", w.b.Token}, {"/v2/events", w.b.ReadonlyToken}, {"/db/b/v2/events", w.b.ReadonlyToken}, {"/db/b/v2/events", httpapitest.AdminToken},
	} {
		if n := count(one.target, one.token); n != 3 {
			t.Errorf("%s shows %d events", one.target, n)
		}
	}
	if n := count("/v2/events", httpapitest.MessagesToken); n != 0 {
		t.Errorf("default has %d events", n)
	}
	if a := w.g.ask(t, "POST", "/v2/publish/https://b.example.com", "x", auth(w.b.ReadonlyToken)); a.status != 403 {
		t.Errorf("the Read Only token publishes: %+v", a)
	}
	for _, one := range []struct{ target, token string }{
		{"/db/a/v2/events", w.b.Token}, {"/db/b/v2/events", httpapitest.MessagesToken}, {"/db/default/v2/events", w.b.Token}, {"/db/none/v2/events", httpapitest.AdminToken},
		{"/v2/events", httpapitest.Token}, {"/db/b/v2/events", ""},
	} {
		if a := w.g.ask(t, "GET", one.target, "", auth(one.token)); a.status != 401 {
			t.Errorf("%s: %+v", one.target, a)
		}
	}
	w.g.engine.Machine.View(0, [16]byte{}, func(v *fsm.View) {
		list, _, _ := v.MessagesOf("b").Events(&queue.Filter{}, queue.Page{Limit: 10})
		if runs := v.WorkflowsOf("b").Counts(); len(list) != 3 || runs != (workflow.Counts{}) {
			t.Errorf("b has %d events and %+v", len(list), runs)
		}
	})
}
