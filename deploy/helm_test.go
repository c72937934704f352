package deploy

import (
	"encoding/base64"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"

	"go.yaml.in/yaml/v3"
)

// chart renders the templates with the few functions that they use. It is not Helm: it
// shows that they are well formed and make the objects that they should.
func chart(t *testing.T, change func(values map[string]any)) (all []map[string]any) {
	t.Helper()
	texts := rendered(t, change)
	for _, f := range slices.Sorted(maps.Keys(texts)) {
		if !strings.HasSuffix(f, "NOTES.txt") {
			all = append(all, documents(t, f, texts[f])...)
		}
	}
	return all
}

// rendered are the texts that the templates make, by file.
func rendered(t *testing.T, change func(values map[string]any)) map[string]string {
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
	all := map[string]string{}
	for _, f := range files {
		if strings.HasSuffix(f, ".tpl") {
			continue
		}
		var b strings.Builder
		if err := root.ExecuteTemplate(&b, f, data); err != nil {
			t.Fatal(err)
		}
		all[f] = b.String()
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
	if hook := fmt.Sprint(at(pod, "containers", "lifecycle", "preStop", "exec", "command")); hook != "[/trireme cluster drain]" || variables(set)["TRIREME_DRAIN"] != "5s" {
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
		set(values, "ctls", "tls", "clusterSecretName")
		set(values, "atls", "tls", "apiSecretName")
		set(values, "ca.crt", "tls", "apiCA")
		values["serviceMonitor"], values["replicas"] = true, 5
		values["extraEnv"] = []any{map[string]any{"name": "TRIREME_REGION", "value": "eu"}}
	})
	set := kind(t, all, "StatefulSet")
	v := variables(set)
	if v["TRIREME_PLAINTEXT"] != "" || v["TRIREME_RESP"] != "0.0.0.0:6379" || v["TRIREME_CLUSTER_CA"] != "/cluster-tls/ca.crt" || v["TRIREME_TLS_CERT"] != "/api-tls/tls.crt" || v["TRIREME_REGION"] != "eu" {
		t.Errorf("variables %v", v)
	}
	// The commands in the pod, preStop's first of all, find the node under a name of its certificate.
	if v["TRIREME_URL"] != "https://$(TRIREME_NODE_ID).trireme-nodes:8080" || v["TRIREME_CA"] != "/api-tls/ca.crt" {
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

// set changes a value of the chart by its path.
func set(values map[string]any, value any, path ...string) {
	for _, key := range path[:len(path)-1] {
		values, _ = values[key].(map[string]any)
	}
	values[path[len(path)-1]] = value
}

func TestChartServesRESPInBothForms(t *testing.T) {
	for name, c := range map[string]struct {
		resp, plain, tls bool
		address, secrets string
	}{
		"closed without TLS": {true, false, false, "", "http"},
		"unencrypted":        {true, true, false, "0.0.0.0:6379", "http,resp"},
		"with TLS":           {true, false, true, "0.0.0.0:6379", ""},
		"off":                {false, true, false, "", "http"},
	} {
		all := chart(t, func(values map[string]any) {
			values["resp"], values["respPlaintext"] = c.resp, c.plain
			if c.tls {
				set(values, "atls", "tls", "apiSecretName")
			}
		})
		v := variables(kind(t, all, "StatefulSet"))
		open := strings.Contains(rendered(t, func(values map[string]any) {
			values["resp"], values["respPlaintext"] = c.resp, c.plain
			if c.tls {
				set(values, "atls", "tls", "apiSecretName")
			}
		})["helm/trireme/templates/services.yaml"], "name: resp")
		if v["TRIREME_RESP"] != c.address || v["TRIREME_PLAINTEXT"] != c.secrets || open != (c.address != "") {
			t.Errorf("%s: %v, service %v", name, v, open)
		}
	}
}

func TestIngress(t *testing.T) {
	ingress := kind(t, chart(t, func(values map[string]any) {
		set(values, true, "ingress", "enabled")
		set(values, "nginx", "ingress", "className")
		set(values, "shop-tls", "ingress", "tlsSecretName")
	}), "Ingress")
	backend := at(ingress, "spec", "rules", "http", "paths", "backend", "service")
	if at(ingress, "spec", "ingressClassName") != "nginx" || at(ingress, "spec", "rules", "host") != "trireme.example.com" ||
		at(backend, "name") != "trireme" || at(backend, "port", "name") != "http" || at(ingress, "spec", "tls", "secretName") != "shop-tls" {
		t.Errorf("%v", ingress)
	}
}

// TestBackups: the nodes make them, and a job tries the newest one; its pods are none of the nodes.
func TestBackups(t *testing.T) {
	all := chart(t, func(values map[string]any) {
		set(values, "s3://kept/trireme", "backup", "to")
		set(values, "bucket", "backup", "secretName")
		set(values, "0 5 * * 0", "backup", "drill", "schedule")
	})
	nodes := kind(t, all, "StatefulSet")
	if v := variables(nodes); v["TRIREME_BACKUP_TO"] != "s3://kept/trireme" || v["TRIREME_BACKUP_KEEP"] != "14" {
		t.Errorf("variables %v", v)
	}
	sources, _ := at(nodes, "spec", "template", "spec", "containers", "envFrom").([]any)
	if len(sources) != 2 || at(sources[1], "secretRef", "name") != "bucket" {
		t.Errorf("the nodes have %v", sources)
	}
	job := kind(t, all, "CronJob")
	pod := at(job, "spec", "jobTemplate", "spec", "template")
	args := fmt.Sprint(at(pod, "spec", "containers", "args"))
	if at(job, "spec", "schedule") != "0 5 * * 0" || args != "[backup drill --from s3://kept/trireme --dir /work]" || at(pod, "spec", "restartPolicy") != "Never" {
		t.Errorf("%v", job)
	}
	if fmt.Sprint(at(pod, "metadata", "labels")) == fmt.Sprint(at(nodes, "spec", "selector", "matchLabels")) {
		t.Error("the job's pods are taken for nodes")
	}
	for _, one := range chart(t, nil) {
		if one["kind"] == "CronJob" || one["kind"] == "Ingress" {
			t.Errorf("a plain chart has %v", one["kind"])
		}
	}
}

func TestNotes(t *testing.T) {
	const path = "helm/trireme/templates/NOTES.txt"
	plain := rendered(t, nil)[path]
	for _, want := range []string{"3 nodes", "http://trireme.default:8080.\n", "The API is not encrypted", "Redis protocol is closed", "No backups are made"} {
		if !strings.Contains(plain, want) {
			t.Errorf("no %q in\n%s", want, plain)
		}
	}
	full := rendered(t, func(values map[string]any) {
		set(values, "atls", "tls", "apiSecretName")
		set(values, "s3://kept", "backup", "to")
		set(values, true, "ingress", "enabled")
	})[path]
	for _, want := range []string{"https://trireme.default:8080, and the Redis protocol at trireme.default:6379. Outside it is at http://trireme.example.com."} {
		if !strings.Contains(full, want) {
			t.Errorf("no %q in\n%s", want, full)
		}
	}
	if strings.Contains(full, "not encrypted") || strings.Contains(full, "No backups") {
		t.Errorf("warnings about what is there:\n%s", full)
	}
}
