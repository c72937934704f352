package httpapitest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Description is an OpenAPI 3.1 document against which replies are checked. The member x-remainder of a path item names
// a parameter that takes one segment or more.
type Description struct{ root map[string]any }

// ReadDescription reads a document in YAML or JSON. It refuses one whose references lead
// nowhere, or whose replies have objects that don't say which members they may have.
func ReadDescription(file string) (*Description, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("description: %w", err)
	}
	var m map[string]any
	if err := yaml.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("description: %w", err)
	}
	plain, err := json.Marshal(m) // its numbers become those of JSON
	if err != nil {
		return nil, fmt.Errorf("description: %w", err)
	}
	d := &Description{}
	if err := json.Unmarshal(plain, &d.root); err != nil {
		return nil, fmt.Errorf("description: %w", err)
	}
	return d, d.sound()
}

// sound checks every reference and every reply.
func (d *Description) sound() error {
	var faults []error
	walk(d.root, func(m map[string]any) {
		if ref, is := m["$ref"].(string); is && d.follow(m) == nil {
			faults = append(faults, fmt.Errorf("%s leads nowhere", ref))
		}
		if _, is := m["in"].(string); is && m["name"] != nil { // a parameter, or the security of one
			faults = append(faults, unknownWords(m, parameterWords))
		}
		if s := object(m["schema"]); s != nil {
			faults = append(faults, unknownWords(s, schemaWords))
		}
	})
	for _, o := range d.Operations() {
		for status, response := range object(object(object(object(d.root["paths"])[o.Path])[strings.ToLower(o.Method)])["responses"]) { // unordered: all are looked at
			for _, content := range object(d.follow(response)["content"]) { // unordered: all are looked at
				if at := d.open(object(content)["schema"], map[string]bool{}, false); at != "" {
					faults = append(faults, fmt.Errorf("%s %s: %s: %s", o.Method, o.Path, status, at))
				}
			}
		}
	}
	return errors.Join(faults...)
}

// parameterWords are the words that parameters may have; a comma in a line of YAML makes others.
var parameterWords = []string{"name", "in", "required", "schema", "description", "examples", "type"}

func unknownWords(m map[string]any, words []string) error {
	for word := range m { // unordered: any of them will do
		if !slices.Contains(words, word) {
			return fmt.Errorf("%v: the word %q is not known", m["name"], word)
		}
	}
	return nil
}

// walk visits every object below v.
func walk(v any, visit func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		visit(v)
		for _, one := range v { // unordered: all are visited
			walk(one, visit)
		}
	case []any:
		for _, one := range v {
			walk(one, visit)
		}
	}
}

// Reply is the reply to a request, read to its end.
type Reply struct {
	Status int
	Header http.Header
	Body   string
}

// Operation names an operation of a description.
type Operation struct{ Method, Path string }

// Operations returns all operations, sorted by path and method.
func (d *Description) Operations() (all []Operation) {
	for path, item := range object(d.root["paths"]) { // unordered: sorted below
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} {
			if object(item)[strings.ToLower(method)] != nil {
				all = append(all, Operation{method, path})
			}
		}
	}
	slices.SortFunc(all, func(a, b Operation) int { return strings.Compare(a.Path+a.Method, b.Path+b.Method) })
	return all
}

// Check returns why a reply is not as described: its status, its type, its headers and its body have to be as
// described. A request that no operation describes has to be refused.
func (d *Description) Check(method, target string, r Reply) error {
	path, _, _ := strings.Cut(target, "?")
	op := d.operation(strings.ToLower(method), path)
	if op == nil && r.Status < 400 && method != http.MethodOptions {
		return fmt.Errorf("%s %s: %d, and the description has no such operation", method, target, r.Status)
	}
	if op == nil {
		return nil
	}
	if err := d.check(op, method, r); err != nil {
		return fmt.Errorf("%s %s: %d %.200s: not as described: %w", method, target, r.Status, r.Body, err)
	}
	return nil
}

// operation returns the operation for a method among the templates that fit a path most exactly, nil if they have none.
func (d *Description) operation(method, path string) map[string]any {
	if path != "/" {
		path = strings.TrimSuffix(path, "/")
	}
	var best map[string]any
	exactness := -1
	for template, item := range object(d.root["paths"]) { // unordered: the most exact wins
		remainder, _ := object(item)["x-remainder"].(string)
		n, ok := fits(template, path, "{"+remainder+"}")
		op := object(object(item)[method])
		if op == nil && method == "head" {
			op = object(object(item)["get"]) // the same without a body
		}
		switch {
		case !ok || n < exactness:
		case n > exactness:
			best, exactness = op, n
		case op != nil:
			best = op
		}
	}
	return best
}

// fits reports whether a path fits a template, and by how many fixed segments. The parameter remainder may take more
// than one segment.
func fits(template, path, remainder string) (exact int, ok bool) {
	want, got := strings.Split(template[1:], "/"), strings.Split(strings.TrimPrefix(path, "/"), "/")
	more := len(got) - len(want)
	if more < 0 || more > 0 && !slices.Contains(want, remainder) {
		return 0, false
	}
	at := 0
	for _, w := range want {
		switch {
		case strings.HasPrefix(w, "{"):
			if got[at] == "" {
				return 0, false
			}
			if w == remainder {
				at += more
			}
		case w != got[at] && !(want[0] == "v2" && strings.EqualFold(w, got[at])): // one client writes those as it likes
			return 0, false
		default:
			exact++
		}
		at++
	}
	return exact, true
}

// check checks a reply against an operation.
func (d *Description) check(operation map[string]any, method string, r Reply) error {
	response := d.response(operation, r.Status)
	if response == nil {
		return fmt.Errorf("status %d is not described", r.Status)
	}
	for name, v := range object(response["headers"]) { // unordered: each is checked alone
		if err := d.checkHeader(name, d.follow(v), r); err != nil {
			return fmt.Errorf("header %s: %w", name, err)
		}
	}
	content := object(response["content"])
	switch {
	case method == http.MethodHead || r.Body == "" && content == nil:
		return nil
	case r.Body == "":
		return errors.New("there is no body")
	}
	return d.checkBody(content, r)
}

// response describes the replies of a status, nil if nothing does. A default stands for
// refusals only.
func (d *Description) response(operation map[string]any, status int) map[string]any {
	responses := object(operation["responses"])
	if own := responses[fmt.Sprint(status)]; own != nil {
		return d.follow(own)
	}
	if other := responses["default"]; other != nil && status >= 300 {
		return d.follow(other)
	}
	return nil
}

func (d *Description) checkHeader(name string, h map[string]any, r Reply) error {
	value := r.Header.Get(name)
	switch {
	case value != "":
		return d.valid(h["schema"], value)
	case h["required"] == true && r.Status != http.StatusMethodNotAllowed:
		return errors.New("it is missing")
	}
	return nil
}

func (d *Description) checkBody(content map[string]any, r Reply) error {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return err
	}
	described, known := content[kind]
	if !known {
		return fmt.Errorf("type %s is not described", kind)
	}
	schema := object(described)["schema"]
	if schema == nil {
		return nil
	}
	if !strings.HasSuffix(kind, "json") {
		return d.valid(schema, r.Body)
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(r.Body)))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return err
	}
	return d.valid(schema, v)
}
