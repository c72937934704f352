package console_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/console"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// askWith asks as a browser does that keeps cookies by host.
func askWith(t *testing.T, jar http.CookieJar, addr, method, body string, tls bool) (status int) {
	t.Helper()
	r, err := http.NewRequest(method, "http://"+addr+"/console/session", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	seen := &url.URL{Scheme: "http", Host: addr, Path: "/"}
	if r.Header.Set("Content-Type", "application/json"); tls {
		seen.Scheme = "https"
		r.Header.Set("X-Forwarded-Proto", "https")
	}
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set(console.AskedBy, "1")
	for _, c := range jar.Cookies(seen) {
		r.AddCookie(c)
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	jar.SetCookies(seen, resp.Cookies())
	return resp.StatusCode
}

// TestConsolesOnOneHost signs in to the consoles of many clusters on one host, in one browser, with and without TLS. The sessions of
// the newest stay, those of the first go, and signing out of one ends no other.
func TestConsolesOnOneHost(t *testing.T) {
	const kept, all = 8, 11
	for _, tls := range []bool{false, true} {
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		var addrs []string
		for i := range all {
			addr := httpapitest.Serve(t, httpapi.Options{Engine: httpapitest.NewCluster(uint64(i + 1)), Console: &console.Options{}, MaxRequestSize: httpapi.DefaultMaxRequestSize})
			addrs = append(addrs, addr)
			if status := askWith(t, jar, addr, "POST", `{"token":"`+httpapitest.AdminToken+`"}`, tls); status != 200 {
				t.Fatalf("sign-in: %d", status)
			}
		}
		for i, addr := range addrs {
			want := 200
			if i < all-kept {
				want = 204
			}
			if status := askWith(t, jar, addr, "GET", "", tls); status != want {
				t.Errorf("TLS %v: console %d of %d answers %d, want %d", tls, i+1, all, status, want)
			}
		}
		askWith(t, jar, addrs[all-1], "DELETE", "", tls)
		if left, other := askWith(t, jar, addrs[all-1], "GET", "", tls), askWith(t, jar, addrs[all-2], "GET", "", tls); left != 204 || other != 200 {
			t.Errorf("TLS %v: after signing out of one: it answers %d, another %d", tls, left, other)
		}
	}
}

// TestEndedSessionsSayWhy: each way in which a session ends is told to the page, when it asks and when it is opened anew.
func TestEndedSessionsSayWhy(t *testing.T) {
	var ahead atomic.Int64
	start := time.Now()
	b := serve(t, console.Options{Now: func() time.Time { return start.Add(time.Duration(ahead.Load())) }})
	pass := func(d time.Duration) { ahead.Add(int64(d)) }
	for _, one := range []struct {
		why string
		end func()
	}{
		{"not used for 30 minutes", func() { pass(console.IdleTime + time.Second) }},
		{"12 hours have passed", func() { pass(console.MaxAge + time.Second) }},
		{"you have signed out", func() {
			copied := b.cookie
			b.ask("DELETE", "/console/session", "")
			b.cookie = copied
		}},
	} {
		b.cookie = ""
		b.signIn(map[string]string{"token": httpapitest.Token})
		one.end()
		asked, opened := b.ask("POST", "/console/api/", `["PING"]`), b.ask("GET", "/console/session", "")
		if asked.status != 401 || !strings.Contains(asked.header.Get("X-Console-Ended"), one.why) {
			t.Errorf("%s: a request hears %d %q", one.why, asked.status, asked.header.Get("X-Console-Ended"))
		}
		if opened.status != 204 || !strings.Contains(opened.header.Get("X-Console-Ended"), one.why) {
			t.Errorf("%s: the page that is opened hears %d %q", one.why, opened.status, opened.header.Get("X-Console-Ended"))
		}
	}
	root := &browser{t: t, addr: b.addr}
	root.signIn(map[string]string{"token": httpapitest.AdminToken})
	root.ask("POST", "/console/api/", `["ACL","SETUSER","app","on",">a long password","+@all"]`)
	b.cookie = ""
	b.signIn(map[string]string{"user": "app", "password": "a long password"})
	root.ask("POST", "/console/api/", `["ACL","DELUSER","app"]`)
	if r := b.ask("GET", "/console/session", ""); r.status != 204 || !strings.Contains(r.header.Get("X-Console-Ended"), "its credential opens nothing") {
		t.Errorf("after the user was deleted: %d %q", r.status, r.header.Get("X-Console-Ended"))
	}
	b.cookie = ""
	if r := b.ask("GET", "/console/session", ""); r.status != 204 || r.header.Get("X-Console-Ended") != "" {
		t.Errorf("who never had a session hears %q", r.header.Get("X-Console-Ended"))
	}
}
