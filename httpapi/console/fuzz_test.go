package console_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/httpapi/console"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// FuzzSignIn: strangers send anything to the console's session. Only a credential of the cluster opens a session, only
// the cookie of an open one has an identity, and no answer is an error of the server.
func FuzzSignIn(f *testing.F) {
	valid := `{"token":"` + httpapitest.Token + `"}`
	for _, seed := range []struct{ method, kind, cookie, body string }{
		{"POST", "application/json", "", valid},
		{"POST", "application/json; charset=utf-8", "", `{"token":" ` + httpapitest.AdminToken + ` ","database":"none"}`},
		{"POST", "text/plain", "", valid},
		{"POST", "application/json", "", `{"user":"default","password":"` + httpapitest.Token + `"}`},
		{"POST", "application/json", "", `{"link":"x","user":"y","token":"z"}`},
		{"POST", "application/json", "", `{"token":`},
		{"GET", "", "trireme-console-00000000=AAAAAAAAAAAAAAAAAAAAAAAA", ""},
		{"DELETE", "", "__Host-trireme-console-00000000=%00; trireme-console-00000000=", ""},
		{"PUT", "", "", ""},
	} {
		f.Add(seed.method, seed.kind, seed.cookie, seed.body)
	}
	c, err := console.New(console.Options{Engine: httpapitest.New(), API: http.NotFoundHandler()})
	if err != nil {
		f.Skip(err) // a build without the console
	}
	tries := 0
	f.Fuzz(func(t *testing.T, method, kind, cookie, body string) {
		tries++
		r := httptest.NewRequest("POST", "/console/session", strings.NewReader(body))
		r.Method = method
		r.RemoteAddr = fmt.Sprintf("10.%d.%d.%d:1", tries>>16&255, tries>>8&255, tries&255) // each address may fail
		r.Header.Set("Content-Type", kind)
		r.Header.Set("Cookie", cookie)
		r.Header.Set(console.AskedBy, "1")
		w := httptest.NewRecorder()
		c.ServeHTTP(w, r)
		opened := len(w.Result().Cookies()) > 0 && w.Result().Cookies()[0].MaxAge >= 0
		switch {
		case w.Code >= 500:
			t.Fatalf("%s with %q: %d %s", method, body, w.Code, w.Body)
		case opened && !opens(body):
			t.Fatalf("%q has opened a session: %s", body, w.Body)
		case opened != (method == "POST" && w.Code == 200) || method == "GET" && w.Code != 204:
			t.Fatalf("%s with cookie %q and %q: %d %s", method, cookie, body, w.Code, w.Body)
		}
	})
}

// opens reports whether a body has a credential of the cluster.
func opens(body string) bool {
	var given struct{ Token, User, Password, Link string }
	if json.Unmarshal([]byte(body), &given) != nil || given.Link != "" {
		return false
	}
	if given.User != "" {
		return given.Password == httpapitest.Token || given.Password == httpapitest.ReadOnlyToken
	}
	return slices.Contains([]string{httpapitest.Token, httpapitest.ReadOnlyToken, httpapitest.MessagesToken, httpapitest.MessagesReadOnlyToken, httpapitest.AdminToken},
		strings.TrimSpace(given.Token))
}
