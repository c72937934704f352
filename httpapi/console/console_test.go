package console_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/console/dist"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/console"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// browser keeps the cookies of a session, as far as these tests need it.
type browser struct {
	t       testing.TB
	addr    string
	cookie  string
	headers map[string]string
}

type reply struct {
	status int
	header http.Header
	body   string
}

func (b *browser) ask(method, path, body string) reply {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute) // for what is a stream although it should be refused
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, "http://"+b.addr+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set(console.AskedBy, "1")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if b.cookie != "" {
		r.Header.Set("Cookie", b.cookie)
	}
	for name, value := range b.headers { // unordered: headers are
		r.Header.Set(name, value)
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	got := httpapitest.ReadReply(b.t, resp, err)
	for _, c := range resp.Cookies() {
		b.cookie = c.Name + "=" + c.Value
		if c.MaxAge < 0 {
			b.cookie = ""
		}
	}
	return reply{got.Status, got.Header, got.Body}
}

func (b *browser) signIn(form map[string]string) reply {
	b.t.Helper()
	body, err := json.Marshal(form)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.ask("POST", "/console/session", string(body))
}

func serve(t *testing.T, o console.Options) *browser {
	t.Helper()
	addr := httpapitest.Serve(t, httpapi.Options{Engine: httpapitest.New(), Console: &o, MaxRequestSize: httpapi.DefaultMaxRequestSize})
	return &browser{t: t, addr: addr}
}

// TestSessionStandsForItsCredential signs in with each token and asks for what each token may do.
func TestSessionStandsForItsCredential(t *testing.T) {
	b := serve(t, console.Options{})
	if r := b.ask("GET", "/console/api/admin/databases", ""); r.status != 401 {
		t.Errorf("without a session: %d", r.status)
	}
	for _, one := range []struct {
		token, name          string
		admin, set, get, run int
	}{
		{httpapitest.AdminToken, "admin", 200, 200, 200, 404},
		{httpapitest.Token, "standard", 403, 200, 200, 404},
		{httpapitest.ReadOnlyToken, "read only", 403, 400, 200, 404},
	} {
		b.cookie = ""
		r := b.signIn(map[string]string{"token": one.token})
		if r.status != 200 || !strings.Contains(r.body, `"name":"`+one.name+`"`) {
			t.Fatalf("%s: %d %s", one.name, r.status, r.body)
		}
		cookie := r.header.Get("Set-Cookie")
		if !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Strict") || strings.Contains(cookie, one.token) {
			t.Errorf("%s: cookie %s", one.name, cookie)
		}
		if r := b.ask("GET", "/console/api/admin/databases", ""); r.status != one.admin {
			t.Errorf("%s: /admin answers %d", one.name, r.status)
		}
		if r := b.ask("POST", "/console/api/", `["SET","k","v"]`); r.status != one.set {
			t.Errorf("%s: SET answers %d %s", one.name, r.status, r.body)
		}
		if r := b.ask("POST", "/console/api/", `["GET","k"]`); r.status != one.get || r.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: GET answers %d %s", one.name, r.status, r.body)
		}
		if r := b.ask("POST", "/console/api/?_token="+httpapitest.AdminToken, `["GET","k"]`); r.status != 400 {
			t.Errorf("%s: a token in the query: %d", one.name, r.status)
		}
	}
	if r := b.signIn(map[string]string{"token": "wrong"}); r.status != 401 {
		t.Errorf("a wrong token: %d", r.status)
	}
}

// TestSignOutEndsCopies ends a session whose cookie was copied.
func TestSignOutEndsCopies(t *testing.T) {
	b := serve(t, console.Options{})
	b.signIn(map[string]string{"token": httpapitest.Token})
	copied := *b
	if r := copied.ask("GET", "/console/session", ""); r.status != 200 {
		t.Fatalf("the copy: %d %s", r.status, r.body)
	}
	if r := b.ask("DELETE", "/console/session", ""); r.status != 204 || b.cookie != "" {
		t.Fatalf("sign-out: %d %s", r.status, r.body)
	}
	if r := copied.ask("GET", "/console/session", ""); r.status != 204 {
		t.Errorf("the copy after the sign-out: %d", r.status)
	}
	if r := copied.ask("POST", "/console/api/", `["PING"]`); r.status != 401 {
		t.Errorf("the copy's command after the sign-out: %d", r.status)
	}
}

