package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"trireme/fsm"
)

// document is the OpenAPI description of the fixed paths, as generic JSON.
type document struct{ root map[string]any }

var described = sync.OnceValues(func() (*document, error) {
	text, err := os.ReadFile("openapi.json")
	if err != nil {
		return nil, err
	}
	d := &document{}
	return d, json.Unmarshal(text, &d.root)
})

// conforms holds a reply against the description: its status, its type, its headers and
// its body have to be what stands there.
func conforms(t testing.TB, method, target string, a answer) {
	t.Helper()
	d, err := described()
	if err != nil {
		t.Fatal(err)
	}
	path, _, _ := strings.Cut(target, "?")
	operation := d.operation(strings.ToLower(method), path)
	if operation == nil {
		if a.status < 400 && method != "OPTIONS" {
			t.Errorf("%s %s: %d, and the description has no such operation", method, target, a.status)
		}
		return
	}
	if err := d.check(operation, method, a); err != nil {
		t.Errorf("%s %s: %d %.200s: not as described: %v", method, target, a.status, a.body, err)
	}
}

// operation is the most exact one for a path, nil if there is none.
func (d *document) operation(method, path string) map[string]any {
	if rest, in := strings.CutPrefix(path, "/db/"); in {
		if name, rest, _ := strings.Cut(rest, "/"); fsm.ValidDatabaseName(name) {
			path = "/" + rest
		}
	}
	if path != "/" {
		path = strings.TrimSuffix(path, "/")
	}
	var best map[string]any
	exactness := -1
	for template, item := range object(d.root["paths"]) { // unordered: the most exact wins
		n, ok := fits(template, path)
		if op := object(object(item)[method]); ok && op != nil && n > exactness {
			best, exactness = op, n
		}
	}
	return best
}

// fits tells whether a path is one of a template, and by how many fixed segments. The
// last parameter of the gateway's own paths takes all further segments.
func fits(template, path string) (exact int, ok bool) {
	want, got := strings.Split(template[1:], "/"), strings.Split(strings.TrimPrefix(path, "/"), "/")
	open := strings.HasPrefix(want[len(want)-1], "{") && want[0] != "admin"
	if len(got) < len(want) || len(got) > len(want) && !open {
		return 0, false
	}
	for i, w := range want {
		switch {
		case strings.HasPrefix(w, "{"):
			if got[i] == "" {
				return 0, false
			}
		case w != got[i]:
			return 0, false
		default:
			exact++
		}
	}
	return exact, true
}

func object(v any) map[string]any { m, _ := v.(map[string]any); return m }

// follow resolves a reference.
func (d *document) follow(v any) map[string]any {
	m := object(v)
	for {
		ref, is := m["$ref"].(string)
		if !is {
			return m
		}
		at := d.root
		for _, name := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
			at = object(at[name])
		}
		if at == nil {
			return map[string]any{"broken reference": ref}
		}
		m = at
	}
}

// check holds a reply against an operation.
func (d *document) check(operation map[string]any, method string, a answer) error {
	responses := object(operation["responses"])
	response := d.follow(responses[fmt.Sprint(a.status)])
	if response == nil {
		if a.status < 300 {
			return fmt.Errorf("status %d is not described", a.status)
		}
		response = d.follow(responses["default"])
	}
	for name, v := range object(response["headers"]) { // unordered: each is checked alone
		h := d.follow(v)
		value := a.header.Get(name)
		if value == "" && h["required"] == true && a.status != 405 {
			return fmt.Errorf("header %s is missing", name)
		}
		if value != "" {
			if err := d.valid(h["schema"], value); err != nil {
				return fmt.Errorf("header %s: %w", name, err)
			}
		}
	}
	if a.body == "" || method == "HEAD" {
		return nil
	}
	kind, _, err := mime.ParseMediaType(a.header.Get("Content-Type"))
	if err != nil {
		return err
	}
	content, known := object(response["content"])[kind]
	if !known {
		return fmt.Errorf("type %s is not described", kind)
	}
	schema := object(content)["schema"]
	if schema == nil {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(a.body)))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return err
	}
	return d.valid(schema, v)
}

// schemaWords are those of JSON Schema that valid understands; the description may use
// no others.
var schemaWords = []string{"$ref", "oneOf", "type", "required", "properties", "additionalProperties", "items", "enum", "const",
	"pattern", "minLength", "maxLength", "minItems", "maxItems", "minimum", "description"}

