package httpapi_test

import (
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/httpapi"
)

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
	a := &admin{}
	g := newGateway(t, func(o *httpapi.Options) { o.Admin = a })
	for _, c := range []struct {
		err      error
		status   int
		outcome  string
		contains string
	}{
		{fsm.ErrUsedMessages, 409, "not-applied", "without any"},
		{fsm.ErrRecordLevel, 409, "not-applied", "higher feature level"},
		{fsm.BadRecords(fsm.ErrUnknownLevel), 400, "not-applied", "can't be read: "},
		{fsm.ErrRecordMemory, 507, "not-applied", "max-memory"},
		{fsm.ErrNoDatabase, 404, "not-applied", ""},
		{&httpapi.AdminError{Status: 400, Text: "ERR line 3"}, 400, "not-applied", "line 3"},
		{fsm.ErrUnknown, 503, "unknown", ""},
	} {
		a.err = c.err
		got := g.ask(t, "POST", "/admin/databases/default/messages", "x", asAdmin)
		if got.status != c.status || got.header.Get("Svc-Outcome") != c.outcome || !strings.Contains(got.body, c.contains) {
			t.Errorf("%v: %+v", c.err, got)
		}
	}
}