// TestUserSignsInAndIsRevoked: a session ends with its user's password.
func TestUserSignsInAndIsRevoked(t *testing.T) {
	b := serve(t, console.Options{})
	root := *b
	root.signIn(map[string]string{"token": httpapitest.Token})
	if r := root.ask("POST", "/console/api/", `["ACL","SETUSER","app","on",">a long password","~app:*","+get"]`); r.status != 200 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if r := b.signIn(map[string]string{"user": "app", "password": "another"}); r.status != 401 {
		t.Errorf("a wrong password: %d", r.status)
	}
	if r := b.signIn(map[string]string{"user": "app", "password": "a long password"}); r.status != 200 || !strings.Contains(r.body, `"user":"app"`) {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if r := b.ask("POST", "/console/api/", `["GET","app:1"]`); r.status != 200 {
		t.Errorf("GET: %d %s", r.status, r.body)
	}
	if r := b.ask("POST", "/console/api/", `["GET","other"]`); r.status != 400 || !strings.Contains(r.body, "NOPERM") {
		t.Errorf("another key: %d %s", r.status, r.body)
	}
	root.ask("POST", "/console/api/", `["ACL","DELUSER","app"]`)
	if r := b.ask("POST", "/console/api/", `["GET","app:1"]`); r.status != 401 {
		t.Errorf("after its user was deleted: %d %s", r.status, r.body)
	}
	if r := b.ask("GET", "/console/session", ""); r.status != 204 {
		t.Errorf("the session after its user was deleted: %d", r.status)
	}
}

// TestIdleSessionEnds lets time pass: requests that a page sends by itself keep no session alive; acts of its user keep
// it until it is too old.
func TestIdleSessionEnds(t *testing.T) {
	var ahead atomic.Int64
	start := time.Now()
	b := serve(t, console.Options{Now: func() time.Time { return start.Add(time.Duration(ahead.Load())) }})
	pass := func(d time.Duration) { ahead.Add(int64(d)) }
	b.signIn(map[string]string{"token": httpapitest.Token})
	ping := func() int { return b.ask("POST", "/console/api/", `["PING"]`).status }
	for range 5 {
		if pass(console.IdleTime - time.Minute); ping() != 200 {
			t.Fatal("a session in use has ended")
		}
	}
	b.headers = map[string]string{"X-Console-Poll": "1"}
	pass(console.IdleTime - time.Minute)
	if ping() != 200 {
		t.Fatal("a session has ended early")
	}
	if pass(2 * time.Minute); ping() != 401 {
		t.Error("an idle session goes on")
	}
	b.headers = nil
	b.signIn(map[string]string{"token": httpapitest.Token})
	for left := console.MaxAge; left > 0; left -= console.IdleTime / 2 {
		pass(console.IdleTime / 2)
		ping()
	}
	if pass(time.Minute); ping() != 401 {
		t.Error("a session goes on for ever")
	}
}

// TestFailedSignInsAreLimited guesses credentials.
func TestFailedSignInsAreLimited(t *testing.T) {
	b := serve(t, console.Options{})
	for i := range 10 {
		if r := b.signIn(map[string]string{"token": "guess"}); r.status != 401 {
			t.Fatalf("guess %d: %d", i, r.status)
		}
	}
	if r := b.signIn(map[string]string{"token": httpapitest.Token}); r.status != 429 || r.header.Get("Retry-After") == "" {
		t.Errorf("after ten guesses: %d", r.status)
	}
}

// TestOtherSitesAreRefused asks as a page of another site would have its browser ask.
func TestOtherSitesAreRefused(t *testing.T) {
	b := serve(t, console.Options{})
	b.signIn(map[string]string{"token": httpapitest.Token})
	for _, headers := range []map[string]string{
		{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Sec-Fetch-Site": "", "Origin": "http://evil.example"},
	} {
		b.headers = headers
		for _, method := range []string{"GET", "POST"} {
			if r := b.ask(method, "/console/api/set/k/v", ""); r.status != 403 {
				t.Errorf("%v %s: %d", headers, method, r.status)
			}
		}
	}
}

// TestCookieOverTLS looks at the cookie that is set behind a proxy which speaks TLS.
func TestCookieOverTLS(t *testing.T) {
	b := serve(t, console.Options{})
	b.headers = map[string]string{"X-Forwarded-Proto": "https"}
	r := b.signIn(map[string]string{"token": httpapitest.Token})
	if cookie := r.header.Get("Set-Cookie"); !strings.HasPrefix(cookie, "__Host-") || !strings.Contains(cookie, "; Secure") || !strings.Contains(cookie, "Path=/;") {
		t.Errorf("cookie %s", cookie)
	}
	if r := b.ask("GET", "/console/session", ""); r.status != 200 {
		t.Errorf("with that cookie: %d", r.status)
	}
	b.cookie = strings.TrimPrefix(b.cookie, "__Host-")
	if r := b.ask("GET", "/console/session", ""); r.status != 204 {
		t.Errorf("under the other name: %d", r.status)
	}
}

// imports matches the files that a built file loads with itself; those that it loads later stand in parentheses.
var imports = regexp.MustCompile(`(?:from|import)"\./([\w-]+\.js)"`)

// firstView holds the bytes that a browser loads before it shows the overview: the page's files, those of the view, all that they import,
// and the typefaces of the letters of English.
func firstView(t *testing.T, sizes map[string]int, sources map[string]string) {
	t.Helper()
	load, seen, sum := []string{"app.js", "app.css", "icon.svg"}, map[string]bool{}, 0
	for name := range sizes { // unordered: all of them count
		if strings.HasPrefix(name, "overview-") || strings.HasSuffix(name, ".woff2") && !strings.Contains(name, "latin-ext") {
			load = append(load, name)
		}
	}
	for len(load) > 0 {
		name := load[0]
		load = load[1:]
		if seen[name] {
			continue
		}
		seen[name] = true
		if sizes[name] == 0 {
			t.Errorf("%s is not there", name)
		}
		sum += sizes[name]
		for _, m := range imports.FindAllStringSubmatch(sources[name], -1) {
			load = append(load, m[1])
		}
	}
	if sum > 170<<10 || len(seen) < 8 {
		t.Errorf("the first view takes %d bytes in %d files", sum, len(seen))
	}
	t.Logf("the first view takes %d bytes in %d files", sum, len(seen))
}

// TestPagesAndFiles reads what browsers load.
func TestPagesAndFiles(t *testing.T) {
	b := serve(t, console.Options{Base: "/ops/console"})
	for _, path := range []string{"/console/", "/ops/console/", "/ops/console/data/some%2Fkey", "/console/runs"} {
		r := b.ask("GET", path, "")
		policy := r.header.Get("Content-Security-Policy")
		if r.status != 200 || !strings.Contains(r.body, `<base href="/ops/console/">`) || r.header.Get("Cache-Control") != "no-cache" ||
			!strings.Contains(policy, "script-src 'self'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: %d %v %.200s", path, r.status, r.header, r.body)
		}
	}
	const overhead = 32 // bytes of gzip about a file of few lines
	sizes, sources := map[string]int{}, map[string]string{}
	for _, file := range dist.Names() {
		name, isPacked := strings.CutSuffix(file, ".gz")
		if !isPacked && !strings.HasSuffix(name, ".woff2") {
			continue
		}
		b.headers = map[string]string{"Accept-Encoding": "gzip"}
		packed := b.ask("GET", "/ops/console/"+name, "")
		b.headers = map[string]string{"Accept-Encoding": "identity"}
		whole := b.ask("GET", "/ops/console/"+name, "")
		if (packed.header.Get("Content-Encoding") == "gzip") != isPacked || whole.header.Get("Content-Encoding") != "" || len(whole.body) < len(packed.body)-overhead || whole.status != 200 {
			t.Errorf("%s: %d and %d bytes", name, len(packed.body), len(whole.body))
		}
		stays := name == "app.js" || name == "app.css" || name == "icon.svg" || name == "licences.txt"
		if strings.Contains(whole.header.Get("Cache-Control"), "immutable") == stays {
			t.Errorf("%s: %s", name, whole.header.Get("Cache-Control"))
		}
		b.headers = map[string]string{"If-None-Match": packed.header.Get("ETag")}
		if r := b.ask("GET", "/ops/console/"+name, ""); r.status != 304 || r.body != "" {
			t.Errorf("%s again: %d", name, r.status)
		}
		sizes[name], sources[name] = len(packed.body), whole.body
	}
	firstView(t, sizes, sources)
	if r := b.ask("GET", "/ops/console/data-AAAAAAAA.js", ""); r.status != 404 {
		t.Errorf("a file of another version: %d %.100s", r.status, r.body)
	}
	b.headers = map[string]string{"Accept": "text/html,*/*"}
	if r := b.ask("GET", "/", ""); r.status != 302 || r.header.Get("Location") != "/ops/console/" {
		t.Errorf("a browser at the root: %d %v", r.status, r.header)
	}
	b.headers = nil
	if r := b.ask("GET", "/ops/other", ""); r.status == 200 || bytes.Contains([]byte(r.body), []byte("<html")) {
		t.Errorf("another path: %d %.100s", r.status, r.body)
	}
}

// TestLinkSignsInOnce opens the link of a development node twice.
func TestLinkSignsInOnce(t *testing.T) {
	used := false
	b := serve(t, console.Options{Link: func(key string) (string, bool) {
		ok := key == "key" && !used
		used = used || ok
		return httpapitest.AdminToken, ok
	}})
	if r := b.signIn(map[string]string{"link": "key"}); r.status != 200 || !strings.Contains(r.body, `"admin":true`) {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := b.signIn(map[string]string{"link": "key"}); r.status != 401 {
		t.Errorf("again: %d %s", r.status, r.body)
	}
}

// TestLinksAskNothing opens every path of the API, and every command, as a link that a signed-in admin opens: from the
// address bar, from a message, from a bookmark. None of them runs; and a command needs POST even from a page.
func TestLinksAskNothing(t *testing.T) {
	b := serve(t, console.Options{})
	if r := b.signIn(map[string]string{"token": httpapitest.AdminToken}); r.status != 200 {
		t.Fatalf("sign-in: %d %s", r.status, r.body)
	}
	paths := []string{"", "pipeline", "multi-exec", "v2/keys", "v2/publish/https://app.example", "v2/events", "llm/v1/chat/completions", "../session"}
	var described struct{ Paths map[string]any }
	if r := b.ask("GET", "/console/api/admin/openapi.json", ""); json.Unmarshal([]byte(r.body), &described) != nil || len(described.Paths) < 20 {
		t.Fatalf("the description: %d %s", r.status, r.body)
	}
	for path := range described.Paths { // unordered: all are asked
		paths = append(paths, strings.NewReplacer("{", "", "}", "").Replace(path[1:]))
	}
	links := []map[string]string{
		{"Sec-Fetch-Site": "none", console.AskedBy: ""}, {"Sec-Fetch-Site": "", console.AskedBy: ""}, {"Sec-Fetch-Site": "same-origin", console.AskedBy: ""},
	}
	methods := []string{"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"}
	for _, b.headers = range links {
		for _, method := range methods {
			for _, path := range paths {
				if r := b.ask(method, "/console/api/"+path, ""); r.status != 403 {
					t.Errorf("%v: %s %s answers %d %s", b.headers, method, path, r.status, r.body)
				}
			}
			if r := b.ask(method, "/console/session", ""); r.status != 403 {
				t.Errorf("%v: %s of the session answers %d", b.headers, method, r.status)
			}
		}
	}
	for _, row := range command.NewTable().Rows() {
		path := "/console/api/" + strings.ReplaceAll(row.Name, " ", "/") + "/a/b/c"
		b.headers = links[0]
		if r := b.ask("GET", path, ""); r.status != 403 {
			t.Errorf("a link to %s answers %d %s", path, r.status, r.body)
		}
		b.headers = nil
		for _, method := range []string{"GET", "HEAD", "PUT"} {
			if r := b.ask(method, path, ""); r.status != 405 || r.header.Get("Allow") != "POST" {
				t.Errorf("%s %s answers %d %s", method, path, r.status, r.body)
			}
		}
	}
	if r := b.ask("POST", "/console/api/", `["PING"]`); r.status != 200 {
		t.Errorf("a page: %d %s", r.status, r.body)
	}
}