// valid tells why a value does not fit a schema.
func (d *document) valid(schema, v any) error {
	s := d.follow(schema)
	if len(s) == 0 {
		return fmt.Errorf("no schema")
	}
	for word := range s { // unordered: each is looked up alone
		if !slices.Contains(schemaWords, word) {
			return fmt.Errorf("the test doesn't know the word %s", word)
		}
	}
	if list, is := s["oneOf"].([]any); is {
		var all []string
		for _, one := range list {
			err := d.valid(one, v)
			if err == nil {
				return nil
			}
			all = append(all, err.Error())
		}
		return fmt.Errorf("none of: %s", strings.Join(all, "; "))
	}
	if err := validType(s["type"], v); err != nil {
		return err
	}
	if c, is := s["const"]; is && c != v {
		return fmt.Errorf("%v is not %v", v, c)
	}
	if list, is := s["enum"].([]any); is && !slices.Contains(list, v) {
		return fmt.Errorf("%v is not one of %v", v, list)
	}
	switch v := v.(type) {
	case string:
		return validText(s, v)
	case []any:
		for i, one := range v {
			if err := d.valid(s["items"], one); err != nil {
				return fmt.Errorf("element %d: %w", i, err)
			}
		}
	case map[string]any:
		return d.validObject(s, v)
	}
	return nil
}

// validType compares a value with a type or a list of types; none fits everything.
func validType(types, v any) error {
	list, several := types.([]any)
	if types == nil {
		return nil
	}
	if !several {
		list = []any{types}
	}
	got := typeOf(v)
	if slices.Contains(list, any(got)) || got == "integer" && slices.Contains(list, any("number")) {
		return nil
	}
	return fmt.Errorf("%s is not %v", got, types)
}

func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return "number"
		}
		return "integer"
	case []any:
		return "array"
	}
	return "object"
}

func validText(s map[string]any, v string) error {
	if p, is := s["pattern"].(string); is && !regexp.MustCompile(p).MatchString(v) {
		return fmt.Errorf("%.80q does not match %s", v, p)
	}
	if n, is := s["minLength"].(float64); is && len(v) < int(n) {
		return fmt.Errorf("%q is too short", v)
	}
	return nil
}

func (d *document) validObject(s, v map[string]any) error {
	required, _ := s["required"].([]any)
	for _, name := range required {
		if _, there := v[name.(string)]; !there {
			return fmt.Errorf("%v is missing", name)
		}
	}
	properties := object(s["properties"])
	for name, one := range v { // unordered: each is checked alone
		schema, known := properties[name]
		switch {
		case !known && s["additionalProperties"] == false:
			return fmt.Errorf("%s is not described", name)
		case known:
			if err := d.valid(schema, one); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

// TestDescriptionIsServed reads the description as an operator does, and checks that
// every reference in it leads somewhere and that replies which are not as described are
// found.
func TestDescriptionIsServed(t *testing.T) {
	g := newGateway(t)
	a := g.ask(t, "GET", "/admin/openapi.json", "", asAdmin)
	want, err := os.ReadFile("openapi.json")
	if err != nil || a.status != 200 || a.body != string(want) {
		t.Fatalf("%d %.100s, %v", a.status, a.body, err)
	}
	if a := g.ask(t, "GET", "/admin/openapi.json", ""); a.status != 403 {
		t.Errorf("with the Standard token: %d", a.status)
	}
	d, err := described()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`"\$ref": *"([^"]+)"`).FindAllStringSubmatch(a.body, -1) {
		if d.follow(map[string]any{"$ref": m[1]})["broken reference"] != nil {
			t.Errorf("%s leads nowhere", m[1])
		}
	}
	good := g.ask(t, "POST", "/pipeline", `[["PING"]]`)
	for _, bad := range []answer{
		{200, good.header, `[{"result":1.5}]`},
		{200, good.header, `[{"result":1,"error":"ERR"}]`},
		{200, good.header, `{"result":1}`},
		{201, good.header, good.body},
		{200, nil, good.body},
		{400, good.header, `{"error":"something"}`},
	} {
		if d.check(d.operation("post", "/pipeline"), "POST", bad) == nil {
			t.Errorf("%d %s passes", bad.status, bad.body)
		}
	}
}
