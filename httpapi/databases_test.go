package httpapi_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// madeDatabase is the answer that shows a database's tokens.
type madeDatabase struct {
	Name, Path           string
	Token, ReadonlyToken string
	Keys                 int
}

func (g *gateway) database(t *testing.T, method, target, body string, status int) (d madeDatabase) {
	t.Helper()
	a := g.ask(t, method, target, body, asAdmin)
	if err := json.Unmarshal([]byte(a.body), &d); err != nil || a.status != status {
		t.Fatalf("%s %s: %+v, %v", method, target, a, err)
	}
	return d
}

func auth(token string) string { return "Authorization: Bearer " + token }

func (g *gateway) expect(t *testing.T, method, target, body, token string, status int, want string) {
	t.Helper()
	if a := g.ask(t, method, target, body, auth(token)); a.status != status || !strings.HasPrefix(a.body, want) {
		t.Errorf("%s %s %s: %d %s, want %d %s", method, target, body, a.status, a.body, status, want)
	}
}

const wrongPass = `{"error":"WRONGPASS invalid or missing auth token"}`

func TestDatabasesAreApart(t *testing.T) {
	g := newGateway(t)
	shop := g.database(t, "POST", "/admin/databases", `{"name":"shop"}`, 201)
	if shop.Path != "/db/shop" || len(shop.Token) < 40 || len(shop.ReadonlyToken) < 40 || shop.Token == shop.ReadonlyToken {
		t.Fatalf("%+v", shop)
	}
	g.expect(t, "POST", "/", `["SET","k","root"]`, httpapitest.Token, 200, `{"result":"OK"}`)
	g.expect(t, "POST", "/db/shop", `["SET","k","shop"]`, shop.Token, 200, `{"result":"OK"}`)
	g.expect(t, "GET", "/get/k", "", httpapitest.Token, 200, `{"result":"root"}`)
	g.expect(t, "GET", "/db/default/get/k", "", httpapitest.Token, 200, `{"result":"root"}`)
	g.expect(t, "GET", "/db/shop/get/k", "", shop.Token, 200, `{"result":"shop"}`)
	g.expect(t, "GET", "/db/shop/get/k?_token="+shop.ReadonlyToken, "", "nonsense", 200, `{"result":"shop"}`)
	g.expect(t, "GET", "/db/shop/get/k", "", httpapitest.AdminToken, 200, `{"result":"shop"}`)
	g.expect(t, "POST", "/db/shop/pipeline", `[["GET","k"],["DBSIZE"]]`, shop.Token, 200, `[{"result":"shop"},{"result":1}]`)
	g.expect(t, "POST", "/db/shop/multi-exec/", `[["SET","a%2Fb","1"],["DBSIZE"]]`, shop.Token, 200, `[{"result":"OK"},{"result":2}]`)
	g.expect(t, "GET", "/db/shop/set/k/x", "", shop.ReadonlyToken, 400, `{"error":"NOPERM this user has no permissions to run the 'set' command`)
	for _, c := range []struct{ target, token string }{
		{"/get/k", shop.Token}, {"/get/k", shop.ReadonlyToken}, {"/db/default/get/k", shop.Token},
		{"/db/shop/get/k", httpapitest.Token}, {"/db/shop/get/k", httpapitest.ReadOnlyToken}, {"/db/shop/get/k", httpapitest.MessagesToken},
		{"/db/none/get/k", shop.Token}, {"/db/none/get/k", httpapitest.AdminToken}, {"/db/none/get/k", ""},
	} {
		g.expect(t, "GET", c.target, "", c.token, 401, wrongPass)
		g.expect(t, "POST", c.target, "", c.token, 401, wrongPass)
	}
	g.expect(t, "POST", "/", `["FLUSHALL"]`, httpapitest.Token, 200, `{"result":"OK"}`)
	g.expect(t, "POST", "/db/shop/", `["DBSIZE"]`, shop.Token, 200, `{"result":2}`)
}

