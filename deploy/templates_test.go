package deploy

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestKubectlExample compares the file for `kubectl apply` with the chart's output. TRIREME_DEPLOY=write writes it.
func TestKubectlExample(t *testing.T) {
	const path = "kubernetes/trireme.yaml"
	texts := rendered(t, func(values map[string]any) {
		values["clusterSecretName"] = "trireme" // which the reader makes, with everything that is secret
		values["image"] = map[string]any{"repository": "registry.example.com/trireme", "tag": "", "pullPolicy": "IfNotPresent"}
	})
	var b strings.Builder
	b.WriteString(kubectlHead)
	for _, f := range []string{"services", "disruption", "networkpolicy", "statefulset"} {
		b.WriteString("---\n" + strings.Trim(texts["helm/trireme/templates/"+f+".yaml"], "\n") + "\n")
	}
	want := b.String()
	if os.Getenv("TRIREME_DEPLOY") == "write" {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if read(t, path) != want {
		t.Error("it is not what the chart makes: run TRIREME_DEPLOY=write go test -run TestKubectlExample ./deploy")
	}
	kinds := ""
	for _, one := range documents(t, path, want) {
		kinds += fmt.Sprint(one["kind"]) + " "
	}
	if kinds != "Service Service PodDisruptionBudget NetworkPolicy StatefulSet " {
		t.Error(kinds)
	}
}

// kubectlHead begins that file.
const kubectlHead = `# Three nodes, without Helm. Written from the chart in deploy/helm by a test: change the image, the namespace and what else you
# need here, or use the chart.
#
#   kubectl create secret generic trireme --from-literal=TRIREME_TOKEN=... --from-literal=TRIREME_ADMIN_TOKEN=... \
#     --from-literal=TRIREME_MESSAGES_TOKEN=... --from-literal=secret=$(head -c 32 /dev/urandom | base64)
#   kubectl apply -f deploy/kubernetes/trireme.yaml
#   kubectl rollout status statefulset/trireme
`

// TestCoolifyTemplate: one node with a health check, tokens that Coolify draws, and settings that there are.
func TestCoolifyTemplate(t *testing.T) {
	node := at(documents(t, "trireme.yaml", read(t, "coolify/trireme.yaml"))[0], "services", "trireme")
	list, _ := at(node, "environment").([]any)
	found := 0
	for _, one := range list {
		name, value, _ := strings.Cut(fmt.Sprint(one), "=")
		if strings.HasSuffix(name, "_TOKEN") {
			found++
			if !strings.HasPrefix(value, "$SERVICE_PASSWORD_64_") {
				t.Errorf("%v is not drawn", one)
			}
		}
	}
	if found != 3 || fmt.Sprint(at(node, "healthcheck", "test")) != "[CMD /trireme health]" || at(node, "read_only") != true {
		t.Errorf("%v", node)
	}
}

// TestDokkuSetup runs the script with DRY_RUN: the commands that it would give.
func TestDokkuSetup(t *testing.T) {
	c := exec.Command("dokku/setup.sh", "shop", "registry.example.com/trireme:1")
	c.Env = append(os.Environ(), "DRY_RUN=1")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{
		"dokku apps:create shop\n", "chown 65532:65532 /var/lib/dokku/data/storage/shop\ndokku storage:mount shop /var/lib/dokku/data/storage/shop:/data\n",
		"dokku checks:disable shop\n", "dokku git:from-image shop registry.example.com/trireme:1\n",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	tokens := map[string]bool{}
	for _, m := range regexp.MustCompile(`_TOKEN=(\S+)`).FindAllStringSubmatch(string(out), -1) {
		tokens[m[1]] = len(m[1]) >= 32
	}
	if len(tokens) != 3 {
		t.Errorf("tokens %v", tokens)
	}
}

// TestComposeWithTLS: every node has the certificate, and a health check that knows its authority.
func TestComposeWithTLS(t *testing.T) {
	services, _ := at(documents(t, "compose-tls.yml", read(t, "docker/compose-tls.yml"))[0], "services").(map[string]any)
	for name, s := range services { // unordered: each is looked at by itself
		env, _ := at(s, "environment").(map[string]any)
		if env["TRIREME_PLAINTEXT"] != "cluster" || env["TRIREME_TLS_CERT"] != "/certs/api.pem" || env["TRIREME_URL"] != "https://"+name+":8080" || env["TRIREME_CA"] != "/certs/ca.pem" {
			t.Errorf("%s: %v", name, env)
		}
	}
	if len(services) != 3 {
		t.Errorf("%d services", len(services))
	}
}

// TestHealthChecks: every package has one, and it is that of trireme health: the command, or the paths that it asks.
func TestHealthChecks(t *testing.T) {
	const want = "[CMD /trireme health]"
	for _, file := range []string{"docker/compose.yml", "docker/compose-dev.yml", "coolify/trireme.yaml"} {
		services, _ := at(documents(t, file, read(t, file))[0], "services").(map[string]any)
		for name, s := range services { // unordered: each is looked at by itself
			if got := fmt.Sprint(at(s, "healthcheck", "test")); got != want {
				t.Errorf("%s: the health check of %s is %s", file, name, got)
			}
		}
		if len(services) == 0 {
			t.Errorf("%s has no services", file)
		}
	}
	if !strings.Contains(read(t, "docker/Dockerfile"), `CMD ["/trireme", "health"]`) { // Dokku's too; scripts/release tests that of releases
		t.Error("the Dockerfile has no health check")
	}
	for name, all := range map[string][]map[string]any{"chart": chart(t, nil), "kubectl": documents(t, "trireme.yaml", read(t, "kubernetes/trireme.yaml"))} {
		node := at(kind(t, all, "StatefulSet"), "spec", "template", "spec", "containers")
		if at(node, "readinessProbe", "httpGet", "path") != "/readyz" || at(node, "livenessProbe", "httpGet", "path") != "/livez" {
			t.Errorf("%s: probes of other paths", name)
		}
	}
	if unit := read(t, "systemd/trireme.service"); !strings.Contains(unit, "Type=notify") || !strings.Contains(unit, "WatchdogSec=") {
		t.Error("systemd is not told whether the node is ready and alive")
	}
}

// TestSecretOfTheReadme checks that the chart and the file for kubectl read the secret that deploy/README.md tells the reader to make.
func TestSecretOfTheReadme(t *testing.T) {
	made := regexp.MustCompile(`(?s)kubectl create secret generic trireme .*?\n    helm`).FindString(read(t, "README.md"))
	for _, key := range []string{"TRIREME_TOKEN", "TRIREME_ADMIN_TOKEN", "TRIREME_MESSAGES_TOKEN", "secret"} {
		if !strings.Contains(made, "--from-literal="+key+"=") || !strings.Contains(kubectlHead, "--from-literal="+key+"=") {
			t.Errorf("the secret has no %s", key)
		}
	}
	if !strings.Contains(read(t, "kubernetes/trireme.yaml"), "value: /cluster-secret/secret\n") {
		t.Error("the nodes read another key")
	}
}
