package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const tags = "nomsgpack"

// platforms lists the platforms of the release. Nodes of a cluster run on Linux; macOS is for `dev`.
var platforms = []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}

type platform struct{ system, arch string }

// release is one build.
type release struct {
	root, out       string
	version, commit string
	when            time.Time // of the commit
}

func main() {
	out := flag.String("out", "bin/release", "folder of the results; it is emptied")
	only := flag.String("only", "", "one platform, such as linux/amd64")
	showVersion := flag.Bool("version", false, "print the version and end")
	dirty := flag.Bool("dirty", false, "build also if there are changes that are not committed")
	licensesTo := flag.String("licenses", "", "only write the licences of the linked modules to this file, and end")
	pagesOf := flag.String("manual", "", "only write the manual pages of this binary to -out, and end")
	flag.Parse()
	if *licensesTo != "" { // without git, as in the image's build
		exit(writeLicenses(".", *licensesTo))
	}
	r, err := newRelease(".", *out)
	switch {
	case err != nil:
	case *showVersion:
		fmt.Println(r.version)
	case *pagesOf != "":
		err = r.pages(*pagesOf)
	default:
		if err = r.committed(*dirty); err == nil {
			err = r.build(*only)
		}
	}
	exit(err)
}

// exit ends the program: with code 1 and one line if there is an error.
func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func newRelease(root, out string) (*release, error) {
	r := &release{root: root, out: out}
	stamp, err := r.git("log", "-1", "--format=%ct %H")
	if err != nil {
		return nil, err
	}
	at, commit, _ := strings.Cut(stamp, " ")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("time of the commit: %w", err)
	}
	r.when, r.commit = time.Unix(seconds, 0).UTC(), commit[:12]
	tag, _ := r.git("describe", "--tags", "--exact-match", "--match", "v[0-9]*")
	last, _ := r.git("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*")
	r.version = version(tag, last, commit, r.when)
	return r, nil
}

// version is the tag's without its v; between tags it is ordered after the last release:
// 0.1.0+git20261122.35ac9f1, or before any, 0~git20261122.35ac9f1.
func version(tag, last, commit string, when time.Time) string {
	if tag != "" {
		return strings.TrimPrefix(tag, "v")
	}
	suffix := "git" + when.Format("20060102") + "." + commit[:7]
	if last != "" {
		return strings.TrimPrefix(last, "v") + "+" + suffix
	}
	return "0~" + suffix
}

// committed refuses a working tree that is not the commit whose name the release has, unless dirty says that it may be another.
func (r *release) committed(dirty bool) error {
	changes, err := r.git("status", "--porcelain")
	if err != nil || changes == "" || dirty {
		return err
	}
	first, _, _ := strings.Cut(changes, "\n")
	return fmt.Errorf("there are changes that are not in commit %s, such as %q: commit them, or build with -dirty", r.commit, first)
}

func (r *release) git(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = r.root
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(text)), nil
}

func (r *release) build(only string) error {
	if err := errors.Join(os.RemoveAll(r.out), os.MkdirAll(r.out, 0o755)); err != nil {
		return err
	}
	host, err := r.compile(platform{"", ""})
	if err != nil {
		return err
	}
	modules, err := linked(r.root)
	if err != nil {
		return err
	}
	texts, err := r.legal(modules)
	if err != nil {
		return err
	}
	shared, err := r.shared(host)
	if err != nil {
		return err
	}
	for _, p := range platforms {
		if only != "" && only != p.system+"/"+p.arch {
			continue
		}
		if err := r.pack(p, shared, texts); err != nil {
			return fmt.Errorf("%s/%s: %w", p.system, p.arch, err)
		}
	}
	if err := os.Remove(host); err != nil {
		return err
	}
	license := texts[slices.IndexFunc(texts, func(f file) bool { return f.name == "LICENSE" })]
	if err := errors.Join(r.npmPackages(license), r.goProxy(), r.sbom(modules)); err != nil {
		return err
	}
	return r.checksums()
}

// legal returns the files about licences, which every archive and image has.
func (r *release) legal(modules []module) ([]file, error) {
	all := []file{{thirdParty, 0o644, licenses(modules)}}
	for _, name := range []string{"LICENSE", "NOTICE"} {
		text, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil {
			return nil, err
		}
		all = append(all, file{name, 0o644, text})
	}
	return all, nil
}

