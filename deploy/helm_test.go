package deploy

import (
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"go.yaml.in/yaml/v3"
)

// chart renders the templates with the few functions that they use. It is not Helm: it
// shows that they are well formed and make the objects that they should.
func chart(t *testing.T, change func(values map[string]any)) (all []map[string]any) {
	t.Helper()
	values := documents(t, "values.yaml", read(t, "helm/trireme/values.yaml"))[0]
	if change != nil {
		change(values)
	}
	about := documents(t, "Chart.yaml", read(t, "helm/trireme/Chart.yaml"))[0]
	root := template.New("chart").Option("missingkey=error")
	root.Funcs(template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var b strings.Builder
			err := root.ExecuteTemplate(&b, name, data)
			return b.String(), err
		},
		"toYaml": func(v any) (string, error) {
			b, err := yaml.Marshal(v)
			return strings.TrimSuffix(string(b), "\n"), err
		},
		"nindent": func(n int, s string) string {
			pad := "\n" + strings.Repeat(" ", n)
			return pad + strings.ReplaceAll(s, "\n", pad)
		},
		"quote": func(v any) string { return fmt.Sprintf("%q", fmt.Sprint(v)) },
		"default": func(d, v any) any {
			if v == nil || v == "" {
				return d
			}
			return v
		},
		"trunc":        func(n int, s string) string { return s[:min(n, len(s))] },
		"trimSuffix":   func(suffix, s string) string { return strings.TrimSuffix(s, suffix) },
		"lookup":       func(string, string, string, string) map[string]any { return nil }, // the first installation
		"randAlphaNum": func(n int) string { return strings.Repeat("r", n) },
		"b64enc":       func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"int":          func(v int) int { return v },
		"until": func(n int) (list []int) {
			for i := range n {
				list = append(list, i)
			}
			return list
		},
	})
	files, err := filepath.Glob("helm/trireme/templates/*")
	if err != nil || len(files) < 4 {
		t.Fatalf("templates: %v, %v", files, err)
	}
	for _, f := range files {
		if _, err := root.New(f).Parse(read(t, f)); err != nil {
			t.Fatal(err)
		}
	}
	data := map[string]any{"Values": values, "Release": map[string]any{"Name": "trireme", "Namespace": "default"}, "Chart": map[string]any{"AppVersion": about["appVersion"]}}
	for _, f := range files {
		if strings.HasSuffix(f, ".tpl") {
			continue
		}
		var b strings.Builder
		if err := root.ExecuteTemplate(&b, f, data); err != nil {
			t.Fatal(err)
		}
		all = append(all, documents(t, f, b.String())...)
	}
	return all
}

// kind finds the object of a kind.
func kind(t *testing.T, all []map[string]any, want string) map[string]any {
	t.Helper()
	for _, one := range all {
		if one["kind"] == want {
			return one
		}
	}
	t.Fatalf("the chart makes no %s", want)
	return nil
}

// variables are those of the node's container.
func variables(set map[string]any) map[string]string {
	out := map[string]string{}
	list, _ := at(set, "spec", "template", "spec", "containers", "env").([]any)
	for _, v := range list {
		name, _ := at(v, "name").(string)
		value, _ := at(v, "value").(string)
		out[name] = value
	}
	return out
}

func TestChart(t *testing.T) {
	all := chart(t, nil)
	set := kind(t, all, "StatefulSet")
	pod := at(set, "spec", "template", "spec")
	args, _ := at(pod, "containers", "args").([]any)
	list := "--initial-cluster=trireme-0=trireme-0.trireme-nodes:7080,trireme-1=trireme-1.trireme-nodes:7080,trireme-2=trireme-2.trireme-nodes:7080"
	if len(args) != 5 || args[4] != list {
		t.Errorf("arguments %v", args)
	}
	if hook := fmt.Sprint(at(pod, "containers", "lifecycle", "preStop", "exec", "command")); hook != "[/trireme cluster transfer-leader --from self]" {
		t.Errorf("preStop %s", hook)
	}
	if at(pod, "securityContext", "runAsNonRoot") != true || at(pod, "containers", "securityContext", "readOnlyRootFilesystem") != true {
		t.Error("the pod may be root or write to its root")
	}
	if v := variables(set); v["TRIREME_PLAINTEXT"] != "http" || v["TRIREME_RESP"] != "" || v["TRIREME_MAX_MEMORY"] != "2GiB" {
		t.Errorf("variables %v", v)
	}
	if image := at(pod, "containers", "image"); image != "trireme:0.1.0" {
		t.Errorf("image %v", image)
	}
	budget := kind(t, all, "PodDisruptionBudget")
	if at(budget, "spec", "maxUnavailable") != 1 {
		t.Errorf("budget %v", budget)
	}
	want := fmt.Sprint(at(set, "spec", "selector", "matchLabels"))
	for _, got := range []any{at(set, "spec", "template", "metadata", "labels"), at(budget, "spec", "selector", "matchLabels"), at(kind(t, all, "Service"), "spec", "selector")} {
		if fmt.Sprint(got) != want {
			t.Errorf("labels %v, want %s", got, want)
		}
	}
}

func TestChartWithTLS(t *testing.T) {
	all := chart(t, func(values map[string]any) {
		values["tls"] = map[string]any{"clusterSecretName": "ctls", "apiSecretName": "atls"}
		values["serviceMonitor"], values["replicas"] = true, 5
		values["extraEnv"] = []any{map[string]any{"name": "TRIREME_REGION", "value": "eu"}}
	})
	set := kind(t, all, "StatefulSet")
	v := variables(set)
	if v["TRIREME_PLAINTEXT"] != "" || v["TRIREME_RESP"] != "0.0.0.0:6379" || v["TRIREME_CLUSTER_CA"] != "/cluster-tls/ca.crt" || v["TRIREME_TLS_CERT"] != "/api-tls/tls.crt" || v["TRIREME_REGION"] != "eu" {
		t.Errorf("variables %v", v)
	}
	volumes, _ := at(set, "spec", "template", "spec", "volumes").([]any)
	if len(volumes) != 2 || at(set, "spec", "template", "spec", "containers", "readinessProbe", "httpGet", "scheme") != "HTTPS" {
		t.Errorf("volumes %v", volumes)
	}
	if at(kind(t, all, "ServiceMonitor"), "spec", "endpoints", "scheme") != "https" {
		t.Error("metrics are scraped in the clear")
	}
}
