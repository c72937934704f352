package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLinkedModulesHaveLicenses reads the licence of every module that the binary links. A module without one fails it, and so
// does a licence of an unknown kind.
func TestLinkedModulesHaveLicenses(t *testing.T) {
	modules, err := linked("../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(modules) < 50 {
		t.Fatalf("%d modules are linked, want at least 50", len(modules))
	}
	text := string(licenses(modules))
	list, texts, _ := strings.Cut(text, "\n"+strings.Repeat("-", 80)+"\n")
	for _, m := range modules {
		if !strings.Contains(list, "\n"+m.Path+" ") || !strings.Contains("\n"+texts, "\n"+m.Path+"\n") {
			t.Errorf("%s is not in the list, or has no text", m.Path)
		}
		if !strings.Contains(texts, strings.TrimRight(m.text, "\n")) {
			t.Errorf("the licence text of %s is missing", m.Path)
		}
		if m.licence == "MPL-2.0" && !strings.Contains(list, "https://proxy.golang.org/"+escaped(m.Path)+"/@v/"+escaped(m.Version)+".zip") {
			t.Errorf("%s does not say where its source is", m.Path)
		}
	}
}

func TestModulesWithoutLicenseAreRefused(t *testing.T) {
	m := module{Path: "example.org/m", Version: "v1.0.0", Dir: t.TempDir()}
	if err := m.read(); err == nil || !strings.Contains(err.Error(), "example.org/m") {
		t.Errorf("without a file: got %v, want an error that names the module", err)
	}
	if err := os.WriteFile(filepath.Join(m.Dir, "LICENSE"), []byte("do what you like"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := m.read(); err == nil || !strings.Contains(err.Error(), "unknown licence") {
		t.Errorf("with an unknown licence: got %v, want an error that says so", err)
	}
	if err := os.WriteFile(filepath.Join(m.Dir, "LICENSE"), []byte("Permission is hereby granted, free of charge"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := m.read(); err != nil || m.licence != "MIT" {
		t.Errorf("with an MIT licence: got %q, %v", m.licence, err)
	}
}

// TestNoticePointsToTheLicenses holds NOTICE small: the texts are in the file that archives, images and packages have.
func TestNoticePointsToTheLicenses(t *testing.T) {
	text, err := os.ReadFile("../../NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n > 20 || !strings.Contains(string(text), thirdParty) {
		t.Errorf("NOTICE has %d lines and must have at most 20, and must name %s", n, thirdParty)
	}
	for _, name := range []string{"deploy/docker/Dockerfile", "deploy/debian/build.sh"} {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "go run ./scripts/release -licenses ") {
			t.Errorf("%s does not write %s", name, thirdParty)
		}
	}
}

func TestKind(t *testing.T) {
	for text, want := range map[string]string{
		"Mozilla Public License, version 2.0":                          "MPL-2.0",
		"Apache License\n Version 2.0":                                 "Apache-2.0",
		"Permission is hereby granted,\nfree of charge, to any person": "MIT",
		"do what you like":                                             "",
	} {
		if got := kind(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestEscaped(t *testing.T) {
	if got := escaped("github.com/BurntSushi/toml"); got != "github.com/!burnt!sushi/toml" {
		t.Error(got)
	}
}
