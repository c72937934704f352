package httpapi_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/httpapi"
)

// adminOperations returns the operations under /admin in the description: method and path, with "x" for the parameters of a path.
func adminOperations(t *testing.T) (list [][2]string) {
	t.Helper()
	text, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var d struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	for path, item := range d.Paths {
		for method := range item {
			if strings.HasPrefix(path, "/admin/") && method != "parameters" {
				list = append(list, [2]string{strings.ToUpper(method), strings.NewReplacer("{id}", "x", "{name}", "x").Replace(path)})
			}
		}
	}
	return list
}

// TestMisspelledParametersAreRefused: under /admin a parameter that a path does not have is named, and nothing is done.
func TestMisspelledParametersAreRefused(t *testing.T) {
	a := &admin{}
	g := newGateway(t, func(o *httpapi.Options) { o.Admin = a })
	list := adminOperations(t)
	if len(list) < 30 {
		t.Fatalf("only %d operations are described", len(list))
	}
	for _, one := range list {
		got := g.ask(t, one[0], one[1]+"?froce=true", "", asAdmin)
		if got.status != 400 || !strings.Contains(got.body, `unknown parameter \"froce\": this path takes `) || got.header.Get("Svc-Outcome") != "not-applied" {
			t.Errorf("%s %s: %d %s", one[0], one[1], got.status, got.body)
		}
	}
	if a.removed != "" {
		t.Errorf("node %s was removed", a.removed)
	}
	for target, says := range map[string]string{
		"/admin/cluster/nodes/n2?Force=true":      "this path takes force",
		"/admin/databases/shop?force=true":        "this path takes none",
		"/admin/cluster/nodes/n2?force=true&f=1":  `unknown parameter \"f\"`,
		"/admin/cluster/nodes/n2?force=true&a=%z": "the query can't be read",
	} {
		if got := g.ask(t, "DELETE", target, "", asAdmin); got.status != 400 || !strings.Contains(got.body, says) {
			t.Errorf("%s: %d %s", target, got.status, got.body)
		}
	}
	if got := g.ask(t, "GET", "/admin/settings/messages?database=default", "", asAdmin); got.status != 200 {
		t.Errorf("a parameter of two operations: %d %s", got.status, got.body)
	}
	if got := g.ask(t, "GET", "/admin/cluster?nonsense=1", ""); got.status != 403 {
		t.Errorf("with another token: %d", got.status) // who may not ask learns nothing of the path
	}
}

// TestRefusedBodiesOfAdministration: a body that is too large is 413 with the limit, and other mistakes are in JSON's words.
func TestRefusedBodiesOfAdministration(t *testing.T) {
	a := &admin{}
	g := newGateway(t, func(o *httpapi.Options) { o.Admin = a })
	for _, c := range []struct {
		target, body string
		status       int
		says         string
	}{
		{"/admin/cluster/transfer-leader", `{"to":7}`, 400, "ERR expected a JSON object: to: expected a string, got number at byte 7"},
		{"/admin/cluster/transfer-leader", `["n2"]`, 400, "ERR expected a JSON object: expected an object, got array at byte 1"},
		{"/admin/cluster/transfer-leader", `{"ot":"n2"}`, 400, `ERR expected a JSON object: unknown field \"ot\"`},
		{"/admin/cluster/transfer-leader", `{"to":"n2"}{}`, 400, "ERR expected a JSON object: expected its end at byte 12"},
		{"/admin/cluster/transfer-leader", `{"to":"` + strings.Repeat("n", 64<<10) + `"}`, 413, "ERR the body is larger than 65536 bytes"},
		{"/admin/settings", `{"maxMemory":"1GB"}`, 400, "ERR expected a JSON object: maxMemory: expected an integer, got string at byte 18"},
		{"/admin/settings", `{"maxMemory":1,"maxPending":-3}`, 400, "ERR maxPending must be 0 or greater (0 = unlimited), got -3"},
		{"/admin/settings/messages", `{"dlqBytes":-1}`, 400, "ERR dlqBytes must be 0 or greater (0 = unlimited), got -1"},
		{"/admin/settings/workflows", `{"maxInvokeDepth":1.5}`, 400, "ERR expected a JSON object: maxInvokeDepth: expected an integer, got number 1.5 at byte 21"},
		{"/admin/databases", `{"name":null,"nmae":"shop"}`, 400, `ERR expected a JSON object: unknown field \"nmae\"`},
	} {
		got := g.ask(t, "POST", c.target, c.body, asAdmin)
		if got.status != c.status || got.body != `{"error":"`+c.says+`"}` || got.header.Get("Svc-Outcome") != "not-applied" {
			t.Errorf("%s %.40s: %d %s", c.target, c.body, got.status, got.body)
		}
	}
	if a.to != "" {
		t.Errorf("leadership moved to %q", a.to)
	}
}
