package httpapi_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// gateway is a server on a real socket over a test engine.
type gateway struct {
	URL    string
	addr   string
	engine *httpapitest.Engine
	client *http.Client
}

func newGateway(t testing.TB, adjust ...func(*httpapi.Options)) *gateway {
	t.Helper()
	o := httpapi.Options{Engine: httpapitest.New(), MaxRequestSize: httpapi.DefaultMaxRequestSize}
	for _, f := range adjust {
		f(&o)
	}
	addr := httpapitest.Serve(t, o)
	g := gatewayAt(t, addr)
	g.engine, _ = o.Engine.(*httpapitest.Engine)
	return g
}

// gatewayAt returns a server that runs already.
func gatewayAt(t testing.TB, addr string) *gateway {
	g := &gateway{URL: "http://" + addr, addr: addr, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}}
	t.Cleanup(g.client.CloseIdleConnections)
	return g
}

// answer is a reply that was read to its end.
type answer struct {
	status int
	header http.Header
	body   string
}

// ask sends a request with the Standard token; header lines are "Name: value" and may
// replace it, "Authorization:" sends none.
func (g *gateway) ask(t testing.TB, method, target, body string, header ...string) answer {
	t.Helper()
	a := g.send(t, method, target, body, header...)
	conforms(t, method, target, a)
	return a
}

// send does what ask does, for requests whose replies need not be described.
func (g *gateway) send(t testing.TB, method, target, body string, header ...string) answer {
	t.Helper()
	r, err := http.NewRequest(method, g.URL+target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+httpapitest.Token)
	for _, line := range header {
		name, value, _ := strings.Cut(line, ":")
		r.Header.Set(name, strings.TrimSpace(value))
	}
	res, err := g.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(b)}
}

func TestFirstSlice(t *testing.T) {
	g := newGateway(t)
	if a := g.ask(t, "POST", "/", `["SET","k","v","EX",10]`); a.status != 200 || a.body != `{"result":"OK"}` {
		t.Fatalf("SET: %+v", a)
	}
	if a := g.ask(t, "GET", "/get/k", ""); a.status != 200 || a.body != `{"result":"v"}` {
		t.Fatalf("GET: %+v", a)
	}
}
