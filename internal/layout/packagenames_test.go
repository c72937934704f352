package layout

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"testing"
)

// sharedNames are the names that stand for the same thing in each package that has it.
var sharedNames = map[string]string{
	"main":     "a program",
	"workflow": "runs: in the state machine, and for users, whose programs see no other package of this name",
	"spectest": "the tests of an API against its specification, beside the API",
}

// No two packages share a name for two things: a reader takes search.Index of one file for that of another.
func TestPackagesHaveNamesOfTheirOwn(t *testing.T) {
	folders := map[string][]string{}
	for _, f := range repository(t) {
		if f.Test {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, f.Path), nil, parser.PackageClauseOnly)
		if err != nil {
			t.Fatal(err)
		}
		name := parsed.Name.Name
		if base := filepath.Base(f.Folder); name != "main" && name != base {
			t.Errorf("%s is of the package %s: name it %s, as its folder", f.Path, name, base)
		}
		if !slices.Contains(folders[name], f.Folder) {
			folders[name] = append(folders[name], f.Folder)
		}
	}
	for name, all := range folders {
		if len(all) > 1 && sharedNames[name] == "" {
			t.Errorf("the package name %s is that of %q: rename all but one", name, all)
		}
	}
	for name := range sharedNames {
		if len(folders[name]) < 2 {
			t.Errorf("%s is no longer the name of several packages: remove the exception", name)
		}
	}
}
