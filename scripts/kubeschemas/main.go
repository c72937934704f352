package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The modules that the schemas are cut from, both Apache-2.0. The version of Kubernetes is the oldest that the chart is for.
const (
	kubernetes = "k8s.io/kubernetes@v1.25.16"
	operator   = "github.com/prometheus-operator/prometheus-operator@v0.76.2"
	folder     = "deploy/kubernetes/schemas"
)

// kinds lists the kinds of the chart: the definition, and the file, named as kubeconform expects it.
var kinds = map[string]string{
	"io.k8s.api.core.v1.Service":               "service-v1",
	"io.k8s.api.core.v1.Secret":                "secret-v1",
	"io.k8s.api.apps.v1.StatefulSet":           "statefulset-apps-v1",
	"io.k8s.api.batch.v1.CronJob":              "cronjob-batch-v1",
	"io.k8s.api.networking.v1.Ingress":         "ingress-networking-v1",
	"io.k8s.api.networking.v1.NetworkPolicy":   "networkpolicy-networking-v1",
	"io.k8s.api.policy.v1.PodDisruptionBudget": "poddisruptionbudget-policy-v1",
}

type tree = map[string]any

func main() {
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, "kubeschemas:", err)
		os.Exit(1)
	}
}

func write() error {
	text, err := source(kubernetes, "api/openapi-spec/swagger.json")
	if err != nil {
		return err
	}
	var api struct{ Definitions map[string]tree }
	if err := json.Unmarshal(text, &api); err != nil {
		return err
	}
	for name, to := range kinds { // unordered: each is a file of its own
		if err := errors.Join(err, save(to, kind(api.Definitions, name))); err != nil {
			return err
		}
	}
	return monitor()
}

// source reads a file of a module.
func source(module, path string) ([]byte, error) {
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Dir, cmd.Stderr = os.TempDir(), os.Stderr
	output, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", module, err)
	}
	var about struct{ Dir string }
	if err := json.Unmarshal(output, &about); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(about.Dir, path))
}

// kind is the schema of a kind, with the definitions that it needs.
func kind(all map[string]tree, name string) tree {
	top := cut(all[name])
	properties, _ := top["properties"].(tree)
	delete(properties, "status") // which the cluster writes
	used := tree{}
	collect(all, top, used)
	gvk, _ := all[name]["x-kubernetes-group-version-kind"].([]any)
	one, _ := gvk[0].(tree)
	version := strings.TrimPrefix(fmt.Sprintf("%v/%v", one["group"], one["version"]), "/")
	properties["apiVersion"], properties["kind"] = tree{"enum": []any{version}}, tree{"enum": []any{one["kind"]}}
	top["required"], top["definitions"] = []any{"apiVersion", "kind", "metadata"}, used
	return top
}

// collect adds the definitions that a schema refers to.
func collect(all map[string]tree, schema any, used tree) {
	switch s := schema.(type) {
	case tree:
		if ref, is := s["$ref"].(string); is {
			name := ref[strings.LastIndex(ref, "/")+1:]
			if used[name] == nil {
				used[name] = tree{} // for those that refer to themselves
				one := cut(all[name])
				if strings.HasSuffix(name, ".resource.Quantity") {
					one = tree{"type": []any{"string", "number"}}
				}
				used[name] = one
				collect(all, one, used)
			}
		}
		for _, v := range s { // unordered: the result is a set
			collect(all, v, used)
		}
	case []any:
		for _, v := range s {
			collect(all, v, used)
		}
	}
}

// kept are the words of a schema that say what is allowed.
var kept = []string{"$ref", "type", "enum", "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems", "required", "additionalProperties", "items", "properties"}

// cut leaves of a schema what says what is allowed, and refuses properties that it does not name.
func cut(schema tree) tree {
	if schema["format"] == "int-or-string" || schema["x-kubernetes-int-or-string"] == true {
		return tree{"type": []any{"string", "integer"}}
	}
	out := tree{}
	for _, word := range kept {
		v, given := schema[word]
		if !given {
			continue
		}
		switch sub := v.(type) {
		case tree:
			if word == "properties" {
				all := tree{}
				for name, one := range sub { // unordered: a map to a map
					if one, is := one.(tree); is {
						all[name] = cut(one)
					}
				}
				v = all
			} else {
				v = cut(sub)
			}
		}
		out[word] = v
	}
	if out["properties"] != nil && out["additionalProperties"] == nil {
		out["additionalProperties"] = false
	}
	return out
}

// monitor writes the schema of the operator's ServiceMonitor.
func monitor() error {
	text, err := source(operator, "example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml")
	if err != nil {
		return err
	}
	var crd struct {
		Spec struct {
			Versions []struct {
				Schema struct {
					OpenAPI tree `yaml:"openAPIV3Schema"`
				}
			}
		}
	}
	if err := yaml.Unmarshal(text, &crd); err != nil {
		return err
	}
	top := cut(crd.Spec.Versions[0].Schema.OpenAPI)
	properties, _ := top["properties"].(tree)
	delete(properties, "status")
	properties["apiVersion"], properties["kind"] = tree{"enum": []any{"monitoring.coreos.com/v1"}}, tree{"enum": []any{"ServiceMonitor"}}
	properties["metadata"] = tree{"type": "object"}
	top["required"] = []any{"apiVersion", "kind", "metadata", "spec"}
	return save("servicemonitor-monitoring-v1", top)
}

// save writes a schema with a line for each definition.
func save(name string, schema tree) error {
	var b strings.Builder
	fmt.Fprintf(&b, "{\n\"$schema\": \"http://json-schema.org/draft-07/schema#\",\n")
	used, _ := schema["definitions"].(tree)
	delete(schema, "definitions")
	b.WriteString("\"definitions\": {")
	for i, d := range slices.Sorted(maps.Keys(used)) {
		text, err := json.Marshal(used[d])
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s\n%q: %s", strings.Repeat(",", min(i, 1)), d, text)
	}
	b.WriteString("\n}")
	for _, word := range slices.Sorted(maps.Keys(schema)) {
		text, err := json.Marshal(schema[word])
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, ",\n%q: %s", word, text)
	}
	b.WriteString("\n}\n")
	return os.WriteFile(filepath.Join(folder, name+".json"), []byte(b.String()), 0o644)
}
