package layout

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"time"
)

// Constants are the constants and the variables with a constant value of the repository's packages, by folder, dot and
// name: "cluster/consensus/logstore.cacheBytes". Those with several values (by build tags), and those that are counted by iota, are left out.
type Constants map[string]constant.Value

// ReadConstants returns the constants of all files but tests.
func ReadConstants(root string, files []File) (Constants, error) {
	e := evaluator{exprs: map[string]declared{}}
	for _, f := range files {
		if f.Test {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, f.Path), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		e.read(f.Folder, parsed)
	}
	all := Constants{}
	for name, d := range e.exprs {
		if v := e.value(d.folder, d.imports, d.expr, 0); v != nil {
			all[name] = v
		}
	}
	return all, nil
}

// Find returns the values that a reference stands for: the folder's last elements, a dot and the name.
func (c Constants) Find(reference string) (values []constant.Value) {
	for name, v := range c {
		if name == reference || strings.HasSuffix(name, "/"+reference) {
			values = append(values, v)
		}
	}
	return values
}

type declared struct {
	folder  string
	imports map[string]string // folders of the repository by the names that a file has for them
	expr    ast.Expr          // nil: several
}

type evaluator struct{ exprs map[string]declared }

func (e evaluator) read(folder string, file *ast.File) {
	imports := map[string]string{}
	for _, i := range file.Imports {
		path, ok := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), Module+"/")
		if !ok {
			continue
		}
		name := path[strings.LastIndex(path, "/")+1:]
		if i.Name != nil {
			name = i.Name.Name
		}
		imports[name] = path
	}
	for _, d := range file.Decls {
		gen, ok := d.(*ast.GenDecl)
		if !ok || gen.Tok != token.CONST && gen.Tok != token.VAR {
			continue
		}
		for _, s := range gen.Specs {
			v := s.(*ast.ValueSpec)
			for i, name := range v.Names {
				if len(v.Values) != len(v.Names) {
					continue
				}
				key := folder + "." + name.Name
				one := declared{folder, imports, v.Values[i]}
				if _, twice := e.exprs[key]; twice {
					one.expr = nil
				}
				e.exprs[key] = one
			}
		}
	}
}

var durations = map[string]time.Duration{
	"Nanosecond": 1, "Microsecond": time.Microsecond, "Millisecond": time.Millisecond,
	"Second": time.Second, "Minute": time.Minute, "Hour": time.Hour,
}

// value returns the value of an expression in a package, or nil if it is not constant.
func (e evaluator) value(folder string, imports map[string]string, expr ast.Expr, depth int) constant.Value {
	if depth > 20 {
		return nil
	}
	of := func(x ast.Expr) constant.Value { return e.value(folder, imports, x, depth+1) }
	switch x := expr.(type) {
	case *ast.BasicLit:
		if x.Kind == token.INT || x.Kind == token.FLOAT {
			return constant.MakeFromLiteral(x.Value, x.Kind, 0)
		}
	case *ast.ParenExpr:
		return of(x.X)
	case *ast.Ident:
		d := e.exprs[folder+"."+x.Name]
		return e.value(folder, d.imports, d.expr, depth+1)
	case *ast.SelectorExpr:
		pkg, ok := x.X.(*ast.Ident)
		if !ok {
			return nil
		}
		if n, ok := durations[x.Sel.Name]; ok && pkg.Name == "time" {
			return constant.MakeInt64(int64(n))
		}
		d := e.exprs[imports[pkg.Name]+"."+x.Sel.Name]
		return e.value(d.folder, d.imports, d.expr, depth+1)
	case *ast.CallExpr: // a conversion
		if len(x.Args) == 1 {
			if _, ok := x.Fun.(*ast.Ident); ok {
				return of(x.Args[0])
			}
		}
	case *ast.BinaryExpr:
		return binary(of(x.X), x.Op, of(x.Y))
	}
	return nil
}

func binary(a constant.Value, op token.Token, b constant.Value) constant.Value {
	if a == nil || b == nil {
		return nil
	}
	switch op {
	case token.SHL, token.SHR:
		if n, ok := constant.Uint64Val(b); ok && n < 64 {
			return constant.Shift(a, op, uint(n))
		}
	case token.ADD, token.SUB, token.MUL:
		return constant.BinaryOp(a, op, b)
	case token.QUO:
		if constant.Sign(b) == 0 {
			return nil
		}
		if a.Kind() == constant.Int && b.Kind() == constant.Int {
			op = token.QUO_ASSIGN // the quotient of integers
		}
		return constant.BinaryOp(a, op, b)
	}
	return nil
}
