package httpapi

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"

	"github.com/trireme-dev/trireme/httpapi/redis"
)

// openAPI describes the fixed paths, in OpenAPI 3.1. The tests hold every reply that
// they get against it.
//
//go:embed openapi.json
var openAPI []byte

func describe(g *gin.Context) { g.Data(http.StatusOK, "application/json", openAPI) }

// parameter is a parameter of a path or an operation in openAPI.
type parameter struct {
	Ref  string `json:"$ref"`
	Name string `json:"name"`
	In   string `json:"in"`
}

// queryParameters are the query parameters of each operation in openAPI, by method and path as gin has it.
var queryParameters = sync.OnceValue(func() map[string][]string {
	var d struct {
		Paths      map[string]map[string]json.RawMessage
		Components struct{ Parameters map[string]parameter }
	}
	if err := json.Unmarshal(openAPI, &d); err != nil {
		panic(err) // it is a part of this program, which the tests read
	}
	all := map[string][]string{}
	for path, item := range d.Paths {
		var shared []parameter
		_ = json.Unmarshal(item["parameters"], &shared) // most paths have none
		for method, text := range item {
			var operation struct{ Parameters []parameter }
			if json.Unmarshal(text, &operation) == nil {
				all[strings.ToUpper(method)+" "+ginPath(path)] = inQuery(slices.Concat(shared, operation.Parameters), d.Components.Parameters)
			}
		}
	}
	return all
})

// inQuery returns the names of the parameters in a query; named holds the parameters that references name.
func inQuery(list []parameter, named map[string]parameter) (names []string) {
	for _, p := range list {
		if at := strings.LastIndexByte(p.Ref, '/'); at >= 0 {
			p = named[p.Ref[at+1:]]
		}
		if p.In == "query" {
			names = append(names, p.Name)
		}
	}
	return names
}

// ginPath returns a path of openAPI in gin's form.
func ginPath(path string) string {
	return strings.NewReplacer("{", ":", "}", "").Replace(path)
}

// knownParameters refuses a request under /admin with a query parameter that its path does not have: a misspelled one would
// be ignored silently.
func (s *Server) knownParameters(g *gin.Context) {
	query, err := url.ParseQuery(g.Request.URL.RawQuery)
	if err != nil {
		s.refuseOps(g, http.StatusBadRequest, "ERR the query can't be read: "+err.Error())
		return
	}
	known := queryParameters()[g.Request.Method+" "+g.FullPath()]
	for name := range query {
		if name == redis.TokenParameter || slices.Contains(known, name) {
			continue
		}
		text := fmt.Sprintf("ERR unknown parameter %q: this path takes none", name)
		if len(known) > 0 {
			text = fmt.Sprintf("ERR unknown parameter %q: this path takes %s", name, strings.Join(known, ", "))
		}
		s.refuseOps(g, http.StatusBadRequest, text)
		return
	}
}
