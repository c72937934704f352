package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	gomod "golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// goModule is this repository as a Go module.
const goModule = "github.com/trireme-dev/trireme"

// moduleVersion is the version by which Go knows the commit: the tag, or a pseudo-version after the last one.
func moduleVersion(tag, last, commit string, when time.Time) string {
	if tag != "" {
		return tag
	}
	major, _, _ := strings.Cut(last, ".")
	return gomod.PseudoVersion(major, last, when, commit[:12])
}

// goProxy writes the module as a module proxy serves it, below the folder go: GOPROXY=file://.../go has "go get" find it. Its checksum
// is that of the commit, by whoever it is fetched.
func (r *release) goProxy() error {
	tag, _ := r.git("describe", "--tags", "--exact-match", "--match", "v[0-9]*")
	last, _ := r.git("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*")
	commit, err := r.git("rev-parse", "HEAD")
	if err != nil {
		return err
	}
	v := gomod.Version{Path: goModule, Version: moduleVersion(tag, last, commit, r.when)}
	mod, err := r.git("show", commit+":go.mod")
	if err != nil {
		return err
	}
	var all bytes.Buffer
	if err := r.zipModule(&all, v, commit); err != nil {
		return fmt.Errorf("the Go module: %w", err)
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{v.Version, r.when})
	if err != nil {
		return err
	}
	folder := filepath.Join("go", filepath.FromSlash(goModule), "@v")
	if err := os.MkdirAll(filepath.Join(r.out, folder), 0o755); err != nil {
		return err
	}
	for name, text := range map[string][]byte{
		"list": []byte(v.Version + "\n"), v.Version + ".info": info, v.Version + ".mod": []byte(mod + "\n"), v.Version + ".zip": all.Bytes(),
	} {
		if err := r.write(filepath.Join(folder, name), func() ([]byte, error) { return text, nil }); err != nil {
			return err
		}
	}
	return nil
}

// zipModule zips the files of a commit. It goes by "git archive" and a folder, since package zip knows no working trees of git.
func (r *release) zipModule(to io.Writer, v gomod.Version, commit string) error {
	folder, err := os.MkdirTemp("", "trireme-module-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	cmd := exec.Command("git", "archive", "--format=tar", commit)
	cmd.Dir = r.root
	files, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("git archive: %w", err)
	}
	for t := tar.NewReader(bytes.NewReader(files)); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := extract(folder, h, t); err != nil {
			return err
		}
	}
	return zip.CreateFromDir(to, v, folder)
}

// extract writes a regular file of an archive. A module has no others.
func extract(folder string, h *tar.Header, body io.Reader) error {
	if h.Typeflag != tar.TypeReg {
		return nil
	}
	path := filepath.Join(folder, filepath.FromSlash(h.Name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
