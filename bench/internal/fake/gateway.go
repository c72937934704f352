package fake

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
)

// Gateway answers SET and GET as JSON arrays at the root and pipelines of them
// at /pipeline, from memory.
type Gateway struct {
	Bearer string // the token it wants, none when empty
	mu     sync.Mutex
	keys   map[string]string
}

// Keys is a copy of everything written.
func (g *Gateway) Keys() map[string]string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.keys)
}

// ServeHTTP answers one request.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g.Bearer != "" && r.Header.Get("Authorization") != "Bearer "+g.Bearer {
		http.Error(w, `{"error":"Unauthorized"}`, http.StatusUnauthorized)
		return
	}
	reply, err := g.answer(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_, _ = io.WriteString(w, reply)
}

// answer decodes one command, or the rows of a pipeline.
func (g *Gateway) answer(r *http.Request) (string, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return "", err
	}
	if r.URL.Path != "/pipeline" {
		var row []string
		err := json.Unmarshal(body, &row)
		return g.exec(row), err
	}
	var rows [][]string
	if err := json.Unmarshal(body, &rows); err != nil {
		return "", err
	}
	replies := make([]string, len(rows))
	for i, row := range rows {
		replies[i] = g.exec(row)
	}
	return "[" + strings.Join(replies, ",") + "]", nil
}

// exec runs one command.
func (g *Gateway) exec(row []string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case len(row) == 3 && row[0] == "SET":
		if g.keys == nil {
			g.keys = map[string]string{}
		}
		g.keys[row[1]] = row[2]
		return `{"result":"OK"}`
	case len(row) == 2 && row[0] == "GET":
		return fmt.Sprintf(`{"result":%q}`, g.keys[row[1]])
	}
	return `{"error":"ERR unknown command"}`
}
