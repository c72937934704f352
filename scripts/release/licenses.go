package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// thirdParty is the file that every archive, package and image has: the licences of the modules that the binary links.
const thirdParty = "THIRD_PARTY_LICENSES"

// module is a linked module as `go list` describes it, with its licence: the SPDX name and the text.
type module struct {
	Path, Version, Dir string
	licence, text      string
}

// writeLicenses writes the licences of the modules that the repository at root links into a file.
func writeLicenses(root, path string) error {
	modules, err := linked(root)
	if err != nil {
		return err
	}
	return os.WriteFile(path, licenses(modules), 0o644)
}

// licenses lists the modules with the names of their licences, where to get the source of those under the Mozilla Public
// License, and each licence text once, after the modules that it covers.
func licenses(modules []module) []byte {
	var out bytes.Buffer
	out.WriteString(head)
	for _, m := range modules {
		fmt.Fprintf(&out, "%-60s %-22s %s\n", m.Path, m.Version, m.licence)
	}
	out.WriteString(source)
	for _, m := range modules {
		if m.licence == "MPL-2.0" {
			fmt.Fprintf(&out, "https://proxy.golang.org/%s/@v/%s.zip\n", escaped(m.Path), escaped(m.Version))
		}
	}
	texts(&out, modules)
	return out.Bytes()
}

const head = `Trireme
Copyright 2026 The Trireme authors

Licensed under the Apache License, Version 2.0 (LICENSE). The binary links the modules
below, each under the licence beside it. Their texts follow.

`

const source = `
The source of the modules under the Mozilla Public License 2.0, unmodified, is at:

`

// texts writes each licence text once, with the modules that it covers.
func texts(out io.Writer, modules []module) {
	covers := map[string][]string{}
	var order []string
	for _, m := range modules {
		if covers[m.text] == nil {
			order = append(order, m.text)
		}
		covers[m.text] = append(covers[m.text], m.Path)
	}
	for _, text := range order {
		fmt.Fprintf(out, "\n%s\n%s\n\n%s\n", strings.Repeat("-", 80), strings.Join(covers[text], "\n"), strings.TrimRight(text, "\n"))
	}
}

// linked returns the modules of the binary on all platforms that are released, by path.
func linked(root string) ([]module, error) {
	seen := map[string]module{}
	for _, system := range []string{"linux", "darwin"} {
		if err := list(root, system, seen); err != nil {
			return nil, err
		}
	}
	standard, err := standardLibrary()
	if err != nil {
		return nil, err
	}
	all := []module{standard}
	for _, m := range seen {
		if err := m.read(); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// standardLibrary is Go itself, whose licence covers what every binary links.
func standardLibrary() (module, error) {
	dir, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return module{}, fmt.Errorf("go env: %w", err)
	}
	m := module{Path: "The Go standard library", Dir: strings.TrimSpace(string(dir))}
	return m, m.read()
}

func list(root, system string, seen map[string]module) error {
	cmd := exec.Command("go", "list", "-deps", "-tags", tags, "-f", `{{with .Module}}{{if not .Main}}{"Path":{{printf "%q" .Path}},"Version":{{printf "%q" .Version}},"Dir":{{printf "%q" .Dir}}}{{end}}{{end}}`, "./cmd/trireme")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
	var problem bytes.Buffer
	cmd.Stderr = &problem
	text, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list: %w: %s", err, &problem)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	for {
		var m module
		if err := d.Decode(&m); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		seen[m.Path] = m
	}
}

// read reads the module's licence and names it.
func (m *module) read() error {
	for _, name := range []string{"LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE", "COPYING", "License", "LICENSE.MIT"} {
		text, err := os.ReadFile(filepath.Join(m.Dir, name))
		if err != nil {
			continue
		}
		m.text = strings.ReplaceAll(string(text), "\r\n", "\n")
		if notice, err := os.ReadFile(filepath.Join(m.Dir, "NOTICE")); err == nil {
			m.text += "\n" + strings.ReplaceAll(string(notice), "\r\n", "\n")
		}
		m.licence = kind(m.text)
		if m.licence == "" {
			return fmt.Errorf("%s: %s has an unknown licence: read it and add it to kind", m.Path, name)
		}
		return nil
	}
	return fmt.Errorf("%s %s has no licence file in %s", m.Path, m.Version, m.Dir)
}

// kind returns the SPDX name of a licence text, or "".
func kind(text string) string {
	words := strings.Join(strings.Fields(text), " ")
	has := func(s string) bool { return strings.Contains(words, s) }
	switch {
	case has("Mozilla Public License") && has("2.0"):
		return "MPL-2.0"
	case has("Apache License") && has("Version 2.0"):
		return "Apache-2.0"
	case has("Redistribution and use in source and binary forms") && (has("Neither the name") || has("may not be used to endorse") || has("names of its contributors")):
		return "BSD-3-Clause"
	case has("Redistribution and use in source and binary forms"):
		return "BSD-2-Clause"
	case has("Permission is hereby granted, free of charge"):
		return "MIT"
	case has("Permission to use, copy, modify, and/or distribute this software"), has("Permission to use, copy, modify, and distribute this software"):
		return "ISC"
	}
	return ""
}