func TestDatabasesAreListedAndDeleted(t *testing.T) {
	g := newGateway(t)
	shop := g.database(t, "POST", "/admin/databases", `{"name":"shop"}`, 201)
	g.database(t, "POST", "/admin/databases", `{"name":"A-1_b"}`, 201)
	g.expect(t, "GET", "/db/shop/set/k/v", "", shop.Token, 200, `{"result":"OK"}`)
	list := g.ask(t, "GET", "/admin/databases", "", asAdmin)
	var got struct{ Databases []madeDatabase }
	if err := json.Unmarshal([]byte(list.body), &got); err != nil || len(got.Databases) != 3 {
		t.Fatalf("%+v", list)
	}
	for i, name := range []string{"A-1_b", "default", "shop"} {
		if d := got.Databases[i]; d.Name != name || d.Path != "/db/"+name || d.Token != "" {
			t.Errorf("%d: %+v", i, d)
		}
	}
	if got.Databases[2].Keys != 1 || strings.Contains(list.body, "oken") {
		t.Errorf("%s", list.body)
	}
	if d := g.database(t, "DELETE", "/admin/databases/shop", "", 200); d.Keys != 1 {
		t.Errorf("%+v", d)
	}
	g.expect(t, "GET", "/db/shop/get/k", "", shop.Token, 401, wrongPass)
	again := g.database(t, "POST", "/admin/databases", `{"name":"shop"}`, 201)
	g.expect(t, "GET", "/db/shop/get/k", "", shop.Token, 401, wrongPass)
	g.expect(t, "GET", "/db/shop/get/k", "", again.Token, 200, `{"result":null}`)
}

func TestDatabaseRefusals(t *testing.T) {
	g := newGateway(t)
	for _, c := range []struct {
		method, target, body, token string
		status                      int
	}{
		{"POST", "/admin/databases", `{"name":"default"}`, httpapitest.AdminToken, 409},
		{"POST", "/admin/databases", `{"name":""}`, httpapitest.AdminToken, 400},
		{"POST", "/admin/databases", ``, httpapitest.AdminToken, 400},
		{"POST", "/admin/databases", `{"name":"-a"}`, httpapitest.AdminToken, 400},
		{"POST", "/admin/databases", `{"name":"a/b"}`, httpapitest.AdminToken, 400},
		{"POST", "/admin/databases", `{"name":"` + strings.Repeat("a", 65) + `"}`, httpapitest.AdminToken, 400},
		{"POST", "/admin/databases", `{"name":1}`, httpapitest.AdminToken, 400},
		{"DELETE", "/admin/databases/default", "", httpapitest.AdminToken, 409},
		{"DELETE", "/admin/databases/none", "", httpapitest.AdminToken, 404},
		{"POST", "/admin/databases/none/reset-password", "", httpapitest.AdminToken, 404},
		{"POST", "/admin/databases", `{"name":"a"}`, httpapitest.Token, 403},
		{"POST", "/admin/databases/default/reset-password", "", httpapitest.ReadOnlyToken, 403},
		{"DELETE", "/admin/databases/default", "", "nonsense", 401},
		{"GET", "/admin/databases", "", httpapitest.Token, 403},
	} {
		g.expect(t, c.method, c.target, c.body, c.token, c.status, `{"error":"`)
	}
}

