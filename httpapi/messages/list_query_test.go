package messages

import (
	"go/ast"
	goparser "go/parser"
	"go/token"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/trireme-dev/trireme/fsm/queue"
)

func choosing(body string) *request {
	return &request{API: New(Options{Parser: parser, MaxBody: 1 << 20}), w: httptest.NewRecorder(), r: httptest.NewRequest("DELETE", "/v2/dlq", strings.NewReader(body))}
}

var deadFilters = []string{
	"dlqIds", "messageId", "responseStatus", "source", "api", "count", "cursor", "url", "topicName", "queueName", "label", "flowControlKey", "scheduleId", "callerIp", "callerIP", "fromDate", "toDate",
}

// FuzzReadDead: for any query, an unknown name is refused, a page is 1 to 100, and a query that names ids selects only
// these.
func FuzzReadDead(f *testing.F) {
	for _, query := range []string{"", "label=a,b&count=7", "dlqIds=1-2&dlqIds=3-4", "dlqIds=", "lable=a", "count=0", "cursor=5-6", "responseStatus=500", "qstash_token=x", "%zz", "source=workflow"} {
		f.Add(query, "")
		f.Add("", `{"`+query+`":[]}`)
	}
	f.Add("", `{"dlqIds":["1-2"],"count":5,"label":"a"}`)
	f.Fuzz(func(t *testing.T, query, body string) {
		q := choosing(body)
		c, err := q.readDead(query, inDead)
		if err != nil {
			return
		}
		values, err := choosing(body).parameters(query)
		if err != nil {
			t.Fatal(err)
		}
		for name := range values {
			if !slices.Contains(deadFilters, name) {
				t.Fatalf("%q was taken", name)
			}
		}
		if c.page.Limit < 1 || c.page.Limit > max(queue.MaxDeadPage, len(c.dead)) || c.page.Newest {
			t.Fatalf("%+v", c.page)
		}
		if values.Has("dlqIds") && len(c.dead) == 0 && !c.none {
			t.Fatal("no ids are everything")
		}
	})
}

func TestParseStates(t *testing.T) {
	for text, want := range map[string][]queue.State{
		"created": {queue.Created}, "ACTIVE": {queue.Active}, "Retry": {queue.Retry}, "ERROR": {queue.Failing}, "DELIVERED": {queue.Delivered}, "FAILED": {queue.Failed},
		"CANCEL_REQUESTED": {queue.CancelRequested}, "CANCELED": {queue.Canceled}, "cancelled": {queue.Canceled}, "IN_PROGRESS": {queue.Active, queue.Retry, queue.Failing},
	} {
		if got, err := parseStates(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v %v", text, got, err)
		}
	}
	for _, text := range []string{"", "UNKNOWN", "DONE"} {
		if _, err := parseStates(text); err == nil || !strings.Contains(err.Error(), "use IN_PROGRESS, CREATED, ") || !strings.Contains(err.Error(), ", CANCELED") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Every parameter is documented where its row is to be: a filter is added by two rows.
func TestParametersAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/messages.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parameters {
		row := "| `" + p.name + "` | " + p.means + " | "
		if !strings.Contains(string(text), row) {
			t.Errorf("docs/messages.md lacks the row\n%s", row)
		}
	}
}

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

// listCalls are the methods of the store that look at as many records as a client has made.
var listCalls = map[string]bool{"Events": true, "DeadLetters": true, "Queues": true, "Schedules": true, "Groups": true, "FlowControlKeys": true, "List": true, "CountMatching": true}

// TestListsAreLongReads: reads of many records run on a fork, where no write waits for them, and in their database's turn.
func TestListsAreLongReads(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		parsed, err := goparser.ParseFile(fset, f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			read, long := readOf(call)
			if read == nil {
				return true
			}
			ast.Inspect(read, func(n ast.Node) bool {
				if call, is := n.(*ast.CallExpr); is && calls(call, listCalls) {
					found++
					if !long {
						t.Errorf("%s: a list is read while writes wait: use fsm.Reading{Long: true}, or answerAll", fset.Position(call.Pos()))
					}
				}
				return true
			})
			return true
		})
	}
	if found < 6 {
		t.Errorf("%d lists are read, want at least 6: is the test blind?", found)
	}
}

// readOf returns the function that a call has read the state, nil for any other call, and whether that is a long read.
func readOf(call *ast.CallExpr) (read ast.Node, long bool) {
	name, _ := call.Fun.(*ast.Ident)
	switch {
	case calls(call, map[string]bool{"Read": true}) && len(call.Args) == 3:
		reading, ok := call.Args[1].(*ast.CompositeLit)
		return call.Args[2], !ok || len(reading.Elts) > 0
	case name != nil && name.Name == "answerOne":
		return call.Args[2], false
	case name != nil && name.Name == "answerAll":
		return call.Args[2], true
	case name != nil && name.Name == "ReadPage":
		return call.Args[3], true
	}
	return nil, false
}

func calls(call *ast.CallExpr, names map[string]bool) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	return ok && names[method.Sel.Name]
}

// TestListsHavePages: every list that the description knows, and so every one of the table of routes, is read a page at a time: it takes
// count and cursor, and a page has a cursor, in the body or in a header.
func TestListsHavePages(t *testing.T) {
	var described map[string]any
	if err := yaml.Unmarshal(openAPI, &described); err != nil {
		t.Fatal(err)
	}
	var resolve func(any) map[string]any
	resolve = func(v any) map[string]any {
		object, _ := v.(map[string]any)
		name, ok := object["$ref"].(string)
		if !ok {
			return object
		}
		at := any(described)
		for _, word := range strings.Split(strings.TrimPrefix(name, "#/"), "/") {
			at = at.(map[string]any)[word]
		}
		return resolve(at)
	}
	lists := 0
	for path, item := range resolve(described["paths"]) {
		object := resolve(item)
		get := resolve(object["get"])
		if get == nil {
			continue
		}
		id := get["operationId"].(string)
		ok := resolve(resolve(get["responses"])["200"])
		schema := resolve(resolve(resolve(resolve(ok["content"])["application/json"]))["schema"])
		properties := resolve(schema["properties"])
		isArray := schema["type"] == "array" && id != "fetchRun" // an array of one run
		if !strings.HasPrefix(id, "list") {
			if isArray {
				t.Errorf("%s answers an array, and is no list by its name", path)
			}
			continue
		}
		lists++
		has := map[any]bool{}
		for _, list := range []any{object["parameters"], get["parameters"]} {
			all, _ := list.([]any)
			for _, p := range all {
				has[resolve(p)["name"]] = true
			}
		}
		cursor := properties["cursor"] != nil || resolve(ok["headers"])["Svc-Cursor"] != nil
		options, _ := schema["oneOf"].([]any)
		for _, one := range options {
			cursor = cursor || resolve(resolve(one)["properties"])["cursor"] != nil
		}
		if !has["count"] || !has["cursor"] || !cursor {
			t.Errorf("GET %s takes count: %v, cursor: %v; its answer has a cursor: %v", path, has["count"], has["cursor"], cursor)
		}
	}
	if lists < 12 {
		t.Errorf("%d lists", lists)
	}
}
