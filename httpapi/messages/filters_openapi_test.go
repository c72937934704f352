package messages

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// listOperations are the requests that select, by what the table of filters calls them.
var listOperations = []struct {
	in           lists
	path, method string
}{
	{inCancel, "/v2/messages", "delete"},
	{inDead, "/v2/dlq", "delete"},
	{inDead, "/v2/dlq/retry", "post"},
	{inDeadList, "/v2/dlq", "get"},
	{inEvents, "/v2/events", "get"},
	{inEvents, "/v2/logs", "get"},
}

// TestParametersAreInOpenAPI: every filter of the table is a parameter of the requests that take it.
func TestParametersAreInOpenAPI(t *testing.T) {
	type reference struct {
		Ref  string `yaml:"$ref"`
		Name string
	}
	var described struct {
		Paths      map[string]map[string]yaml.Node
		Components struct{ Parameters map[string]reference }
	}
	if err := yaml.Unmarshal(openAPI, &described); err != nil {
		t.Fatal(err)
	}
	for _, op := range listOperations {
		node := described.Paths[op.path][op.method]
		var operation struct{ Parameters []reference }
		if err := node.Decode(&operation); err != nil {
			t.Fatal(err)
		}
		has := map[string]bool{}
		for _, p := range operation.Parameters {
			if name, ok := strings.CutPrefix(p.Ref, "#/components/parameters/"); ok {
				p = described.Components.Parameters[name]
			}
			has[strings.ToLower(p.Name)] = true // callerIP is another spelling of callerIp
		}
		if len(has) == 0 {
			t.Errorf("%s %s has no parameters", op.method, op.path)
		}
		for _, p := range parameters {
			if p.in&op.in != 0 && !has[strings.ToLower(p.name)] {
				t.Errorf("openapi.yaml: %s %s lacks the parameter %s (%s)", op.method, op.path, p.name, p.means)
			}
		}
	}
}
