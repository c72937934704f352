package deploy

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"testing"
)

// schema is the part of JSON Schema that the chart's uses.
type schema struct {
	Type                 string
	Properties           map[string]schema
	AdditionalProperties json.RawMessage
	Items                *schema
	Enum                 []any
	Pattern              string
	Minimum              *float64
	MinLength            int
	Required             []string
}

// check returns what is wrong with a value, in the order of nothing in particular.
func (s *schema) check(path string, value any) (wrong []string) {
	is := map[bool]string{true: "object"}[isOf[map[string]any](value)] + map[bool]string{true: "array"}[isOf[[]any](value)] +
		map[bool]string{true: "string"}[isOf[string](value)] + map[bool]string{true: "boolean"}[isOf[bool](value)] +
		map[bool]string{true: "integer"}[isOf[int](value)]
	if s.Type != "" && is != s.Type {
		return []string{fmt.Sprintf("%s is %v, not of type %s", path, value, s.Type)}
	}
	if len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, func(one any) bool { return fmt.Sprint(one) == fmt.Sprint(value) }) {
		wrong = append(wrong, fmt.Sprintf("%s is %v, not one of %v", path, value, s.Enum))
	}
	switch v := value.(type) {
	case string:
		if len(v) < s.MinLength || s.Pattern != "" && !regexp.MustCompile(s.Pattern).MatchString(v) {
			wrong = append(wrong, fmt.Sprintf("%s is %q, not like %s", path, v, s.Pattern))
		}
	case int:
		if s.Minimum != nil && float64(v) < *s.Minimum {
			wrong = append(wrong, fmt.Sprintf("%s is %d, below %v", path, v, *s.Minimum))
		}
	case []any:
		for i, one := range v {
			if s.Items != nil {
				wrong = append(wrong, s.Items.check(fmt.Sprintf("%s[%d]", path, i), one)...)
			}
		}
	case map[string]any:
		wrong = append(wrong, s.members(path, v)...)
	}
	return wrong
}

func isOf[T any](v any) bool { _, ok := v.(T); return ok }

func (s *schema) members(path string, v map[string]any) (wrong []string) {
	for _, name := range s.Required {
		if _, found := v[name]; !found {
			wrong = append(wrong, fmt.Sprintf("%s has no %s", path, name))
		}
	}
	for name, one := range v {
		p, known := s.Properties[name]
		if known {
			wrong = append(wrong, p.check(path+"."+name, one)...)
		} else if string(s.AdditionalProperties) == "false" {
			wrong = append(wrong, fmt.Sprintf("%s has no value named %s", path, name))
		} else if len(s.AdditionalProperties) > 0 {
			var more schema
			if json.Unmarshal(s.AdditionalProperties, &more) == nil {
				wrong = append(wrong, more.check(path+"."+name, one)...)
			}
		}
	}
	return wrong
}

// TestValuesSchema: the chart's values are as the schema says, each of them is in it, and wrong ones are refused.
func TestValuesSchema(t *testing.T) {
	var s schema
	if err := json.Unmarshal([]byte(read(t, "helm/trireme/values.schema.json")), &s); err != nil {
		t.Fatal(err)
	}
	values := func() map[string]any { return documents(t, "values.yaml", read(t, "helm/trireme/values.yaml"))[0] }
	if wrong := s.check("values", values()); len(wrong) > 0 {
		t.Errorf("values.yaml: %v", wrong)
	}
	for name := range s.Properties { // unordered: each by itself
		if _, there := values()[name]; !there && name != "global" { // which Helm sets
			t.Errorf("values.yaml has no %s", name)
		}
	}
	for _, c := range []struct {
		value any
		path  []string
	}{
		{2, []string{"replicas"}}, {"3", []string{"replicas"}}, {"x", []string{"replica"}}, {"yes", []string{"resp"}}, {"Sometimes", []string{"image", "pullPolicy"}},
		{"", []string{"secretName"}}, {"gs://bucket", []string{"backup", "to"}}, {"every night", []string{"backup", "cron"}}, {-1, []string{"backup", "keep"}},
		{"lots", []string{"storage", "size"}}, {"2 GiB", []string{"maxMemory"}}, {"500", []string{"heartbeat"}}, {true, []string{"ingress", "host"}},
		{map[string]any{"a": 1}, []string{"podAnnotations"}}, {[]any{map[string]any{"value": "x"}}, []string{"extraEnv"}}, {"x", []string{"backup", "drill", "cron"}},
	} {
		v := values()
		set(v, c.value, c.path...)
		if wrong := s.check("values", v); len(wrong) != 1 {
			t.Errorf("%v = %v: %v", c.path, c.value, wrong)
		}
	}
	for _, c := range []struct {
		value any
		path  []string
	}{
		{"CRON_TZ=Europe/Oslo 0 3 * * *", []string{"backup", "cron"}}, {"@every 2h", []string{"backup", "cron"}}, {"s3://kept/trireme?endpoint=https://x", []string{"backup", "to"}},
		{"1.5s", []string{"heartbeat"}}, {"512MB", []string{"maxMemory"}}, {[]any{map[string]any{"name": "A", "value": "x"}}, []string{"extraEnv"}},
	} {
		v := values()
		set(v, c.value, c.path...)
		if wrong := s.check("values", v); len(wrong) != 0 {
			t.Errorf("%v = %v: %v", c.path, c.value, wrong)
		}
	}
}
