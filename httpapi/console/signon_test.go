package console_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/console"
	"github.com/trireme-dev/trireme/httpapi/console/oidc"
	"github.com/trireme-dev/trireme/httpapi/console/oidctest"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
	"github.com/trireme-dev/trireme/node/audit"
)

// surfer is a browser that follows redirects by hand.
type surfer struct {
	t testing.TB
	http.Client
}

func newSurfer(t testing.TB) *surfer {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &surfer{t, http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

func (s *surfer) ask(method, to, body string) (int, string, string) {
	s.t.Helper()
	r, err := http.NewRequest(method, to, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set(console.AskedBy, "1")
	resp, err := s.Do(r)
	got := httpapitest.ReadReply(s.t, resp, err)
	return got.Status, got.Header.Get("Location"), got.Body
}

// toProvider begins a sign-in and returns the URL with which the provider sends the browser back.
func (s *surfer) toProvider(node, next string) string {
	s.t.Helper()
	status, to, _ := s.ask("GET", node+"/console/oidc/start?next="+url.QueryEscape(next), "")
	if status != 302 {
		s.t.Fatalf("start: %d", status)
	}
	status, back, body := s.ask("GET", to, "")
	if status != 302 {
		s.t.Fatalf("the provider: %d %s", status, body)
	}
	return back
}

// signOn performs a whole sign-in and returns the address at which the browser ends.
func (s *surfer) signOn(node, next string) string {
	s.t.Helper()
	status, to, body := s.ask("GET", s.toProvider(node, next), "")
	if status != 302 {
		s.t.Fatalf("the callback: %d %s", status, body)
	}
	return to
}

func rolesOf(t testing.TB, texts ...string) console.SignOn {
	t.Helper()
	var o console.SignOn
	for _, text := range texts {
		role, err := console.ParseGroupRole(text)
		if err != nil {
			t.Fatal(err)
		}
		o.Roles = append(o.Roles, role)
	}
	return o
}

func providerOf(p *oidctest.Provider) console.IdentityProvider {
	return oidc.New(oidc.Options{Issuer: p.URL, ClientID: oidctest.ClientID, ClientSecret: oidctest.ClientSecret})
}

var groupRoles = []string{"ops=admin", "mail=messages", "watch=messages-readonly", "devs=database:default", "audit=readonly:default", "a=b=user:default/app", "gone=user:default/nobody"}

// TestGroupsHaveRoles signs in people of each group and asks for what each may do.
func TestGroupsHaveRoles(t *testing.T) {
	p := oidctest.Start(t)
	node := "http://" + serve(t, console.Options{Provider: providerOf(p), SignOn: rolesOf(t, groupRoles...)}).addr
	root := newSurfer(t)
	p.SignIn(map[string]any{"groups": []string{"ops"}})
	root.signOn(node, "/")
	if status, _, body := root.ask("POST", node+"/console/api/", `["ACL","SETUSER","app","on",">a long password","~app:*","+get"]`); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	for _, one := range []struct {
		groups           []string
		name             string
		admin, get, sets int
	}{
		{[]string{"other", "ops"}, "admin", 200, 200, 200},
		{[]string{"devs", "audit"}, "standard", 401, 200, 200},
		{[]string{"audit"}, "read only", 401, 200, 400},
		{[]string{"a=b"}, "app", 401, 200, 400},
		{[]string{"mail"}, "messages", 403, 401, 401},
		{[]string{"watch", "devs"}, "messages, read only", 403, 401, 401},
	} {
		p.SignIn(map[string]any{"groups": one.groups, "email": "ann@example.com"})
		s := newSurfer(t)
		if to := s.signOn(node, "/data?key=a b"); to != "/console/data?key=a+b" {
			t.Errorf("%v: the browser is sent to %s", one.groups, to)
		}
		status, _, body := s.ask("GET", node+"/console/session", "")
		if status != 200 || !strings.Contains(body, `"name":"`+one.name+`"`) || !strings.Contains(body, `"person":"ann@example.com"`) {
			t.Errorf("%v: %d %s", one.groups, status, body)
		}
		admin, _, _ := s.ask("GET", node+"/console/api/admin/databases", "")
		get, _, _ := s.ask("POST", node+"/console/api/", `["GET","app:1"]`)
		set, _, _ := s.ask("POST", node+"/console/api/", `["SET","app:1","v"]`)
		if admin != one.admin || get != one.get || set != one.sets {
			t.Errorf("%v: admin %d, get %d, set %d", one.groups, admin, get, set)
		}
	}
}

// TestSignOnRefuses: answers that prove nothing open no session, and the page is told why.
func TestSignOnRefuses(t *testing.T) {
	p := oidctest.Start(t)
	for _, one := range []struct {
		name   string
		claims map[string]any
		why    string
	}{
		{"no groups", nil, "role"},
		{"another group", map[string]any{"groups": []string{"other", "OPS"}}, "role"},
		{"groups of another kind", map[string]any{"groups": map[string]any{"ops": true}}, "role"},
		{"a role without a credential", map[string]any{"groups": "gone"}, "credential"},
		{"another nonce", map[string]any{"groups": "ops", "nonce": "of another sign-in"}, "refused"},
		{"no nonce", map[string]any{"groups": "ops", "nonce": nil}, "refused"},
		{"another audience", map[string]any{"groups": "ops", "aud": "another client"}, "refused"},
		{"many audiences", map[string]any{"groups": "ops", "aud": []string{oidctest.ClientID, "another client"}}, "refused"},
		{"another party", map[string]any{"groups": "ops", "azp": "another client"}, "refused"},
		{"another issuer", map[string]any{"groups": "ops", "iss": "https://evil.example"}, "refused"},
		{"an expired token", map[string]any{"groups": "ops", "exp": time.Now().Add(-time.Hour).Unix()}, "refused"},
		{"no end", map[string]any{"groups": "ops", "exp": nil}, "refused"},
	} {
		node := "http://" + serve(t, console.Options{Provider: providerOf(p), SignOn: rolesOf(t, groupRoles...)}).addr
		p.SignIn(one.claims)
		s := newSurfer(t)
		if to := s.signOn(node, "/"); to != "/console/#sign-in="+one.why {
			t.Errorf("%s: the browser is sent to %s", one.name, to)
		}
		if status, _, body := s.ask("GET", node+"/console/session", ""); status != 204 {
			t.Errorf("%s: %d %s", one.name, status, body)
		}
	}
	node := "http://" + serve(t, console.Options{Provider: providerOf(p), SignOn: rolesOf(t, "ops=admin")}).addr
	p.SignIn(map[string]any{"groups": "ops"})
	p.Forge(t, true)
	if to := newSurfer(t).signOn(node, "/"); to != "/console/#sign-in=refused" {
		t.Errorf("a forged token: the browser is sent to %s", to)
	}
	p.Forge(t, false)
	p.Deny("access_denied")
	if to := newSurfer(t).signOn(node, "/"); to != "/console/#sign-in=denied" {
		t.Errorf("a denial: the browser is sent to %s", to)
	}
}

// TestCallbackNeedsItsAttempt brings codes for which this browser has no matching attempt.
func TestCallbackNeedsItsAttempt(t *testing.T) {
	p := oidctest.Start(t)
	now := time.Now()
	node := "http://" + serve(t, console.Options{Provider: providerOf(p), SignOn: rolesOf(t, "ops=admin"), Now: func() time.Time { return now }}).addr
	p.SignIn(map[string]any{"groups": "ops"})
	expect := func(s *surfer, what, back, want string) {
		t.Helper()
		if status, to, _ := s.ask("GET", back, ""); status != 302 || to != want {
			t.Errorf("%s: %d, the browser is sent to %s", what, status, to)
		}
	}
	const state = "/console/#sign-in=state"
	mine := newSurfer(t)
	back := mine.toProvider(node, "/")
	expect(newSurfer(t), "another browser", back, state)
	expect(mine, "another state", strings.Replace(back, "state=", "state=x", 1), state)
	expect(mine, "after a failure", back, state)

	back = mine.toProvider(node, "https://evil.example/")
	expect(mine, "the right one", back, "/console/")
	expect(mine, "a second time", back, state)

	other, fresh := newSurfer(t), newSurfer(t)
	stolen, err := url.Parse(other.toProvider(node, "/"))
	if err != nil {
		t.Fatal(err)
	}
	q, err := url.Parse(fresh.toProvider(node, "/"))
	if err != nil {
		t.Fatal(err)
	}
	mixed := q.Query()
	mixed.Set("code", stolen.Query().Get("code")) // of a sign-in with another verifier
	q.RawQuery = mixed.Encode()
	expect(fresh, "a code of another sign-in", q.String(), "/console/#sign-in=refused")

	late := newSurfer(t)
	back = late.toProvider(node, "/")
	now = now.Add(11 * time.Minute)
	expect(late, "too late", back, state)
	for _, next := range []string{"//evil.example", "https://evil.example", "\\\\evil", "/../x", "data", "/\r\nSet-Cookie: a=b"} {
		if to := newSurfer(t).signOn(node, next); to != "/console/" {
			t.Errorf("next %q: the browser is sent to %s", next, to)
		}
	}
}

// TestSignOnIsRecorded looks at the audit log, at the session's end and at the limit of failures.
func TestSignOnIsRecorded(t *testing.T) {
	p := oidctest.Start(t)
	log, err := audit.Open(filepath.Join(t.TempDir(), "audit"), "n1", nil, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	now := time.Now()
	o := console.Options{Provider: providerOf(p), SignOn: rolesOf(t, "ops=admin"), Now: func() time.Time { return now }}
	o.SignOn.Age = 20 * time.Minute
	node := "http://" + httpapitest.Serve(t, httpapi.Options{Engine: httpapitest.New(), Console: &o, Audit: log, MaxRequestSize: httpapi.DefaultMaxRequestSize})
	p.SignIn(map[string]any{"groups": "ops", "email": "ann@example.com"})
	s := newSurfer(t)
	s.signOn(node, "/")
	p.SignIn(map[string]any{"groups": "other", "email": "bob@example.com"})
	for range 10 {
		newSurfer(t).signOn(node, "/")
	}
	if to := newSurfer(t).signOn(node, "/"); to != "/console/#sign-in=busy" {
		t.Errorf("after ten failures: %s", to)
	}
	records := log.Newest(100)
	first := records[len(records)-1]
	if first.Act != "console sign-in" || first.Who != "admin" || first.Target != "ann@example.com" || first.Session == "" || first.Detail != "subject person-1, group ops" {
		t.Errorf("%+v", first)
	}
	if last := records[len(records)-2]; last.Outcome != audit.Refused || last.Target != "bob@example.com" || last.Who != audit.Nobody {
		t.Errorf("%+v", last)
	}
	now = now.Add(19 * time.Minute)
	if status, _, _ := s.ask("GET", node+"/console/api/admin/databases", ""); status != 200 {
		t.Errorf("before its end: %d", status)
	}
	now = now.Add(2 * time.Minute)
	if status, _, _ := s.ask("GET", node+"/console/api/admin/databases", ""); status != 401 {
		t.Errorf("after its end: %d", status)
	}
}

// TestSignOnIsGoodOnEveryNode begins on one node, ends on the second, works on the third, and ends everywhere with the
// token of its role.
func TestSignOnIsGoodOnEveryNode(t *testing.T) {
	p := oidctest.Start(t)
	p.SignIn(map[string]any{"groups": "ops"})
	nodes := httpapitest.ServeNodes(t, 3, func(o *httpapi.Options) {
		o.Console = &console.Options{Provider: providerOf(p), SignOn: rolesOf(t, "ops=admin")}
	})
	at := func(i int) string { return "http://" + nodes.Addrs[i] }
	s := newSurfer(t)
	back, err := url.Parse(s.toProvider(at(0), "/"))
	if err != nil {
		t.Fatal(err)
	}
	back.Host = nodes.Addrs[1] // as a balancer would
	if status, to, _ := s.ask("GET", back.String(), ""); status != 302 || to != "/console/" {
		t.Fatalf("the callback: %d %s", status, to)
	}
	for i := range 3 {
		if status, _, body := s.ask("GET", at(i)+"/console/api/admin/databases", ""); status != 200 {
			t.Errorf("node %d: %d %s", i, status, body)
		}
	}
	if status, _, body := s.ask("POST", at(2)+"/console/api/admin/tokens/admin/rotate", `{}`); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	for i := range 3 {
		if status, _, body := s.ask("GET", at(i)+"/console/api/admin/databases", ""); status != 401 {
			t.Errorf("node %d after the rotation: %d %s", i, status, body)
		}
	}
}

// TestSignOnWithoutProvider: with a dead provider the browser goes back to the page, and without one the page offers none.
func TestSignOnWithoutProvider(t *testing.T) {
	dead := oidc.New(oidc.Options{Issuer: "http://127.0.0.1:1", ClientID: "c"})
	node := "http://" + serve(t, console.Options{Provider: dead, SignOn: rolesOf(t, "ops=admin")}).addr
	s := newSurfer(t)
	if status, to, _ := s.ask("GET", node+"/console/oidc/start", ""); status != 302 || to != "/console/#sign-in=unavailable" {
		t.Errorf("a dead provider: %d %s", status, to)
	}
	if _, _, page := s.ask("GET", node+"/console/", ""); !strings.Contains(page, `data-sign-on="true"`) {
		t.Error("the page does not offer the provider")
	}
	if status, _, _ := s.ask("POST", node+"/console/oidc/start", ""); status != 405 {
		t.Errorf("POST: %d", status)
	}
	none := "http://" + serve(t, console.Options{}).addr
	if _, to, page := s.ask("GET", none+"/console/oidc/start", ""); to != "" || !strings.Contains(page, `data-sign-on="false"`) {
		t.Errorf("without a provider: %s %.100s", to, page)
	}
}

// TestParseGroupRole refuses roles that could mean something else.
func TestParseGroupRole(t *testing.T) {
	for _, text := range []string{"", "ops", "=admin", "ops=", "ops=root", "ops=database:", "ops=user:app", "ops=user:/app", "ops=user:shop/", "ops=Admin", "ops=admin:x"} {
		if g, err := console.ParseGroupRole(text); err == nil {
			t.Errorf("%q is %+v", text, g)
		}
	}
}
