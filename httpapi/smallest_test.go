package httpapi_test

import (
	"encoding/json"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

// TestSmallestElements sends bodies of the smallest elements, of which there are millions in a few MiB, to everything that is
// described to take a body: they are counted before anything is built of them, so that no request allocates many times its
// size. A path is added by being described.
func TestSmallestElements(t *testing.T) {
	g := newGateway(t, func(o *httpapi.Options) {
		o.Messages, o.MaxRequestSize = &messages.Parser{Prefixes: []string{"Svc", "Upstash"}}, httpapi.LargestRequestSize
	})
	ask := func(method, path, body string, most int) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		a := g.ask(t, method, path, body, "Authorization: Bearer "+httpapitest.AdminToken, "Content-Type: application/json")
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > uint64(most) {
			t.Errorf("%s %s of %d bytes, %.40s…: %d MiB were allocated, status %d %.100s", method, path, len(body), body, took>>20, a.status, a.body)
		}
		if a.status >= 500 {
			t.Errorf("%s %s of %.40s…: %d %.100s", method, path, body, a.status, a.body)
		}
	}
	fill := func(open, one, end string, size int) string {
		return open + strings.Repeat(one+",", size/(len(one)+1)) + one + end
	}
	ask("POST", "/v2/batch", fill("[", "{}", "]", 40<<20), 400<<20)
	const size = 4 << 20
	var names strings.Builder
	for i := range size / 10 {
		names.WriteString(`"` + strconv.Itoa(i) + `":0,`)
	}
	bodies := []string{
		fill("[", "{}", "]", size), fill("[", "[]", "]", size), fill("[", `""`, "]", size), fill("[", "[0]", "]", size),
		fill(`[{"headers":{"a":[`, `""`, "]}}]", size), fill(`[{"\u0062":0,"headers":{"a":[`, `""`, "]}}]", size), fill(`{"headers":{"a":[`, `""`, "]}}", size),
		fill(`{"endpoints":[`, "{}", "]}", size), fill(`{"messageIds":[`, `""`, "]}", size), fill(`{"dlqIds":[`, "0", "]}", size),
		fill(`{"workflowRunIds":[`, "0", "]}", size), fill(`{"timeoutHeaders":{"a":[`, `""`, "]}}", size), "{" + names.String() + `"a":0}`,
	}
	for _, op := range append(operationsWithBodies(t), [2]string{"POST", "/"}, [2]string{"POST", "/pipeline"}, [2]string{"POST", "/multi-exec"}) {
		path := strings.NewReplacer("{destination}", "https://a.example", "{name}", "default").Replace(op[1])
		path = regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(path, "x")
		most, sent := 16*size, bodies
		switch {
		case path == "/admin/restore" || strings.HasPrefix(path, "/admin") && strings.HasSuffix(path, "/messages"):
			continue // which read lines, and files
		case strings.HasPrefix(path, "/admin"):
			sent = bodies[:2] // whose bodies have 64 KiB
		case !strings.HasPrefix(path, "/v2") && !strings.HasPrefix(path, "/llm"):
			most += 128 << 20 // a million words, and what they grow from
		}
		for _, body := range sent {
			ask(op[0], path, body, most)
		}
	}
}

// operationsWithBodies returns the methods and paths that are described to take a body.
func operationsWithBodies(t *testing.T) (list [][2]string) {
	t.Helper()
	text, err := os.ReadFile("messages/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	path, method := "", ""
	for line := range strings.Lines(string(text)) {
		switch line = strings.TrimRight(line, "\n"); {
		case regexp.MustCompile(`^  /\S+:$`).MatchString(line):
			path = strings.Trim(line, " :")
		case regexp.MustCompile(`^    (post|put|delete|patch):$`).MatchString(line):
			method = strings.ToUpper(strings.Trim(line, " :"))
		case strings.HasPrefix(line, "      requestBody:"):
			list = append(list, [2]string{method, path})
		}
	}
	var admin struct {
		Paths map[string]map[string]json.RawMessage
	}
	if text, err = os.ReadFile("openapi.json"); err != nil || json.Unmarshal(text, &admin) != nil {
		t.Fatal(err)
	}
	for path, methods := range admin.Paths { // unordered: each by itself
		for method, op := range methods {
			if strings.Contains(string(op), `"requestBody"`) {
				list = append(list, [2]string{strings.ToUpper(method), path})
			}
		}
	}
	if len(list) < 20 {
		t.Fatalf("%d operations take a body: %v", len(list), list)
	}
	return list
}
