package httpapi_test

import (
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

var described = sync.OnceValues(func() (*httpapitest.Description, error) {
	text, err := os.ReadFile("openapi.json")
	if err != nil {
		return nil, err
	}
	return httpapitest.ParseDescription(text)
})

// conforms checks a reply of the gateway against the description, which holds for every database.
func conforms(t testing.TB, method, target string, a answer) {
	t.Helper()
	if rest, in := strings.CutPrefix(target, "/db/"); in {
		if name, rest, _ := strings.Cut(rest, "/"); fsm.ValidDatabaseName(name) {
			target = "/" + rest
		}
	}
	if strings.HasPrefix(target, "/v2/") || strings.HasPrefix(target, "/llm/") {
		asDescribed(t, method, target, a.reply())
		return
	}
	d, err := described()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Check(method, target, a.reply()); err != nil {
		t.Error(err)
	}
}

func (a answer) reply() httpapitest.Reply {
	return httpapitest.Reply{Status: a.status, Header: a.header, Body: a.body}
}

// TestDescriptionIsServed reads the description as an operator does, and checks that
// replies which are not as described are found.
func TestDescriptionIsServed(t *testing.T) {
	g := newGateway(t)
	a := g.ask(t, "GET", "/admin/openapi.json", "", asAdmin)
	want, err := os.ReadFile("openapi.json")
	if err != nil || a.status != 200 || a.body != string(want) {
		t.Fatalf("%d %.100s, %v", a.status, a.body, err)
	}
	if a := g.ask(t, "GET", "/admin/openapi.json", ""); a.status != 403 {
		t.Errorf("with the Standard token: %d", a.status)
	}
	d, err := described()
	if err != nil {
		t.Fatal(err)
	}
	good := g.ask(t, "POST", "/pipeline", `[["PING"]]`)
	for _, bad := range []answer{
		{200, good.header, `[{"result":1.5}]`},
		{200, good.header, `[{"result":1,"error":"ERR"}]`},
		{200, good.header, `{"result":1}`},
		{201, good.header, good.body},
		{200, nil, good.body},
		{400, good.header, `{"error":"something"}`},
	} {
		if d.Check("POST", "/pipeline", bad.reply()) == nil {
			t.Errorf("%d %s passes", bad.status, bad.body)
		}
	}
}
