package httpapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

// office is a client of /v2 at nodes that deliver, and the destination they deliver to.
type office struct {
	*mail
	// url of the destination: a path that begins with /ok is answered with 200, others
	// with 500.
	url string
	mu  sync.Mutex
	got []string // method, path and body of the requests
}

func startOffice(t *testing.T, adjust ...func(*messages.Parser)) *office {
	t.Helper()
	parser := &messages.Parser{Prefixes: httpapitest.Prefixes()}
	for _, f := range adjust {
		f(parser)
	}
	p := &office{}
	destination := httptest.NewServer(p)
	t.Cleanup(destination.Close)
	nodes := httpapitest.ServeDelivering(t, 3, "", func(o *httpapi.Options) { o.Messages = parser })
	p.mail, p.url = &mail{T: t, nodes: nodes, token: httpapitest.MessagesToken}, destination.URL
	return p
}

// ServeHTTP answers as the destination.
func (o *office) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // a request cut short has the body that came
	o.mu.Lock()
	o.got = append(o.got, r.Method+" "+r.URL.Path+" "+r.Header.Get("X-Mine")+" "+string(body))
	o.mu.Unlock()
	w.Header().Set("X-Answer", "yes")
	if !strings.HasPrefix(r.URL.Path, "/ok") {
		status := http.StatusInternalServerError
		switch {
		case strings.HasPrefix(r.URL.Path, "/forbidden"):
			status = http.StatusForbidden
		case strings.HasPrefix(r.URL.Path, "/never"):
			w.Header().Set("Svc-NonRetryable-Error", "true")
			status = 489
		}
		w.WriteHeader(status)
	}
	io.WriteString(w, "answer")
}

func (o *office) requests() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string(nil), o.got...)
}

// publish publishes a message to the destination and returns its id.
func (o *office) publish(path, body string, header ...string) string {
	o.Helper()
	id, _ := o.object(o.want(200, "", "POST", "/v2/publish/"+o.url+path, body, header...))["messageId"].(string)
	return id
}

// until asks until the answer is as wanted, and returns it.
func (o *office) until(path string, good func(map[string]any) bool) map[string]any {
	o.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		got := o.object(o.want(200, "", "GET", path, ""))
		if good(got) {
			return got
		}
		if time.Now().After(deadline) {
			o.Fatalf("%s stays %v", path, got)
		}
	}
}

// listOf returns the elements of a list in an answer.
func listOf(answer map[string]any, name string) (list []map[string]any) {
	all, _ := answer[name].([]any)
	for _, v := range all {
		n, _ := v.(map[string]any)
		list = append(list, n)
	}
	return list
}

// long reports whether a list in an answer has n elements.
func long(name string, n int) func(map[string]any) bool {
	return func(answer map[string]any) bool { return len(listOf(answer, name)) == n }
}
