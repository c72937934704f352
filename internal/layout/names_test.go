package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// declarations holds the names that the repository declares: "logstore.Open" and "logstore.Store.Close" by the last element of
// the folder, "Store.Close", and the names of tests.
type declarations map[string]bool

func (d declarations) add(folder string, words ...string) {
	all := strings.Join(words, ".")
	d[folder[strings.LastIndex(folder, "/")+1:]+"."+all] = true
	d[all] = true
}

func declaredNames(t *testing.T) declarations {
	t.Helper()
	all := declarations{}
	for _, f := range repository(t) {
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, f.Path), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					all.add(f.Folder, d.Name.Name)
				} else {
					all.add(f.Folder, receiver(d.Recv.List[0].Type), d.Name.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.ValueSpec:
						for _, name := range s.Names {
							all.add(f.Folder, name.Name)
						}
					case *ast.TypeSpec:
						all.add(f.Folder, s.Name.Name)
						for _, member := range members(s.Type) {
							all.add(f.Folder, s.Name.Name, member)
						}
					}
				}
			}
		}
	}
	return all
}

func receiver(of ast.Expr) string {
	switch x := of.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.IndexListExpr:
		return receiver(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}

func members(of ast.Expr) (list []string) {
	var fields *ast.FieldList
	switch x := of.(type) {
	case *ast.StructType:
		fields = x.Fields
	case *ast.InterfaceType:
		fields = x.Methods
	default:
		return nil
	}
	for _, f := range fields.List {
		for _, name := range f.Names {
			list = append(list, name.Name)
		}
	}
	return list
}

var (
	quotedName = regexp.MustCompile("`(?:[a-z][a-z0-9]*/)*([a-z][a-z0-9]*)\\.([A-Za-z]\\w*(?:\\.[A-Za-z]\\w*)?)`")
	quotedTest = regexp.MustCompile("`((?:Test|Benchmark|Fuzz)[A-Z]\\w*)`")
)

// TestTextsNameWhatExists looks up the names and tests of documents: a recipe or a design that names something that was
// renamed sends its reader astray.
func TestTextsNameWhatExists(t *testing.T) {
	all, packages := declaredNames(t), map[string]bool{}
	for _, f := range repository(t) {
		packages[filepath.Base(f.Folder)] = true
	}
	checked := 0
	for path, text := range pages(t) {
		page := strings.TrimPrefix(filepath.ToSlash(path), filepath.ToSlash(root)+"/")
		if page == "CHANGELOG.md" { // it tells of names of its time
			continue
		}
		for _, m := range quotedName.FindAllStringSubmatch(text, -1) {
			if packages[m[1]] && m[1] != "redis" && !filenames[m[2]] { // redis.call is Lua's
				checked++
				if !all[m[1]+"."+m[2]] {
					t.Errorf("%s: package %s has no %s", page, m[1], m[2])
				}
			}
		}
		for _, m := range quotedTest.FindAllStringSubmatch(text, -1) {
			checked++
			if !all[m[1]] {
				t.Errorf("%s: there is no %s", page, m[1])
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d names were looked up", checked)
	}
}

// filenames are endings of names of files, which look like names of packages.
var filenames = map[string]bool{"go": true, "md": true, "html": true, "db": true, "sh": true, "journal": true, "lock": true, "mark": true, "reserve": true, "probe": true, "txt": true, "mjs": true, "ts": true, "json": true, "yaml": true, "yml": true}
