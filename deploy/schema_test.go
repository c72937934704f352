package deploy

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// schema is the part of JSON Schema that is used here: by that of the chart's values, and by those of the kinds that it makes.
type schema struct {
	Ref                  string `json:"$ref"`
	Definitions          map[string]schema
	Type                 types
	Properties           map[string]schema
	AdditionalProperties json.RawMessage
	Items                *schema
	Enum                 []any
	Pattern              string
	Minimum              *float64
	MinLength            int
	Required             []string

	top *schema // whose definitions are referred to; nil = itself
}

// types are one or several of them.
type types []string

func (t *types) UnmarshalJSON(text []byte) error {
	if text[0] == '[' {
		return json.Unmarshal(text, (*[]string)(t))
	}
	*t = types{""}
	return json.Unmarshal(text, &(*t)[0])
}

// typeOf is the name that JSON Schema has for the type of a value.
func typeOf(value any) string {
	switch value.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case bool:
		return "boolean"
	case int:
		return "integer"
	}
	return fmt.Sprintf("%T", value)
}

// allows reports whether a value may have a type.
func (t types) allows(is string) bool {
	return len(t) == 0 || slices.Contains(t, is) || is == "integer" && slices.Contains(t, "number")
}

// check returns what is wrong with a value, in the order of nothing in particular.
func (s *schema) check(path string, value any) (wrong []string) {
	if s.top == nil {
		s.top = s
	}
	if s.Ref != "" {
		d := s.top.Definitions[strings.TrimPrefix(s.Ref, "#/definitions/")]
		d.top = s.top
		return d.check(path, value)
	}
	if !s.Type.allows(typeOf(value)) {
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
				s.Items.top = s.top
				wrong = append(wrong, s.Items.check(fmt.Sprintf("%s[%d]", path, i), one)...)
			}
		}
	case map[string]any:
		wrong = append(wrong, s.members(path, v)...)
	}
	return wrong
}

func (s *schema) members(path string, v map[string]any) (wrong []string) {
	for _, name := range s.Required {
		if _, found := v[name]; !found {
			wrong = append(wrong, fmt.Sprintf("%s has no %s", path, name))
		}
	}
	for name, one := range v {
		p, known := s.Properties[name]
		p.top = s.top
		if known {
			wrong = append(wrong, p.check(path+"."+name, one)...)
		} else if string(s.AdditionalProperties) == "false" {
			wrong = append(wrong, fmt.Sprintf("%s has no value named %s", path, name))
		} else if len(s.AdditionalProperties) > 0 {
			var more schema
			if json.Unmarshal(s.AdditionalProperties, &more) == nil {
				more.top = s.top
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

// kindSchema is the schema of an object's kind, which deploy/lint.sh gives kubeconform too.
func kindSchema(t *testing.T, object map[string]any) (s schema) {
	t.Helper()
	version, _ := object["apiVersion"].(string)
	group, version, found := strings.Cut(version, "/")
	name := fmt.Sprintf("%v", object["kind"])
	if group, _, _ = strings.Cut(group, "."); found {
		name += "-" + group + "-" + version
	} else {
		name += "-" + group
	}
	if err := json.Unmarshal([]byte(read(t, "kubernetes/schemas/"+strings.ToLower(name)+".json")), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestObjectsAreOfTheirKinds: what the chart makes, plainly and with everything switched on, and the file for kubectl have no field
// that Kubernetes does not know, and none of the wrong type.
func TestObjectsAreOfTheirKinds(t *testing.T) {
	sets := map[string][]map[string]any{
		"plain":   chart(t, nil),
		"kubectl": documents(t, "trireme.yaml", read(t, "kubernetes/trireme.yaml")),
		"everything": chart(t, func(values map[string]any) {
			set(values, "ctls", "tls", "clusterSecretName")
			set(values, "atls", "tls", "apiSecretName")
			set(values, "ca.crt", "tls", "apiCA")
			values["serviceMonitor"], values["replicas"], values["clusterInsecure"] = true, 5, true
			values["extraEnv"] = []any{map[string]any{"name": "TRIREME_REGION", "value": "eu"}}
			values["tolerations"] = []any{map[string]any{"key": "disk", "operator": "Exists"}}
			values["nodeSelector"] = map[string]any{"disk": "nvme"}
			set(values, []any{map[string]any{"namespaceSelector": map[string]any{}}}, "networkPolicy", "clientsFrom")
			set(values, true, "ingress", "enabled")
			set(values, "shop-tls", "ingress", "tlsSecretName")
			set(values, "fast", "storage", "className")
			set(values, "s3://kept/trireme", "backup", "to")
			set(values, "bucket", "backup", "secretName")
			set(values, "0 5 * * 0", "backup", "drill", "schedule")
		}),
	}
	kinds := map[string]bool{}
	for name, all := range sets { // unordered: each by itself
		for _, one := range all {
			s := kindSchema(t, one)
			if wrong := s.check(name+"."+fmt.Sprint(one["kind"]), one); len(wrong) > 0 {
				t.Errorf("%v", wrong)
			}
			kinds[fmt.Sprint(one["kind"])] = true
		}
	}
	if got := slices.Sorted(maps.Keys(kinds)); len(got) != 8 {
		t.Errorf("only %v were looked at", got)
	}
	for _, c := range []struct {
		value any
		path  []string
	}{
		{"x", []string{"spec", "replica"}}, {"3", []string{"spec", "replicas"}}, {true, []string{"spec", "template", "spec", "hostNetworking"}},
		{"x", []string{"spec", "template", "spec", "securityContext", "runAsUser"}}, {"apps/v1beta1", []string{"apiVersion"}},
	} {
		one := kind(t, chart(t, nil), "StatefulSet")
		s := kindSchema(t, one)
		set(one, c.value, c.path...)
		if wrong := s.check("StatefulSet", one); len(wrong) != 1 {
			t.Errorf("%v = %v: %v", c.path, c.value, wrong)
		}
	}
}
