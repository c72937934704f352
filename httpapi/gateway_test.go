package httpapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"trireme/httpapi"
	"trireme/httpapi/httpapitest"
)

// gateway is a server on a real socket over a test engine.
type gateway struct {
	*httptest.Server
	engine *httpapitest.Engine
}

func newGateway(t testing.TB, adjust ...func(*httpapi.Options)) *gateway {
	t.Helper()
	g := &gateway{engine: httpapitest.New()}
	o := httpapi.Options{Engine: g.engine, MaxRequestSize: httpapi.DefaultMaxRequestSize}
	for _, f := range adjust {
		f(&o)
	}
	s, err := httpapi.New(o)
	if err != nil {
		t.Fatal(err)
	}
	g.Server = httptest.NewServer(s)
	t.Cleanup(g.Close)
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
	r, err := http.NewRequest(method, g.URL+target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+httpapitest.Token)
	for _, line := range header {
		name, value, _ := strings.Cut(line, ":")
		r.Header.Set(name, strings.TrimSpace(value))
	}
	res, err := g.Client().Do(r)
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
