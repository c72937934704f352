package deploy

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// documents are the YAML documents of a text.
func documents(t *testing.T, name, text string) (all []map[string]any) {
	t.Helper()
	d := yaml.NewDecoder(strings.NewReader(text))
	for {
		var one map[string]any
		err := d.Decode(&one)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, text)
		}
		if len(one) > 0 {
			all = append(all, one)
		}
	}
}

// at follows keys into a tree; a list is entered at its first item.
func at(tree any, keys ...string) any {
	for _, key := range keys {
		if list, is := tree.([]any); is && len(list) > 0 {
			tree = list[0]
		}
		m, _ := tree.(map[string]any)
		tree = m[key]
	}
	return tree
}

func TestYAMLIsRead(t *testing.T) {
	count := 0
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && !strings.Contains(path, "templates") && (strings.HasSuffix(path, ".yml") || strings.HasSuffix(path, ".yaml")) {
			count++
			if len(documents(t, path, read(t, path))) == 0 {
				t.Errorf("%s is empty", path)
			}
		}
		return err
	})
	if err != nil || count < 6 {
		t.Errorf("%d files, %v", count, err)
	}
}

// TestDockerfile: the image is the static binary, certificates, and a user who isn't root.
func TestDockerfile(t *testing.T) {
	text := read(t, "docker/Dockerfile")
	_, last, found := strings.Cut(text, "\nFROM scratch\n")
	if !found || strings.Contains(last, "\nFROM ") || strings.Contains(last, "\nRUN ") {
		t.Error("the last stage isn't scratch, or runs something there")
	}
	for _, want := range []string{"ca-certificates.crt", "USER 65532:65532", "VOLUME /data", `ENTRYPOINT ["/trireme"]`, "STOPSIGNAL SIGTERM"} {
		if !strings.Contains(last, want) {
			t.Errorf("no %q in the last stage", want)
		}
	}
	if !strings.Contains(text, "CGO_ENABLED=0 go build -tags nomsgpack") {
		t.Error("the binary is built otherwise than by make")
	}
	if !strings.Contains(read(t, "../scheduler/cron/parse.go"), `_ "time/tzdata"`) {
		t.Error("time zones are not in the binary")
	}
}

// TestComposeNodesAgree: three nodes, each with its own id, addresses and volume, and the
// same list.
func TestComposeNodesAgree(t *testing.T) {
	tree := documents(t, "compose.yml", read(t, "docker/compose.yml"))[0]
	services, _ := at(tree, "services").(map[string]any)
	if len(services) != 3 {
		t.Fatalf("%d services", len(services))
	}
	for name, s := range services { // unordered: each is looked at by itself
		env, _ := at(s, "environment").(map[string]any)
		list, _ := env["TRIREME_INITIAL_CLUSTER"].(string)
		advertised, _ := env["TRIREME_CLUSTER_ADVERTISE"].(string)
		if env["TRIREME_NODE_ID"] != name || !strings.Contains(list, name+"="+advertised) || advertised == "" {
			t.Errorf("%s: %v", name, env)
		}
		volumes, _ := at(s, "volumes").([]any)
		if len(volumes) != 1 || volumes[0] != name+":/data" || at(s, "read_only") != true {
			t.Errorf("%s: volumes %v", name, volumes)
		}
	}
}

// TestVariablesAreFlags: every variable of the nodes' settings is a flag, and so is every key
// of the packaged settings. The flags stand in docs/operations.md, which a test holds to
// them.
func TestVariablesAreFlags(t *testing.T) {
	operations := read(t, "../docs/operations.md")
	known := func(flag string) bool { return strings.Contains(operations, "`--"+flag) }
	variable := regexp.MustCompile(`\bTRIREME_[A-Z_]+\b`)
	for _, path := range []string{"docker/Dockerfile", "docker/compose.yml", "docker/compose-dev.yml", "docker/compose-tls.yml", "helm/trireme/templates/statefulset.yaml", "kubernetes/trireme.yaml", "coolify/trireme.yaml", "dokku/setup.sh", "debian/postinst"} {
		for _, v := range variable.FindAllString(read(t, path), -1) {
			flag := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(v, "TRIREME_")), "_", "-")
			if !known(flag) && !strings.Contains(operations, "`"+v+"`") {
				t.Errorf("%s: %s is neither a flag nor a credential", path, v)
			}
		}
	}
	for key := range documents(t, "trireme.yaml", read(t, "systemd/trireme.yaml"))[0] { // unordered: each by itself
		if !known(key) {
			t.Errorf("trireme.yaml: %s is no flag", key)
		}
	}
}

func TestUnit(t *testing.T) {
	text := read(t, "systemd/trireme.service")
	for _, want := range []string{"Type=notify", "Environment=TRIREME_DRAIN=5s", "WatchdogSec=", "User=trireme", "ExecStart=/usr/bin/trireme serve --config /etc/trireme/trireme.yaml", "NoNewPrivileges=yes", "AF_UNIX"} {
		if !strings.Contains(text, want) {
			t.Errorf("the unit has no %s", want)
		}
	}
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("no systemd-analyze")
	}
	out, err := exec.Command("systemd-analyze", "verify", "systemd/trireme.service").CombinedOutput()
	for line := range strings.Lines(string(out)) { // the binary isn't installed here
		if strings.Contains(line, "trireme.service") && !strings.Contains(line, "/usr/bin/trireme is not executable") {
			t.Errorf("systemd-analyze: %s (%v)", line, err)
		}
	}
}

