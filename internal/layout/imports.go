package layout

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Module is the import path of the repository.
const Module = "github.com/trireme-dev/trireme"

// A File is a Go file of the repository with the folders that it imports.
type File struct {
	Path    string // from the repository's root, with slashes
	Folder  string
	Test    bool // a test, by its name
	Imports []string
	Others  []string // the packages that it imports from elsewhere
}

// Files reads the imports of every Go file below root, whatever its build tags. Modules
// of their own (a go.mod below root), testdata and folders of other tools are left out.
func Files(root string) ([]File, error) {
	var all []File
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return enter(root, path, d.Name())
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		f, err := read(root, path)
		all = append(all, f)
		return err
	})
	return all, err
}

// enter returns fs.SkipDir for folders that are not part of the module.
func enter(root, path, name string) error {
	if path == root {
		return nil
	}
	if name == "testdata" || name == "node_modules" || name == "bin" || strings.HasPrefix(name, ".") {
		return fs.SkipDir
	}
	if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

func read(root, path string) (File, error) {
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return File{}, err
	}
	f := File{Path: filepath.ToSlash(rel), Folder: filepath.ToSlash(filepath.Dir(rel)), Test: strings.HasSuffix(path, "_test.go")}
	parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		return File{}, err
	}
	for _, i := range parsed.Imports {
		path := strings.Trim(i.Path.Value, `"`)
		if folder, ok := strings.CutPrefix(path, Module+"/"); ok {
			f.Imports = append(f.Imports, folder)
		} else {
			f.Others = append(f.Others, path)
		}
	}
	return f, nil
}

func matches(patterns []string, folder string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return covers(p, folder) })
}

// covers reports whether a pattern ("fsm" or "fsm/...") covers a folder.
func covers(pattern, folder string) bool {
	prefix, below := strings.CutSuffix(pattern, "/...")
	return folder == prefix || below && strings.HasPrefix(folder, prefix+"/")
}
