package spectest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// world is a running gateway: one node, or several, of which a random one gets each request.
type world struct {
	addrs  []string
	engine httpapi.Engine // of one of the nodes
	client *http.Client
	keys   int
}

func newWorld(t testing.TB, addrs ...string) *world {
	w := &world{addrs: addrs, client: &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 64},
		Timeout:       time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	t.Cleanup(w.client.CloseIdleConnections)
	return w
}

// The limits are low, so that a test may exceed them.
const (
	maxRequest = 64 << 10
	maxRows    = 2000
)

func limits(o *httpapi.Options) { o.MaxRequestSize, o.MaxRows = maxRequest, maxRows }

func oneNode(t *testing.T) *world {
	o := httpapi.Options{Engine: httpapitest.New()}
	limits(&o)
	w := newWorld(t, httpapitest.Serve(t, o))
	w.engine = o.Engine
	return w
}

func threeNodes(t *testing.T) *world {
	nodes := httpapitest.ServeNodes(t, 3, limits)
	w := newWorld(t, nodes.Addrs...)
	w.engine = httpapitest.NodeEngine(nodes.Nodes[0])
	return w
}

// limited makes a database that has a limit of so many commands a day until the claim
// ends, and returns its path and the header of its token.
func (w *world) limited(t *testing.T, name string, commands int64) (path, token string) {
	t.Helper()
	made := w.tokens(t, w.ask(t, "POST", "/admin/databases", `{"name":"`+name+`"}`, "Authorization: Bearer "+httpapitest.AdminToken))
	configure := func(commands int64) {
		if _, err := fsm.Do(context.Background(), w.engine, fsm.Configure, fsm.Settings{DailyLimit: commands}); err != nil {
			t.Error(err)
		}
		for _, addr := range w.addrs { // a linearizable read catches the node up
			w.askAt(t, addr, "GET", "/ping", "")
		}
	}
	configure(commands)
	t.Cleanup(func() { configure(0) })
	return "/db/" + name, "Authorization: Bearer " + made[0]
}

// key returns a key that no other claim has.
func (w *world) key() string {
	w.keys++
	return fmt.Sprintf("key%d", w.keys)
}

// answer is a reply that was read to its end.
type answer struct {
	status int
	header http.Header
	body   string
}

// Headers that claims send.
const (
	asReadOnly = "Authorization: Bearer " + httpapitest.ReadOnlyToken
	noToken    = "Authorization:"
	badToken   = "Authorization: Bearer nonsense"
	base64On   = "Svc-Encoding: base64"
	resp2On    = "Svc-Response-Format: resp2"
)

// ask sends a request with the Standard token to a random node. Header lines are
// "Name: value" and may replace the token; "Authorization:" sends none.
func (w *world) ask(t testing.TB, method, target, body string, header ...string) answer {
	t.Helper()
	return w.askAt(t, w.addrs[rand.IntN(len(w.addrs))], method, target, body, header...)
}

// askAt does what ask does, at one node.
func (w *world) askAt(t testing.TB, addr, method, target, body string, header ...string) answer {
	t.Helper()
	res, err := w.client.Do(httpapitest.NewRequest(t, method, "http://"+addr+target, body, header...))
	r := httpapitest.ReadReply(t, res, err)
	return answer{r.Status, r.Header, r.Body}
}

// array posts a command as a JSON array.
func (w *world) array(t testing.TB, words ...any) answer {
	t.Helper()
	body, err := json.Marshal(words)
	if err != nil {
		t.Fatal(err)
	}
	return w.ask(t, "POST", "/", string(body))
}

// is fails unless the reply has that status and exactly that body.
func (a answer) is(t testing.TB, status int, body string) {
	t.Helper()
	if a.status != status || a.body != body {
		t.Errorf("answer %d %s, want %d %s", a.status, a.body, status, body)
	}
}

// result fails unless the reply is 200 with that result, given as JSON.
func (a answer) result(t testing.TB, result string) {
	t.Helper()
	a.is(t, 200, `{"result":`+result+`}`)
}

// fails fails the test unless the reply has that status and one error with that prefix.
func (a answer) fails(t testing.TB, status int, prefix string) {
	t.Helper()
	var envelope map[string]string
	if err := json.Unmarshal([]byte(a.body), &envelope); err != nil {
		t.Errorf("answer %d %s: %v", a.status, a.body, err)
		return
	}
	text, ok := envelope["error"]
	if a.status != status || !ok || len(envelope) != 1 || !strings.HasPrefix(text, prefix) {
		t.Errorf("answer %d %s, want %d and an error that begins with %q", a.status, a.body, status, prefix)
	}
}
