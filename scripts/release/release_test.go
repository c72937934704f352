package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var full = flag.Bool("full", false, "build the whole release twice and compare")

var when = time.Unix(1_790_000_000, 0).UTC()

// The same commit makes the same bytes.
func TestReleaseIsReproducible(t *testing.T) {
	if !*full {
		t.Skip("builds five binaries twice: go test ./scripts/release -full")
	}
	var sums []string
	for range 2 {
		r, err := newRelease("../..", t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if err := r.build(""); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(r.out, "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, string(text))
	}
	if sums[0] != sums[1] || strings.Count(sums[0], "\n") != 12 {
		t.Fatalf("two builds differ, or are not of 12 files:\n%s\n%s", sums[0], sums[1])
	}
}

// The short form: everything but the compiler, which -trimpath and -buildid= make repeatable.
func TestArchivesAreReproducible(t *testing.T) {
	files := []file{{"trireme", 0o755, []byte("binary")}, {"man/trireme.1", 0o644, []byte(".TH")}}
	first, err := archive("trireme_1", files, when)
	if err != nil {
		t.Fatal(err)
	}
	second, _ := archive("trireme_1", files, when)
	if !bytes.Equal(first, second) {
		t.Error("two archives differ")
	}
	z, err := gzip.NewReader(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	h := contents(t, z)
	if h["trireme_1/trireme"] != "binary" || h["trireme_1/man/trireme.1"] != ".TH" {
		t.Errorf("the archive holds %v", h)
	}
}

// An image is a tree of blobs that name each other by digest.
func TestImage(t *testing.T) {
	texts := []file{{thirdParty, 0o644, []byte("texts")}}
	text, err := image([]byte("binary"), texts, "arm64", "1.2.3", "abc", when)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := image([]byte("binary"), texts, "arm64", "1.2.3", "abc", when); !bytes.Equal(text, again) {
		t.Error("two images differ")
	}
	blobs := contents(t, bytes.NewReader(text))
	get := func(d descriptor) []byte {
		body, ok := blobs["blobs/sha256/"+strings.TrimPrefix(d.Digest, "sha256:")]
		if !ok || len(body) != d.Size || digest([]byte(body)) != d.Digest {
			t.Fatalf("%+v is not there, or is another", d)
		}
		return []byte(body)
	}
	var index struct{ Manifests []descriptor }
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	decode(t, []byte(blobs["index.json"]), &index)
	decode(t, get(index.Manifests[0]), &manifest)
	if name := index.Manifests[0].Annotations["org.opencontainers.image.ref.name"]; name != "trireme:1.2.3" {
		t.Errorf("the name is %s", name)
	}
	if p := index.Manifests[0].Platform; p.Architecture != "arm64" || p.OS != "linux" {
		t.Errorf("the platform is %+v", p)
	}
	var config struct {
		Config struct {
			User        string
			Entrypoint  []string
			Healthcheck struct {
				Test     []string
				Interval time.Duration
			}
		}
		Rootfs struct {
			DiffIDs []string `json:"diff_ids"`
		}
	}
	decode(t, get(manifest.Config), &config)
	z, err := gzip.NewReader(bytes.NewReader(get(manifest.Layers[0])))
	if err != nil {
		t.Fatal(err)
	}
	layer, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if config.Config.User != "65532:65532" || config.Config.Entrypoint[0] != "/trireme" || config.Rootfs.DiffIDs[0] != digest(layer) {
		t.Errorf("the configuration is %+v", config)
	}
	if h := config.Config.Healthcheck; strings.Join(h.Test, " ") != "CMD /trireme health" || h.Interval != 10*time.Second {
		t.Errorf("the health check is %+v", h)
	}
	if h := contents(t, bytes.NewReader(layer)); h["trireme"] != "binary" || h[thirdParty] != "texts" {
		t.Errorf("the layer holds %v", h)
	}
}

// The names of images are references, whatever the version is.
func TestImageNames(t *testing.T) {
	reference := regexp.MustCompile(`^trireme:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`) // as the specification of distribution has it
	for _, v := range []string{"0.2.0", "0.1.0+git20260921.35ac9f1", "0~git20260921.35ac9f1", "0.2.0-rc.1"} {
		names := imageNames(v)
		if name := names["org.opencontainers.image.ref.name"]; !reference.MatchString(name) || names["io.containerd.image.name"] != "docker.io/library/"+name {
			t.Errorf("%s: %v", v, names)
		}
	}
}

func TestVersionsAreOrdered(t *testing.T) {
	commit := "35ac9f1b22d0e8"
	for _, c := range [][3]string{
		{"v0.2.0", "v0.2.0", "0.2.0"}, {"", "v0.1.0", "0.1.0+git20260921.35ac9f1"}, {"", "", "0~git20260921.35ac9f1"},
	} {
		if got := version(c[0], c[1], commit, when); got != c[2] {
			t.Errorf("tag %q after %q is %s, want %s", c[0], c[1], got, c[2])
		}
	}
}

func TestSignature(t *testing.T) {
	seed := bytes.Repeat([]byte{7}, ed25519.SeedSize)
	s, err := sign(base64.StdEncoding.EncodeToString(seed), []byte("sums"))
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := base64.StdEncoding.DecodeString(s)
	if key := ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey); !ed25519.Verify(key, []byte("sums"), raw) {
		t.Error("the signature does not verify")
	}
	if _, err := sign("short", nil); err == nil {
		t.Error("a key of the wrong length is accepted")
	}
}

// Pages are made of the help of every command but help and completion.
func TestManual(t *testing.T) {
	texts := map[string]string{
		"":        "A store\n\nAvailable Commands:\n  cluster     Show it\n  completion  Make it\n\nFlags:\n  -h, --help\n",
		"cluster": "Show a cluster\n\n.leading dot\n",
	}
	pages, err := manual(func(words ...string) (string, error) { return texts[strings.Join(words, " ")], nil }, "1.0", when)
	if err != nil || len(pages) != 2 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	if p := string(pages[1].body); pages[1].name != "man/trireme-cluster.1" || !strings.Contains(p, `trireme-cluster \- Show a cluster`) || !strings.Contains(p, "\n\\&.leading dot\n") {
		t.Errorf("%s:\n%s", pages[1].name, p)
	}
}

func TestSBOM(t *testing.T) {
	text, err := spdx([]module{{Path: "The Go standard library", licence: "BSD-3-Clause"}, {Path: "example.org/Some/m", Version: "v1.0.0", licence: "MIT"}}, "1.0", "abc", when)
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		SpdxVersion string
		Packages    []spdxPackage
	}
	decode(t, text, &d)
	if d.SpdxVersion != "SPDX-2.3" || len(d.Packages) != 2 || d.Packages[1].Name != "example.org/Some/m" || d.Packages[1].Licence != "MIT" ||
		d.Packages[1].Location != "https://proxy.golang.org/example.org/!some/m/@v/v1.0.0.zip" {
		t.Errorf("%s", text)
	}
}

func decode(t *testing.T, text []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

func contents(t *testing.T, r io.Reader) map[string]string {
	t.Helper()
	all := map[string]string{}
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		if !h.ModTime.Equal(when) {
			t.Errorf("%s has the time %v", h.Name, h.ModTime)
		}
		all[h.Name] = string(body)
	}
}

// A release has the name of a commit, so it is built of that and nothing else.
func TestChangesThatAreNotCommitted(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	dir := t.TempDir()
	r := &release{root: dir}
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "--allow-empty", "-m", "first"}} {
		if _, err := r.git(args...); err != nil {
			t.Fatal(err)
		}
	}
	r, err := newRelease(dir, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.committed(false); err != nil {
		t.Errorf("the commit itself: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "new.go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.committed(false); err == nil || !strings.Contains(err.Error(), "new.go") {
		t.Errorf("with a new file: %v", err)
	}
	if err := r.committed(true); err != nil {
		t.Errorf("with -dirty: %v", err)
	}
}
