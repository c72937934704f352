package mutant

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// listed is a package as go list describes it.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// TestFaultsHaveTypes checks the types of every changed file, as the compiler would: a fault that leaves a variable or an
// import unused is noticed here and not in the run of all faults.
func TestFaultsHaveTypes(t *testing.T) {
	var folders []string
	for _, f := range append(All(), Poison) {
		for _, e := range f.Edits {
			folders = append(folders, "./"+path.Dir(e.File))
		}
	}
	slices.Sort(folders)
	all, err := list(append(slices.Compact(folders), "os", "syscall")...)
	if err != nil {
		t.Fatal(err)
	}
	c := &checker{fset: token.NewFileSet(), bare: map[string]*ast.File{}}
	c.imports = importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) {
		if all[path] == nil {
			return nil, fmt.Errorf("%s is no import of the product", path)
		}
		return os.Open(all[path].Export)
	})
	for _, f := range append(All(), Poison) {
		changed, err := f.Apply(root)
		if err != nil {
			continue // TestFaultsApply says so
		}
		for file, text := range changed {
			p := all["github.com/trireme-dev/trireme/"+path.Dir(file)]
			if p == nil {
				t.Fatalf("fault %s: %s is in no package", f.Name, file)
			}
			if err := c.check(p, path.Base(file), text); err != nil {
				t.Errorf("fault %s does not compile: %v", f.Name, err)
			}
		}
	}
	queue := all["github.com/trireme-dev/trireme/fsm/queue"]
	if err := c.check(queue, "move.go", "package queue\n\nfunc unused() {\n\tn := 1\n}\n"); err == nil {
		t.Error("an unused variable was not noticed")
	}
}

// list asks go list for packages and what they import, compiled.
func list(patterns ...string) (map[string]*listed, error) {
	argv := []string{"list", "-export", "-deps", "-tags", "nomsgpack", "-json=ImportPath,Dir,Export,GoFiles"}
	cmd := exec.Command("go", append(argv, patterns...)...)
	var problems bytes.Buffer
	cmd.Dir, cmd.Stderr = root, &problems
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, problems.Bytes())
	}
	all := map[string]*listed{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all[p.ImportPath] = &p
	}
}

// checker checks the types of single files.
type checker struct {
	fset    *token.FileSet
	imports types.Importer
	bare    map[string]*ast.File // sources without the bodies of functions
}

// check checks one file of a package that has text in place of its own. Of the others it reads the declarations only.
func (c *checker) check(p *listed, name, text string) error {
	var files []*ast.File
	for _, other := range p.GoFiles {
		if other == name {
			continue
		}
		file, err := c.declarations(filepath.Join(p.Dir, other))
		if err != nil {
			return err
		}
		files = append(files, file)
	}
	changed, err := parser.ParseFile(c.fset, "changed/"+name, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	var found []error
	conf := types.Config{Importer: c.imports, Error: func(err error) {
		var e types.Error
		if errors.As(err, &e) && strings.HasPrefix(c.fset.Position(e.Pos).Filename, "changed/") {
			found = append(found, err)
		}
	}}
	_, _ = conf.Check(p.ImportPath, c.fset, append(files, changed), nil)
	return errors.Join(found...)
}

// declarations reads a source without the bodies of its functions.
func (c *checker) declarations(path string) (*ast.File, error) {
	if file := c.bare[path]; file != nil {
		return file, nil
	}
	file, err := parser.ParseFile(c.fset, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			f.Body = nil
		}
	}
	c.bare[path] = file
	return file, nil
}
