package httpapitest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// schemaWords are the words of JSON Schema that valid understands; a description may use no others. The last ones say
// nothing about validity.
var schemaWords = []string{"$ref", "allOf", "oneOf", "type", "required", "properties", "additionalProperties", "unevaluatedProperties", "items", "enum", "const",
	"pattern", "minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum", "description", "default", "examples"}

func object(v any) map[string]any { m, _ := v.(map[string]any); return m }

// follow resolves references; nil if one leads nowhere.
func (d *Description) follow(v any) map[string]any {
	m := object(v)
	for {
		ref, is := m["$ref"].(string)
		if !is {
			return m
		}
		m = d.root
		for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
			m = object(m[name])
		}
	}
}

// valid returns why a value does not fit a schema.
func (d *Description) valid(schema, v any) error {
	s := d.follow(schema)
	if len(s) == 0 {
		return errors.New("no schema")
	}
	for word := range s { // unordered: each is looked up alone
		if !slices.Contains(schemaWords, word) {
			return fmt.Errorf("the test doesn't know the word %s", word)
		}
	}
	if list, is := s["oneOf"].([]any); is {
		if err := d.validOneOf(list, v); err != nil {
			return err
		}
	}
	if all, is := s["allOf"].([]any); is {
		for _, one := range all {
			if err := d.valid(one, v); err != nil {
				return err
			}
		}
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
	case json.Number:
		return validNumber(s, v)
	case []any:
		return d.validList(s, v)
	case map[string]any:
		return d.validObject(s, v)
	}
	return nil
}

func (d *Description) validOneOf(list []any, v any) error {
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
	if n, is := s["maxLength"].(float64); is && len(v) > int(n) {
		return fmt.Errorf("%.80q is too long", v)
	}
	return nil
}

func validNumber(s map[string]any, v json.Number) error {
	n, err := v.Float64()
	if err != nil {
		return err
	}
	if least, is := s["minimum"].(float64); is && n < least {
		return fmt.Errorf("%v is less than %v", v, least)
	}
	if most, is := s["maximum"].(float64); is && n > most {
		return fmt.Errorf("%v is more than %v", v, most)
	}
	return nil
}

func (d *Description) validList(s map[string]any, v []any) error {
	if n, is := s["minItems"].(float64); is && len(v) < int(n) {
		return fmt.Errorf("only %d elements", len(v))
	}
	if n, is := s["maxItems"].(float64); is && len(v) > int(n) {
		return fmt.Errorf("%d elements", len(v))
	}
	if s["type"] == nil && s["items"] == nil {
		return nil // what it is made of has judged
	}
	for i, one := range v {
		if err := d.valid(s["items"], one); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	return nil
}

func (d *Description) validObject(s, v map[string]any) error {
	required, _ := s["required"].([]any)
	for _, name := range required {
		if _, there := v[name.(string)]; !there {
			return fmt.Errorf("%v is missing", name)
		}
	}
	own, all := object(s["properties"]), d.members(s)
	for name, one := range v { // unordered: each is checked alone
		_, inherited := all[name]
		schema, known := own[name]
		switch other := s["additionalProperties"]; {
		case !known && other == false, !inherited && s["unevaluatedProperties"] == false:
			return fmt.Errorf("%s is not described", name)
		case !known && object(other) != nil:
			schema = other
		case !known:
			continue
		}
		if err := d.valid(schema, one); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// members returns the properties of a schema and of those that it is made of.
func (d *Description) members(s map[string]any) map[string]any {
	all := map[string]any{}
	parts, _ := s["allOf"].([]any)
	for _, part := range parts {
		for name, one := range d.members(d.follow(part)) { // unordered: into a map
			all[name] = one
		}
	}
	for name, one := range object(s["properties"]) { // unordered: into a map
		all[name] = one
	}
	return all
}

// open names the first object in a schema of a reply that doesn't say which members it
// may have; none is empty.
func (d *Description) open(schema any, seen map[string]bool, part bool) string {
	s := object(schema)
	if ref, is := s["$ref"].(string); is {
		if key := fmt.Sprint(ref, part); seen[key] {
			return ""
		} else {
			seen[key] = true
		}
		if at := d.open(d.follow(s), seen, part); at != "" {
			return ref + " " + at
		}
		return ""
	}
	_, closed := s["additionalProperties"]
	if s["unevaluatedProperties"] == false || part {
		closed = true
	}
	if s["type"] == "object" && !closed {
		return "is an object of any members"
	}
	for _, word := range []string{"oneOf", "allOf"} {
		list, _ := s[word].([]any)
		for _, one := range list {
			if at := d.open(one, seen, part || word == "allOf"); at != "" {
				return at
			}
		}
	}
	for name, one := range object(s["properties"]) { // unordered: any will do
		if at := d.open(one, seen, false); at != "" {
			return name + ": " + at
		}
	}
	if s["items"] != nil {
		return d.open(s["items"], seen, false)
	}
	return ""
}