// TestDatabasesArePaged reads the list of databases page by page, and whole.
func TestDatabasesArePaged(t *testing.T) {
	g := newGateway(t)
	want := []string{"default"}
	for i := range 6 {
		name := fmt.Sprintf("d%d", i)
		g.database(t, "POST", "/admin/databases", `{"name":"`+name+`"}`, 201)
		want = append(want, name)
	}
	slices.Sort(want)
	type page struct {
		Cursor    string
		Databases []madeDatabase
	}
	read := func(query string) (p page) {
		t.Helper()
		if a := g.ask(t, "GET", "/admin/databases"+query, "", asAdmin); a.status != 200 || json.Unmarshal([]byte(a.body), &p) != nil {
			t.Fatalf("%s: %+v", query, a)
		}
		return p
	}
	for _, count := range []int{1, 3, 7, 1000} {
		var got []string
		for p := read(fmt.Sprintf("?count=%d", count)); ; p = read(fmt.Sprintf("?count=%d&cursor=%s", count, p.Cursor)) {
			if len(p.Databases) == 0 || len(p.Databases) > count {
				t.Fatalf("a page of %d databases, want at most %d", len(p.Databases), count)
			}
			for _, d := range p.Databases {
				got = append(got, d.Name)
			}
			if p.Cursor == "" {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("pages of %d: %q, want %q", count, got, want)
		}
	}
	if p := read(""); len(p.Databases) != len(want) || p.Cursor != "" {
		t.Errorf("%+v", p)
	}
	for _, count := range []string{"0", "1001", "x", ""} {
		g.expect(t, "GET", "/admin/databases?count="+count, "", httpapitest.AdminToken, 400, `{"error":"ERR count`)
	}
}

// TestLargestDatabasesComeFirst: in the order of memory the list has one page, of the largest.
func TestLargestDatabasesComeFirst(t *testing.T) {
	g := newGateway(t)
	for name, size := range map[string]int{"small": 10, "large": 100_000, "middle": 10_000} { // unordered: each by itself
		made := g.database(t, "POST", "/admin/databases", `{"name":"`+name+`"}`, 201)
		g.expect(t, "POST", "/db/"+name, `["SET","k","`+strings.Repeat("x", size)+`"]`, made.Token, 200, `{"result":"OK"}`)
	}
	for query, want := range map[string][]string{ // unordered: each by itself
		"order=memory":         {"large", "middle", "small", "default"},
		"order=memory&count=2": {"large", "middle"},
		"order=name&count=2":   {"default", "large"},
	} {
		var got []string
		var p struct {
			Cursor    string
			Databases []madeDatabase
		}
		if a := g.ask(t, "GET", "/admin/databases?"+query, "", asAdmin); a.status != 200 || json.Unmarshal([]byte(a.body), &p) != nil {
			t.Fatalf("%s: %+v", query, a)
		}
		for _, d := range p.Databases {
			got = append(got, d.Name)
		}
		if !slices.Equal(got, want) || (p.Cursor != "") != (query == "order=name&count=2") {
			t.Errorf("%s: %q with cursor %q, want %q", query, got, p.Cursor, want)
		}
	}
	for _, query := range []string{"order=size", "order=memory&cursor=a"} {
		g.expect(t, "GET", "/admin/databases?"+query, "", httpapitest.AdminToken, 400, `{"error":"ERR order`)
	}
}

func TestResetRevokesBothTokens(t *testing.T) {
	g := newGateway(t)
	g.expect(t, "GET", "/set/k/v", "", httpapitest.Token, 200, `{"result":"OK"}`)
	fresh := g.database(t, "POST", "/admin/databases/default/reset-password", "", 200)
	for _, old := range []string{httpapitest.Token, httpapitest.ReadOnlyToken} {
		g.expect(t, "GET", "/get/k", "", old, 401, wrongPass)
		g.expect(t, "POST", "/pipeline", `[["SET","k","x"]]`, old, 401, wrongPass)
	}
	g.expect(t, "GET", "/get/k", "", fresh.ReadonlyToken, 200, `{"result":"v"}`)
	g.expect(t, "GET", "/set/k/w", "", fresh.Token, 200, `{"result":"OK"}`)
	g.expect(t, "GET", "/get/k", "", httpapitest.AdminToken, 200, `{"result":"w"}`)
}

// A write whose token is revoked between this node's look and the apply changes nothing:
// the entry is judged by the state it meets.
func TestRevokedTokenWritesNothing(t *testing.T) {
	for _, request := range [][2]string{{"/", `["SET","k","x"]`}, {"/pipeline", `[["SET","k","x"]]`}, {"/multi-exec", `[["SET","k","x"]]`}} {
		g := newGateway(t)
		g.expect(t, "GET", "/set/k/v", "", httpapitest.Token, 200, `{"result":"OK"}`)
		g.engine.BeforePropose(func() { g.database(t, "POST", "/admin/databases/default/reset-password", "", 200) })
		g.expect(t, "POST", request[0], request[1], httpapitest.Token, 401, wrongPass)
		g.expect(t, "GET", "/get/k", "", httpapitest.AdminToken, 200, `{"result":"v"}`)
	}
}

// A token that was revoked and made valid again while its request was under way works.
func TestTokenGivenAgainWrites(t *testing.T) {
	g := newGateway(t)
	g.engine.BeforePropose(func() {
		g.database(t, "POST", "/admin/databases/default/reset-password", "", 200)
		g.engine.Found(httpapitest.Tokens())
	})
	g.expect(t, "POST", "/", `["SET","k","x"]`, httpapitest.Token, 200, `{"result":"OK"}`)
}

// TestDatabaseSettings limits the memory of one database: its writes beyond that are refused, those of others are not.
func TestDatabaseSettings(t *testing.T) {
	g := newGateway(t)
	shop := g.database(t, "POST", "/admin/databases", `{"name":"shop"}`, 201)
	const path = "/admin/databases/shop/settings"
	g.expect(t, "GET", path, "", httpapitest.AdminToken, 200, `{"maxMemory":null,"maxMemoryInForce":0}`)
	g.configure(t, fsm.Settings{MaxMemory: 1_000_000})
	g.expect(t, "GET", path, "", httpapitest.AdminToken, 200, `{"maxMemory":null,"maxMemoryInForce":500000}`)
	g.configure(t, fsm.Settings{MaxMemory: 1_000_000, TenantMemoryPercent: 20})
	for _, c := range []struct {
		method, target, body, token string
		status                      int
		want                        string
	}{
		{"POST", path, `{}`, httpapitest.AdminToken, 200, `{"maxMemory":null,"maxMemoryInForce":200000}`},
		{"POST", path, `{"maxMemory":0}`, httpapitest.AdminToken, 200, `{"maxMemory":0,"maxMemoryInForce":0}`},
		{"POST", path, `{"maxMemory":null}`, httpapitest.AdminToken, 200, `{"maxMemory":null,"maxMemoryInForce":200000}`},
		{"POST", path, `{"maxMemory":50000}`, httpapitest.AdminToken, 200, `{"maxMemory":50000,"maxMemoryInForce":50000}`},
		{"POST", path, `{"maxMemory":-1}`, httpapitest.AdminToken, 400, `{"error":"ERR maxMemory must be a number of bytes`},
		{"POST", path, `{"maxMemory":1.5}`, httpapitest.AdminToken, 400, `{"error":"ERR maxMemory must be a number of bytes`},
		{"POST", path, `{"maxMemory":"1"}`, httpapitest.AdminToken, 400, `{"error":"ERR maxMemory must be a number of bytes`},
		{"POST", path, `{"maxKeys":1}`, httpapitest.AdminToken, 400, `{"error":"`},
		{"POST", path, `{"maxMemory":1}`, httpapitest.Token, 403, `{"error":"`},
		{"GET", path, "", httpapitest.Token, 403, `{"error":"`},
		{"POST", path, `{"maxMemory":1}`, shop.Token, 401, `{"error":"`},
		{"GET", "/admin/databases/none/settings", "", httpapitest.AdminToken, 404, `{"error":"`},
		{"POST", "/admin/databases/none/settings", `{"maxMemory":1}`, httpapitest.AdminToken, 404, `{"error":"`},
	} {
		g.expect(t, c.method, c.target, c.body, c.token, c.status, c.want)
	}
	value := strings.Repeat("x", 40_000)
	g.expect(t, "POST", "/db/shop/set/a", value, shop.Token, 200, `{"result":"OK"}`)
	g.expect(t, "POST", "/db/shop/set/b", value, shop.Token, 400, `{"error":"ERR DB capacity quota exceeded. Limit: 50000 bytes, Actual: `)
	for i := range 5 {
		g.expect(t, "POST", fmt.Sprint("/set/", i), value, httpapitest.Token, 200, `{"result":"OK"}`)
	}
	if a := g.ask(t, "GET", "/admin/databases", "", asAdmin); strings.Count(a.body, `"maxMemory":50000`) != 1 || strings.Count(a.body, `"maxMemory"`) != 1 {
		t.Errorf("%s", a.body)
	}
}