// TestDebianPackage builds the package with this test as its binary, looks into it, and
// installs it into a folder.
func TestDebianPackage(t *testing.T) {
	for _, tool := range []string{"dpkg-deb", "dpkg", "gzip", "install", "realpath"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("no " + tool)
		}
	}
	dir := t.TempDir()
	run := func(env []string, name string, args ...string) string {
		t.Helper()
		c := exec.Command(name, args...)
		c.Env = append(os.Environ(), env...)
		var out, failed bytes.Buffer
		c.Stdout, c.Stderr = &out, &failed
		if err := c.Run(); err != nil {
			t.Fatalf("%s %v: %v\n%s%s", name, args, err, out.String(), failed.String())
		}
		return out.String()
	}
	small := filepath.Join(dir, "trireme") // any program will do
	program := "#!/bin/sh\ncase $* in *--help) echo A store ;; *) echo '{\"version\":\"v1.2.3-4-gabc_def\"}' ;; esac\n"
	if err := os.WriteFile(small, []byte(program), 0o755); err != nil {
		t.Fatal(err)
	}
	run([]string{"BIN=" + small, "OUT=" + dir, "ARCH=all"}, "debian/build.sh")
	deb := filepath.Join(dir, "trireme_1.2.3-4-gabc-def_all.deb")
	list := run(nil, "dpkg-deb", "-c", deb)
	for _, want := range []string{
		"-rwxr-xr-x root/root", "./usr/bin/trireme\n", "./lib/systemd/system/trireme.service\n", "./etc/trireme/trireme.yaml\n", "./etc/logrotate.d/trireme\n",
		"./usr/share/doc/trireme/upgrading.md\n", "./usr/share/doc/trireme/examples/grafana.json\n", "./usr/share/doc/trireme/changelog.gz\n", "./usr/share/doc/trireme/CHANGELOG.md.gz\n",
		"./usr/share/doc/trireme/copyright\n", "./usr/share/doc/trireme/NOTICE\n", "./usr/share/doc/trireme/THIRD_PARTY_LICENSES.gz\n", "./usr/share/man/man1/trireme.1.gz\n",
		"./usr/share/bash-completion/completions/trireme\n", "./usr/share/zsh/vendor-completions/_trireme\n", "./usr/share/fish/vendor_completions.d/trireme.fish\n",
	} {
		if !strings.Contains(list, want) {
			t.Errorf("no %q in the package:\n%s", want, list)
		}
	}
	if about := run(nil, "dpkg-deb", "-I", deb); strings.Contains(about, "@") && !strings.Contains(about, "@trireme") || !strings.Contains(about, "Version: 1.2.3-4-gabc-def") {
		t.Errorf("control: %s", about)
	}
	if os.Getuid() != 0 {
		t.Skip("only root can install packages")
	}
	root := filepath.Join(dir, "root")
	for _, sub := range []string{"var/lib/dpkg/updates", "var/lib/dpkg/info", "var/lib/dpkg/triggers"} {
		if err := os.MkdirAll(filepath.Join(root, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	dpkg := []string{"--root=" + root, "--force-script-chrootless", "--force-not-root", "--force-depends", "--log=" + filepath.Join(dir, "log")}
	run(nil, "dpkg", append(dpkg, "-i", deb)...)
	for _, path := range []string{"usr/bin/trireme", "etc/trireme/trireme.yaml", "etc/trireme/environment"} {
		if _, err := os.Stat(filepath.Join(root, path)); err != nil {
			t.Error(err)
		}
	}
	if info, err := os.Stat(filepath.Join(root, "etc/trireme/environment")); err == nil && info.Mode().Perm() != 0o600 {
		t.Errorf("secrets have mode %s", info.Mode())
	}
	// An upgrade keeps what the operator wrote, and the data; so does a removal. A purge leaves nothing.
	kept := []string{"etc/trireme/trireme.yaml", "etc/trireme/environment", "var/lib/trireme/identity", "var/log/trireme/audit.json"}
	for _, path := range kept {
		name := filepath.Join(root, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte("of the operator"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	run([]string{"BIN=" + small, "OUT=" + dir, "ARCH=all", "VERSION=1.3"}, "debian/build.sh")
	for _, args := range [][]string{{"--force-confold", "-i", filepath.Join(dir, "trireme_1.3_all.deb")}, {"-r", "trireme"}} {
		run(nil, "dpkg", append(dpkg, args...)...)
		for _, path := range kept {
			if text := read(t, filepath.Join(root, path)); text != "of the operator" {
				t.Errorf("after dpkg %v %s is %q", args, path, text)
			}
		}
	}
	run(nil, "dpkg", append(dpkg, "--purge", "trireme")...)
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if strings.Contains(strings.TrimPrefix(path, root), "trireme") {
			t.Errorf("the purge has left %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
