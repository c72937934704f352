package httpapi

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.yaml.in/yaml/v3"

	"github.com/trireme-dev/trireme/httpapi/messages"
)

// TestRoutesAreDescribed compares the table of routes with the OpenAPI descriptions: each operation has a row, and each row an
// operation. Of the described paths that have no row each is a command's.
func TestRoutesAreDescribed(t *testing.T) {
	s := &Server{admin: struct{ Admin }{}}
	ask := func(string, *http.Request) (*http.Response, error) { return nil, nil }
	s.messages = s.newMessages(&messages.Parser{APIs: map[string]string{"llm": "https://llm.example"}}, ask)
	table := s.routes(prometheus.NewRegistry())
	roots := s.newRoots(table)
	described, rows := map[string]bool{}, map[string]bool{}
	for _, file := range []string{"openapi.json", "messages/openapi.yaml"} {
		for path, methods := range pathsOf(t, file) { // unordered: all are added
			if !roots[firstSegment(path)] {
				continue // a command
			}
			for method := range methods { // unordered: all are added
				if one := strings.ToUpper(method); slices.Contains([]string{"GET", "POST", "PUT", "PATCH", "DELETE"}, one) {
					described[one+" "+path] = true
				}
			}
		}
	}
	for i := range table {
		for _, path := range table[i].descriptions() {
			switch table[i].method {
			case http.MethodHead:
			case "": // any
				for one := range described { // unordered: all are added
					if strings.HasSuffix(one, " "+path) {
						rows[one] = true
					}
				}
			default:
				rows[table[i].method+" "+path] = true
			}
		}
	}
	for _, one := range slices.Sorted(maps.Keys(described)) {
		if !rows[one] {
			t.Errorf("%s is described, and no row answers it", one)
		}
	}
	for _, one := range slices.Sorted(maps.Keys(rows)) {
		if !described[one] {
			t.Errorf("%s has a row, and no description", one)
		}
	}
	if len(described) < 100 {
		t.Errorf("only %d operations are described", len(described))
	}
}

// pathsOf returns the paths of a description with their members.
func pathsOf(t *testing.T, file string) map[string]map[string]any {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var document map[string]any
	if err := yaml.Unmarshal(text, &document); err != nil { // JSON is a part of YAML
		t.Fatal(err)
	}
	plain, err := json.Marshal(document["paths"])
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]map[string]any{}
	if err := json.Unmarshal(plain, &paths); err != nil {
		t.Fatal(err)
	}
	return paths
}
