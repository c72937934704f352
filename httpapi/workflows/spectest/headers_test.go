package spectest

import (
	"net/http"
	"strings"
	"testing"
)

// The deliveries that have a forwarded header.
const (
	ofStart    = 1 << iota // the first one of a run
	ofStep                 // one for a step
	ofCallback             // one that tells of a call
	ofFailure              // that of the failure callback
	ofCall                 // the call of a third party, which gets the call's own header
	toEndpoint = ofStart | ofStep | ofCallback | ofFailure
)

// forwarded are headers that a sender forwards, and the deliveries that have them with the sender's value. % is the prefix
// of the service.
var forwarded = []struct {
	name string
	has  int
}{
	// The sender's own.
	{"X-User", toEndpoint | ofCall},
	// Headers of an SDK or its user for the endpoint.
	{"%Label", toEndpoint | ofCall}, {"%Workflow-Invoke-Count", toEndpoint | ofCall}, {"%Workflow-Something-New", toEndpoint | ofCall},
	// The handshake is asked for once.
	{"%Workflow-Unknown-Sdk", ofStart | ofCall},
	// The server's headers of a run and of a delivery are never the sender's. A third party gets no headers of a run, so
	// there the names of a run are the sender's: the third party may start runs itself.
	{"%Workflow-RunId", ofCall}, {"%Workflow-CreatedAt", ofCall}, {"%Workflow-Url", ofCall}, {"%Workflow-Init", ofCall}, {"%Workflow-CallType", ofCall},
	{"%Signature", 0}, {"%Message-Id", 0}, {"%Retried", 0}, {"%Region", 0}, {"%Caller-Ip", 0}, {"%Topic-Name", 0}, {"%Schedule-Id", 0},
	// Headers that configure a message are for a destination that is such a service itself.
	{"%Forward-X-User", toEndpoint | ofCall}, {"%Callback", toEndpoint | ofCall}, {"%Failure-Callback-Retries", toEndpoint | ofCall}, {"%Retries", toEndpoint | ofCall},
	// Headers of a connection, by their names or because Connection names them. An SDK forwards the Accept-Encoding that it was
	// sent; a call's is its own.
	{"Connection", 0}, {"X-Hop", 0}, {"Keep-Alive", 0}, {"Te", 0}, {"Trailer", 0}, {"Upgrade", 0}, {"Transfer-Encoding", 0}, {"Proxy-Connection", 0}, {"Proxy-Authorization", 0},
	{"Expect", 0}, {"Host", 0}, {"Content-Length", 0}, {"Accept-Encoding", ofCall},
}

// sendersValue is the value of every forwarded header, so that Connection names X-Hop.
const sendersValue = "x-hop"

// passedOn sends each header with each kind of submission, in both spellings, and checks where it arrives.
func passedOn(t *testing.T, w *world) {
	for _, prefix := range []string{"svc-", "upstash-"} {
		with := func(families ...string) map[string]string {
			h := map[string]string{}
			for _, family := range families {
				for _, f := range forwarded {
					h[prefix+family+strings.ToLower(strings.Replace(f.name, "%", prefix, 1))] = sendersValue
				}
			}
			return h
		}
		check := func(kind int, what string, h http.Header) {
			t.Helper()
			for _, f := range forwarded {
				found := false
				for _, p := range []string{"Svc-", "Upstash-"} {
					found = found || h.Get(strings.Replace(f.name, "%", p, 1)) == sendersValue
				}
				if found != (f.has&kind != 0) {
					t.Errorf("%s, sent with %s: %s has the sender's %s: %v", what, prefix, what, f.name, found)
				}
			}
		}
		id := w.start("m/ok", "", with("forward-"))
		check(ofStart, "the first delivery", w.delivery(id, 1).header)
		call := w.callHeaders(id)
		for name, v := range with("forward-") {
			call[name] = v
		}
		for name, v := range with("callback-forward-") {
			if !strings.Contains(name, "workflow-callback") {
				call[name] = v
			}
		}
		path := "out/headers/" + id
		w.batch(200, w.url(path), call, "b")
		w.until("the call", func() bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			return len(w.calls["/"+path]) > 0
		})
		w.mu.Lock()
		third := w.calls["/"+path][0].header
		w.mu.Unlock()
		check(ofCall, "the call", third)
		w.until("the callback", func() bool { return w.callback(id) != nil })
		told := w.callback(id).header
		check(ofCallback, "the callback", told)
		w.true(told.Get("Upstash-Workflow-Sdk-Version") == "", "the callback has the version of the protocol: %v", told)

		stepped := w.start("m/ok", "", nil)
		w.delivery(stepped, 1)
		h := w.stepHeaders(stepped, "m/ok")
		for name, v := range with("forward-") { // an SDK of the first kind sends back all that it was sent
			h[name] = v
		}
		w.batch(200, w.url("m/ok"), h, run(1))
		check(ofStep, "a step's delivery", w.delivery(stepped, 2).header)
		w.submit(id, "m/ok", run(2))
		w.until("the delivery after the call", func() bool {
			for _, d := range w.deliveries(id)[1:] {
				if d.header.Get("Upstash-Workflow-Callback") == "" {
					check(ofStep, "a later delivery", d.header)
					return true
				}
			}
			return false
		})
		failed, _ := w.fail("bad", "p", with("failure-callback-forward-"))
		check(ofFailure, "the failure callback", w.delivery(failed, 2).header)
	}
}
