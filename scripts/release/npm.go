package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// manifest is what a package.json says of a package's archive.
type manifest struct {
	Name, Version string
	Private       bool
	Files         []string // and folders; the others are left out
}

// npmPackages packs the packages of clients that are not private.
func (r *release) npmPackages(license file) error {
	list, err := filepath.Glob(filepath.Join(r.root, "clients", "*", "package.json"))
	if err != nil {
		return err
	}
	slices.Sort(list)
	for _, path := range list {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var m manifest
		if err := json.Unmarshal(text, &m); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if m.Private {
			continue
		}
		if err := r.npmPackage(filepath.Dir(path), &m, []file{license, {"package.json", 0o644, text}}); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	return nil
}

// npmPackage packs one, as npm does: its files in a folder named package.
func (r *release) npmPackage(folder string, m *manifest, files []file) error {
	if m.Name == "" || m.Version == "" || len(m.Files) == 0 {
		return fmt.Errorf("package.json needs name, version and files")
	}
	for _, name := range m.Files {
		err := filepath.WalkDir(filepath.Join(folder, name), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			body, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			within, err := filepath.Rel(folder, path)
			files = append(files, file{filepath.ToSlash(within), 0o644, body})
			return err
		})
		if err != nil {
			return err
		}
	}
	name := strings.ReplaceAll(strings.TrimPrefix(m.Name, "@"), "/", "-") + "-" + m.Version + ".tgz"
	return r.write(name, func() ([]byte, error) { return archive("package", files, r.when) })
}
