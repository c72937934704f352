package httpapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// provider serves a language model that echoes, or refuses because of a rate limit.
func provider(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // a request cut short has the body that came
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Ratelimit-Limit-Requests", "5")
	w.Header().Set("Set-Cookie", "a=b")
	w.Header().Set("Connection", "X-Ratelimit-Of-This-Hop")
	w.Header().Set("X-Ratelimit-Of-This-Hop", "1")
	if strings.Contains(string(body), "often") {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
	}
	io.WriteString(w, `{"token":"`+r.Header.Get("Authorization")+`","asked":`+string(body)+`}`)
}

// TestChat: the synchronous call of old clients is answered by the provider, with its
// own token.
func TestChat(t *testing.T) {
	model := httptest.NewServer(http.HandlerFunc(provider))
	defer model.Close()
	m := startMail(t, func(o *httpapi.Options) {
		o.Messages.APIs = map[string]string{"llm": model.URL + "/chat"}
		o.Providers = func(api string, r *http.Request) (*http.Response, error) {
			r.Header.Set("Authorization", "of "+api)
			return http.DefaultTransport.RoundTrip(r)
		}
	})
	const path = "/llm/v1/chat/completions"
	m.want(200, `{"token":"of llm","asked":{"model":"m"}}`, "POST", path, `{"model":"m"}`, "Content-Type", "application/json")
	g := gatewayAt(t, m.nodes.Addrs[0])
	a := g.ask(t, "POST", path, `{"often":true}`, "Authorization: Bearer "+httpapitest.MessagesToken)
	if a.status != 429 || a.header.Get("X-Ratelimit-Limit-Requests") != "5" || a.header.Get("Retry-After") != "7" || a.header.Get("Set-Cookie")+a.header.Get("X-Ratelimit-Of-This-Hop") != "" {
		t.Errorf("%+v", a)
	}
	m.want(405, "", "GET", path, "")
	m.want(404, "", "POST", "/llm/v1/other", "")
	model.Close()
	m.want(502, `{"error":"the provider of api/llm can't be asked"}`, "POST", path, `{}`)
	m.token = "wrong"
	m.want(401, "", "POST", path, `{}`)
	m.token = httpapitest.MessagesReadOnlyToken
	m.want(403, "", "POST", path, `{}`)
}

// TestNoProvider: without one the path answers 404 as JSON.
func TestNoProvider(t *testing.T) {
	m := startMail(t)
	m.want(404, `{"error":"this version has nothing at this path"}`, "POST", "/llm/v1/chat/completions", `{}`)
	m.want(400, `{"error":"api/llm is not configured: start the nodes with --api llm=URL"}`, "POST", "/v2/publish/api/llm", `{}`)
}