// pack builds a platform's archive and, for Linux, its image.
func (r *release) pack(p platform, shared, texts []file) error {
	binary, err := r.compile(p)
	if err != nil {
		return err
	}
	body, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	if err := os.Remove(binary); err != nil {
		return err
	}
	name := fmt.Sprintf("trireme_%s_%s_%s", r.version, p.system, p.arch)
	files := slices.Concat([]file{{"trireme", 0o755, body}}, texts, shared)
	if err := r.write(name+".tar.gz", func() ([]byte, error) { return archive(name, files, r.when) }); err != nil || p.system != "linux" {
		return err
	}
	return r.write(name+".oci.tar", func() ([]byte, error) { return image(body, texts, p.arch, r.version, r.commit, r.when) })
}

func (r *release) write(name string, content func() ([]byte, error)) error {
	text, err := content()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return os.WriteFile(filepath.Join(r.out, name), text, 0o644)
}

// compile builds a static binary; the empty platform is this machine's.
func (r *release) compile(p platform) (string, error) {
	path, err := filepath.Abs(filepath.Join(r.out, "trireme_"+p.system+"_"+p.arch))
	if err != nil {
		return "", err
	}
	ldflags := fmt.Sprintf("-s -w -buildid= -X main.version=%s -X main.commit=%s", r.version, r.commit)
	cmd := exec.Command("go", "build", "-tags", tags, "-buildvcs=false", "-trimpath", "-ldflags", ldflags, "-o", path, "./cmd/trireme")
	cmd.Dir, cmd.Env = r.root, append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.system, "GOARCH="+p.arch)
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, text)
	}
	return path, nil
}

// shared are the files that every archive has: documents, units, manual pages and
// completions, the last two as the binary describes itself.
func (r *release) shared(binary string) ([]file, error) {
	var all []file
	for from, to := range map[string]string{
		"README.md": "README.md", "CHANGELOG.md": "CHANGELOG.md", "SECURITY.md": "SECURITY.md", "SUPPORT.md": "SUPPORT.md",
		"deploy/systemd/trireme.service": "systemd/trireme.service", "deploy/systemd/trireme.yaml": "systemd/trireme.yaml",
		"deploy/systemd/trireme.logrotate": "systemd/trireme.logrotate",
	} {
		text, err := os.ReadFile(filepath.Join(r.root, from))
		if err != nil {
			return nil, err
		}
		all = append(all, file{to, 0o644, text})
	}
	for shell, name := range map[string]string{"bash": "completions/trireme.bash", "zsh": "completions/_trireme", "fish": "completions/trireme.fish"} {
		text, err := exec.Command(binary, "completion", shell).Output()
		if err != nil {
			return nil, fmt.Errorf("completion %s: %w", shell, err)
		}
		all = append(all, file{name, 0o644, text})
	}
	pages, err := r.manual(binary)
	all = append(all, pages...)
	slices.SortFunc(all, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return all, err
}

// manual returns the manual pages of a binary.
func (r *release) manual(binary string) ([]file, error) {
	return manual(func(words ...string) (string, error) {
		text, err := exec.Command(binary, append(words, "--help")...).Output()
		return string(text), err
	}, r.version, r.when)
}

// pages writes the manual pages of a binary as Debian wants them: compressed, without a time.
func (r *release) pages(binary string) error {
	all, err := r.manual(binary)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	for _, f := range all {
		if err := r.write(filepath.Base(f.name)+".gz", func() ([]byte, error) { return compressed(f.body) }); err != nil {
			return err
		}
	}
	return nil
}

// checksums writes SHA256SUMS, and with a key SHA256SUMS.sig: the Ed25519 signature in base64.
func (r *release) checksums() error {
	var sums bytes.Buffer
	err := fs.WalkDir(os.DirFS(r.out), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(r.out, filepath.FromSlash(name)))
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(text), name)
		return err
	})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), sums.Bytes(), 0o644); err != nil {
		return err
	}
	signature, err := sign(os.Getenv("TRIREME_RELEASE_KEY"), sums.Bytes())
	if err != nil || signature == "" {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS.sig"), []byte(signature+"\n"), 0o644)
}

// sign returns the signature of text by a key in base64, or "" without a key.
func sign(key string, text []byte) (string, error) {
	if key == "" {
		fmt.Fprintln(os.Stderr, "release: not signed: TRIREME_RELEASE_KEY is not set")
		return "", nil
	}
	seed, err := base64.StdEncoding.DecodeString(key)
	if err != nil || len(seed) != ed25519.SeedSize {
		return "", fmt.Errorf("TRIREME_RELEASE_KEY must be %d bytes in base64, got %d bytes", ed25519.SeedSize, len(seed))
	}
	return base64.StdEncoding.EncodeToString(ed25519.Sign(ed25519.NewKeyFromSeed(seed), text)), nil
}
