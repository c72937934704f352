package spectest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// world is three nodes that deliver, and the destination that they deliver to.
type world struct {
	nodes     *httpapitest.Nodes
	described *httpapitest.Description
	sink      *sink
	names     int
}

// The limits are low, so that a claim may exceed them.
const (
	maxBody  = 1 << 20
	apiToken = "token-of-the-provider"
)

func startWorld(t *testing.T) *world {
	t.Helper()
	described, err := httpapitest.ReadDescription("../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{described: described, sink: startSink(t)}
	w.nodes = httpapitest.ServeDelivering(t, 3, apiToken, func(o *httpapi.Options) {
		o.MaxRequestSize = maxBody
		o.Messages.APIs = map[string]string{"llm": w.sink.url + "/ok/model", "mine": w.sink.url + "/ok/mine"}
	})
	return w
}

// name returns a name that no other claim has.
func (w *world) name() string {
	w.names++
	return fmt.Sprintf("name%d", w.names)
}

// to returns the URL of a path of the destination that no other claim has, see sink.
func (w *world) to(behaviour string) string { return w.sink.url + "/" + behaviour + "/" + w.name() }

// answer is a reply that was read to its end.
type answer struct {
	status int
	header http.Header
	body   string
}

// ask sends a request with the messages token to a random node. Its target is put on the
// wire as it is. Header lines are "Name: value"; "Authorization:" sends none.
func (w *world) ask(t testing.TB, method, target, body string, header ...string) answer {
	t.Helper()
	r, err := http.NewRequest(method, "http://"+w.nodes.Addrs[rand.IntN(len(w.nodes.Addrs))], strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.URL.Opaque = "//" + r.URL.Host + target
	r.Header.Set("Authorization", "Bearer "+httpapitest.MessagesToken)
	for _, line := range header {
		name, value, _ := strings.Cut(line, ":")
		if value = strings.TrimSpace(value); name == "Authorization" {
			r.Header.Del(name)
		}
		if value != "" {
			r.Header.Add(name, value)
		}
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	reply := httpapitest.ReadReply(t, response, err)
	if !strings.HasPrefix(target, "/admin/") { // another document describes it
		if err := w.described.Check(method, target, reply); err != nil {
			t.Error(err)
		}
	}
	return answer{reply.Status, reply.Header, reply.Body}
}

// is fails unless the reply has that status and that body.
func (a answer) is(t testing.TB, status int, body string) {
	t.Helper()
	if a.status != status || a.body != body {
		t.Errorf("answer %d %s, want %d %s", a.status, a.body, status, body)
	}
}

// fails fails the test unless the reply has that status and is an error with that text; an empty text is not compared.
func (a answer) fails(t testing.TB, status int, text string) {
	t.Helper()
	var envelope map[string]string
	if err := json.Unmarshal([]byte(a.body), &envelope); err != nil || len(envelope) != 1 || envelope["error"] == "" {
		t.Errorf("answer %d %s is no error", a.status, a.body)
	}
	if a.status != status || text != "" && envelope["error"] != text {
		t.Errorf("answer %d %s, want %d %s", a.status, a.body, status, text)
	}
}

// record is an object of an answer.
type record map[string]any

// object returns the body as an object.
func (a answer) object(t testing.TB) (v record) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), &v); err != nil || a.status > 299 {
		t.Fatalf("answer %d %s: %v", a.status, a.body, err)
	}
	return v
}

// list returns the body as a list of objects.
func (a answer) list(t testing.TB) (v []record) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), &v); err != nil || a.status > 299 {
		t.Fatalf("answer %d %s: %v", a.status, a.body, err)
	}
	return v
}

// text returns a member that is a string, empty if it isn't there.
func (r record) text(name string) string { s, _ := r[name].(string); return s }

// number returns a member that is a number, -1 if it isn't there.
func (r record) number(name string) int64 {
	if n, is := r[name].(float64); is {
		return int64(n)
	}
	return -1
}

// in returns a member that is an object.
func (r record) in(name string) record { m, _ := r[name].(map[string]any); return m }

// has reports whether there is a member of that name.
func (r record) has(name string) bool { _, there := r[name]; return there }

// list returns a member that is a list of objects.
func (r record) list(name string) (all []record) {
	list, _ := r[name].([]any)
	for _, v := range list {
		m, _ := v.(map[string]any)
		all = append(all, m)
	}
	return all
}

// publish publishes a message and returns its id.
func (w *world) publish(t testing.TB, destination, body string, header ...string) string {
	t.Helper()
	a := w.ask(t, "POST", "/v2/publish/"+destination, body, header...)
	if a.status != 200 {
		t.Fatalf("publish to %s: %d %s", destination, a.status, a.body)
	}
	return a.object(t).text("messageId")
}

// message reads a message.
func (w *world) message(t testing.TB, id string) record {
	t.Helper()
	return w.ask(t, "GET", "/v2/messages/"+id, "").object(t)
}

// until repeats a read until it is as wanted, and returns what it read.
func (w *world) until(t testing.TB, target string, good func(record) bool) record {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		v := w.ask(t, "GET", target, "").object(t)
		if good(v) {
			return v
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s stays %v", target, v)
		}
	}
}

// eventsOf waits until a message has come to a state, and returns its events, the oldest
// first.
func (w *world) eventsOf(t testing.TB, id, state string) []record {
	t.Helper()
	v := w.until(t, "/v2/events?order=earliestFirst&messageId="+id, func(v record) bool {
		list := v.list("events")
		return len(list) > 0 && list[len(list)-1].text("state") == state
	})
	return v.list("events")
}

// stateNames returns the states of events, in their order.
func stateNames(list []record) string {
	var all []string
	for _, v := range list {
		all = append(all, v.text("state"))
	}
	return strings.Join(all, " ")
}

// deadLetter publishes a message that fails at once and returns its dead letter.
func (w *world) deadLetter(t testing.TB, destination, body string, header ...string) record {
	t.Helper()
	return w.deadLetterOf(t, w.publish(t, destination, body, append(header, "Svc-Retries: 0")...))
}

// deadLetterOf waits for the dead letter of a message.
func (w *world) deadLetterOf(t testing.TB, id string) record {
	t.Helper()
	return w.until(t, "/v2/dlq?messageId="+id, func(v record) bool { return len(v.list("messages")) == 1 }).list("messages")[0]
}

// query escapes a value of a query string.
func query(text string) string { return url.QueryEscape(text) }

// want compares a value with the expected one.
func want[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}
