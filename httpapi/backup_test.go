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
	answersFailures(t, "POST", "/admin/restore", "x", []adminFailure{
		{fsm.ErrBackup, 400, "not-applied", "damaged"},
		{fsm.ErrBackupNewer, 400, "not-applied", "newer"},
		{fsm.ErrBadBackup, 400, "not-applied", "damaged"},
		{fsm.ErrNotEmpty, 409, "not-applied", "empty cluster"},
		{fsm.ErrRestoring, 409, "not-applied", "another backup"},
		{&httpapi.AdminError{Status: 409, Text: "ERR level"}, 409, "not-applied", "ERR level"},
		{fsm.ErrUnknown, 503, "unknown", ""},
		{fsm.ErrNoLeader, 503, "not-applied", ""},
		{errors.New("secret detail"), 500, "unknown", ""},
	})
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

func TestMessagesOverHTTP(t *testing.T) {
	a := &admin{}
	g := newGateway(t, func(o *httpapi.Options) { o.Admin = a })
	const path = "/admin/databases/default/messages"
	got := g.ask(t, "GET", path, "", asAdmin)
	if got.status != 200 || got.body != "lines\n" || got.header.Get("Content-Type") != "application/x-ndjson" || got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%+v", got)
	}
	if got := g.ask(t, "GET", "/admin/databases/nosuch/messages", "", asAdmin); got.status != 404 {
		t.Errorf("%+v", got)
	}
	large := strings.Repeat("x", 20<<20) // beyond what a request may have elsewhere
	got = g.ask(t, "POST", path, large, asAdmin)
	want := `{"database":"default","deadLetters":1,"flowControlKeys":0,"messages":3,"queues":0,"runs":2,"schedules":0,"urlGroups":0}`
	if got.status != 200 || got.body != want || a.restored != "default: "+large {
		t.Errorf("%d bytes of %d came, %.200s", len(a.restored), len(large), got.body)
	}
	for _, method := range []string{"GET", "POST"} {
		if got := g.ask(t, method, path, ""); got.status != 403 {
			t.Errorf("%s with the Standard token: %d", method, got.status)
		}
	}
}

func TestRefusedMessages(t *testing.T) {
	answersFailures(t, "POST", "/admin/databases/default/messages", "x", []adminFailure{
		{fsm.ErrUsedMessages, 409, "not-applied", "without any"},
		{fsm.ErrRecordLevel, 409, "not-applied", "higher feature level"},
		{fsm.BadRecords(fsm.ErrUnknownLevel), 400, "not-applied", "can't be read: "},
		{fsm.ErrRecordMemory, 507, "not-applied", "max-memory"},
		{fsm.ErrNoDatabase, 404, "not-applied", ""},
		{&httpapi.AdminError{Status: 400, Text: "ERR line 3"}, 400, "not-applied", "line 3"},
		{fsm.ErrUnknown, 503, "unknown", ""},
	})
}
