package httpapi_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

func TestBackupAndRestoreOverHTTP(t *testing.T) {
	a := &admin{}
	g := newGateway(t, func(o *httpapi.Options) { o.Admin = a })
	got := g.ask(t, "GET", "/admin/backup", "", asAdmin)
	if got.status != 200 || got.body != "a backup" || got.header.Get("Content-Type") != "application/octet-stream" || got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%+v", got)
	}
	for query, want := range map[string]answer{"?stale=true": {200, nil, "a stale backup"}, "?stale=false": {200, nil, "a backup"}, "?stale=1": {400, nil, ""}} {
		if got := g.ask(t, "GET", "/admin/backup"+query, "", asAdmin); got.status != want.status || want.body != "" && got.body != want.body {
			t.Errorf("%s: %+v", query, got)
		}
	}
	large := strings.Repeat("x", 20<<20) // beyond what a request may have elsewhere
	got = g.ask(t, "POST", "/admin/restore", large, asAdmin)
	if want := `{"index":7,"epoch":1,"databases":1,"keys":3,"messages":0,"schedules":0,"runs":0}`; got.status != 200 || got.body != want || a.restored != large {
		t.Errorf("%d bytes of %d came, %.200s", len(a.restored), len(large), got.body)
	}
	for _, target := range []string{"GET /admin/backup", "POST /admin/restore"} {
		method, path, _ := strings.Cut(target, " ")
		if got := g.ask(t, method, path, ""); got.status != 403 {
			t.Errorf("%s with the Standard token: %d", target, got.status)
		}
	}
}

func TestRefusedRestores(t *testing.T) {
	a := &admin{}
	g := newGateway(t, func(o *httpapi.Options) { o.Admin = a })
	for _, c := range []struct {
		err      error
		status   int
		outcome  string
		contains string
	}{
		{fsm.ErrBackup, 400, "not-applied", "damaged"},
		{fsm.ErrBackupNewer, 400, "not-applied", "newer"},
		{fsm.ErrBadBackup, 400, "not-applied", "damaged"},
		{fsm.ErrNotEmpty, 409, "not-applied", "empty cluster"},
		{fsm.ErrRestoring, 409, "not-applied", "another backup"},
		{&httpapi.AdminError{Status: 409, Text: "ERR level"}, 409, "not-applied", "ERR level"},
		{fsm.ErrUnknown, 503, "unknown", ""},
		{fsm.ErrNoLeader, 503, "not-applied", ""},
		{errors.New("secret detail"), 500, "unknown", ""},
	} {
		a.err = c.err
		got := g.ask(t, "POST", "/admin/restore", "x", asAdmin)
		if got.status != c.status || got.header.Get("Svc-Outcome") != c.outcome || !strings.Contains(got.body, c.contains) || strings.Contains(got.body, "secret") {
			t.Errorf("%v: %+v", c.err, got)
		}
	}
}

// TestBackupThatIsCutOff: the answer doesn't end like a complete one.
func TestBackupThatIsCutOff(t *testing.T) {
	a := &admin{cut: errors.New("gone")}
	g := newGateway(t, func(o *httpapi.Options) { o.Admin = a })
	r, err := http.NewRequest("GET", g.URL+"/admin/backup", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+httpapitest.AdminToken)
	res, err := g.client.Do(r)
	if err != nil {
		return // nothing came at all, which is no whole answer either
	}
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); err == nil {
		t.Errorf("%q came, and an end", body)
	}
}
