package layout

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// notYet are imports that break the rules today. An entry that is no longer needed fails
// the test, so that the list only shrinks.
var notYet = map[string]string{}

func TestImportsFollowTheRules(t *testing.T) {
	files := repository(t)
	used := map[string]bool{}
	for _, f := range files {
		for _, folder := range f.Imports {
			why := Check(f, folder)
			if why != "" && notYet[f.Folder] == folder {
				used[f.Folder] = true
				continue
			}
			if why != "" {
				t.Error(why)
			}
		}
	}
	for from, to := range notYet {
		if !used[from] {
			t.Errorf("%s no longer imports %s: remove the exception", from, to)
		}
	}
}

// TestLibrariesStayBehindTheirPackages: a library that has a package in front of it is imported by nobody else, and still by
// that package.
func TestLibrariesStayBehindTheirPackages(t *testing.T) {
	used := map[string]bool{}
	for _, f := range repository(t) {
		for _, path := range f.Others {
			used[path] = true
			if why := CheckLibrary(f, path); why != "" {
				t.Error(why)
			}
		}
	}
	for library := range Libraries {
		if !used[library] {
			t.Errorf("Libraries names %s, which nobody imports", library)
		}
	}
	for path, allowed := range map[string]bool{
		"github.com/hashicorp/raft": false, "github.com/hashicorp/raft/v9": false, "github.com/hashicorp/raft-boltdb/v2": false,
		"github.com/hashicorp/raftish": true, "net/http": true,
	} {
		if got := CheckLibrary(File{Path: "cluster/node.go", Folder: "cluster"}, path) == ""; got != allowed {
			t.Errorf("cluster may import %s: got %v, want %v", path, got, allowed)
		}
	}
}

// A rule that covers nothing, or allows what does not exist, is out of date.
func TestRulesNameExistingFolders(t *testing.T) {
	folders := map[string]bool{}
	for _, f := range repository(t) {
		folders[f.Folder] = true
	}
	exists := func(pattern string) bool {
		for folder := range folders {
			if covers(pattern, folder) {
				return true
			}
		}
		return false
	}
	for _, r := range Rules {
		if !exists(r.Folder+"/...") && !planned[r.Folder] {
			t.Errorf("the rule for %s covers no package", r.Folder)
		}
		for _, p := range slices.Concat(r.May, r.Never, r.Tests) {
			if name := strings.TrimSuffix(p, "/..."); !exists(p) && !planned[name] {
				t.Errorf("%s may import %s, which does not exist", r.Folder, p)
			}
		}
	}
	for _, p := range Support {
		if !exists(p) {
			t.Errorf("Support names %s, which does not exist", p)
		}
	}
}

// planned are folders whose rule is written before their code.
var planned = map[string]bool{"console": true, "scripts": true}

func TestEveryPackageHasADocFile(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range repository(t) {
		if f.Test || seen[f.Folder] {
			continue
		}
		seen[f.Folder] = true
		if _, err := os.Stat(filepath.Join(root, f.Folder, "doc.go")); err != nil {
			t.Errorf("%s has no doc.go: say what the package is for, its central types, its invariants and who may call it", f.Folder)
		}
	}
}

// Planted violations: the check finds what it is for.
func TestCheckFindsViolations(t *testing.T) {
	for _, c := range []struct {
		from, to string
		test, ok bool
	}{
		{"scheduler", "cluster", false, false},
		{"scheduler", "fsm/queue", false, true},
		{"resp", "httpapi/redis", false, false},
		{"httpapi", "cluster", false, false},
		{"httpapi/messages", "cluster/clustertest", false, false},
		{"httpapi", "cluster/clustertest", true, true},
		{"cluster", "fsm/command", false, false},
		{"cluster/clustertest", "jepsen/testcluster", false, false},
		{"cluster/clustertest", "fsm/command", false, true},
		{"fsm", "cluster", false, false},
		{"fsm/command", "fsm", false, false},
		{"fsm/queue", "fsm/workflow", false, false},
		{"fsm/glob", "fsm/glob/deeper", false, true},
		{"unknown", "fsm", false, false},
	} {
		f := File{Path: c.from + "/x.go", Folder: c.from, Test: c.test}
		if why := Check(f, c.to); (why == "") != c.ok {
			t.Errorf("%s imports %s (test %v): allowed %v, want %v: %s", c.from, c.to, c.test, why == "", c.ok, why)
		}
	}
}

func repository(t *testing.T) []File {
	t.Helper()
	files, err := Files(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 500 {
		t.Fatalf("only %d Go files found below %s", len(files), root)
	}
	return files
}
