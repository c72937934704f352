package httpapi_test

import (
	"net/http"
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
	res, err := g.client.Do(httpapitest.NewRequest(t, method, g.URL+target, body, header...))
	return read(t, res, err)
}

// read reads a reply to its end.
func read(t testing.TB, res *http.Response, err error) answer {
	t.Helper()
	r := httpapitest.ReadReply(t, res, err)
	return answer{r.Status, r.Header, r.Body}
}

// threeNodes returns the servers of three nodes, and the nodes.
func threeNodes(t *testing.T) ([]*gateway, *httpapitest.Nodes) {
	t.Helper()
	nodes := httpapitest.ServeNodes(t, 3, nil)
	var gateways []*gateway
	for _, addr := range nodes.Addrs {
		gateways = append(gateways, gatewayAt(t, addr))
	}
	return gateways, nodes
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
