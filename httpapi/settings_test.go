package httpapi_test

import (
	"strings"
	"testing"
)

// TestSettingsOfADatabase: each database has settings of messages and of workflows of its own, which change no other's.
func TestSettingsOfADatabase(t *testing.T) {
	g := newGateway(t)
	if got := g.ask(t, "POST", "/admin/databases", `{"name":"shop"}`, asAdmin); got.status != 201 {
		t.Fatalf("%+v", got)
	}
	messages := strings.Replace(messageSettings, `"maxRetries":0`, `"maxRetries":7`, 1)
	workflows := strings.Replace(workflowSettings, "604800000", "5000", 1)
	const none = `{"error":"ERR there is no database \"none\""}`
	for _, c := range []struct {
		method, target, body string
		status               int
		reply                string
	}{
		{"GET", "/admin/settings/messages?database=shop", "", 200, messageSettings},
		{"POST", "/admin/settings/messages?database=shop", `{"maxRetries":7}`, 200, messages},
		{"GET", "/admin/settings/messages?database=shop", "", 200, messages},
		{"GET", "/admin/settings/messages?database=default", "", 200, messageSettings},
		{"GET", "/admin/settings/messages", "", 200, messageSettings},
		{"POST", "/admin/settings/workflows?database=shop", `{"runRetentionMs":5000}`, 200, workflows},
		{"GET", "/admin/settings/workflows?database=shop", "", 200, workflows},
		{"GET", "/admin/settings/workflows", "", 200, workflowSettings},
		{"GET", "/admin/settings/workflows?database=none", "", 404, none},
		{"POST", "/admin/settings/messages?database=none", `{"maxRetries":7}`, 404, none},
	} {
		if got := g.ask(t, c.method, c.target, c.body, asAdmin); got.status != c.status || got.body != c.reply {
			t.Errorf("%s %s %s: %d %s", c.method, c.target, c.body, got.status, got.body)
		}
	}
}
