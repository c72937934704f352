package main

import (
	"runtime/debug"
	"testing"
)

// TestVersionOfAnInstalledBinary: what Go notes of a module is the version that the Makefile gives the same commit.
func TestVersionOfAnInstalledBinary(t *testing.T) {
	for _, c := range []struct{ module, revision, version, commit string }{
		{"v0.2.0", "", "0.2.0", "unknown"},
		{"v0.2.0", "35ac9f1abcdef0123456", "0.2.0", "35ac9f1abcde"},
		{"v0.2.0-rc.1", "", "0.2.0-rc.1", "unknown"},
		{"v0.1.1-0.20261122224003-35ac9f1abcde", "", "0.1.0+git20261122.35ac9f1", "35ac9f1abcde"},
		{"v0.1.1-0.20261122224003-35ac9f1abcde+dirty", "", "0.1.0+git20261122.35ac9f1", "35ac9f1abcde"},
		{"v0.0.0-20261122224003-35ac9f1abcde", "", "0~git20261122.35ac9f1", "35ac9f1abcde"},
		{"v0.2.0-rc.1.0.20261122224003-35ac9f1abcde", "", "0.2.0-rc.1.0.20261122224003-35ac9f1abcde", "35ac9f1abcde"},
		{"(devel)", "35ac9f1abcdef0123456", "dev", "35ac9f1abcde"},
		{"", "", "dev", "unknown"},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: c.module}}
		if c.revision != "" {
			info.Settings = []debug.BuildSetting{{Key: "vcs.revision", Value: c.revision}}
		}
		if version, commit := buildVersion(info); version != c.version || commit != c.commit {
			t.Errorf("%s: %s of commit %s, want %s of %s", c.module, version, commit, c.version, c.commit)
		}
	}
}
