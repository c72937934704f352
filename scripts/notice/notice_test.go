package main

import (
	"bytes"
	"os"
	"testing"
)

// NOTICE names the modules that the binary links today.
func TestNoticeIsCurrent(t *testing.T) {
	want, err := os.ReadFile("../../NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := write(&got, "../.."); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Fatal("NOTICE is out of date: make notice")
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
