package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestLengthsAreFatal looks for tests that report a wrong length with t.Error and then index what is too short: that panics, and
// takes the other tests of the package along.
func TestLengthsAreFatal(t *testing.T) {
	list, err := exec.CommandContext(t.Context(), "git", "-C", root, "ls-files", "*_test.go").Output()
	if err != nil {
		t.Skip("this is no checkout")
	}
	for _, name := range strings.Fields(string(list)) {
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, filepath.Join(root, name), nil, parser.SkipObjectResolution)
		if err != nil {
			continue // it was removed
		}
		for _, x := range indexesAfterErrors(f) {
			t.Errorf("%s:%d: %s panics if the length before was wrong: that is fatal", name, set.Position(x.Pos()).Line, types.ExprString(x))
		}
	}
}

// indexesAfterErrors are constant indexes into what has failed a comparison of its length by t.Error before, in the same block.
func indexesAfterErrors(f *ast.File) (list []ast.Expr) {
	ast.Inspect(f, func(n ast.Node) bool {
		b, ok := n.(*ast.BlockStmt)
		if !ok {
			return true
		}
		for i, s := range b.List {
			check, ok := s.(*ast.IfStmt)
			if !ok || check.Else != nil || check.Init != nil || !onlyErrors(check.Body) {
				continue
			}
			for name := range comparedLengths(check.Cond) {
				list = append(list, constantIndexes(name, b.List[i+1:])...)
			}
		}
		return true
	})
	return list
}

// onlyErrors reports whether a block calls t.Error or t.Errorf and goes on.
func onlyErrors(b *ast.BlockStmt) bool {
	for _, s := range b.List {
		x, ok := s.(*ast.ExprStmt)
		if !ok {
			return false
		}
		c, ok := x.X.(*ast.CallExpr)
		if !ok || methodOf(c) != "Error" && methodOf(c) != "Errorf" {
			return false
		}
	}
	return true
}

// comparedLengths are the expressions whose length a condition compares.
func comparedLengths(cond ast.Expr) map[string]bool {
	all := map[string]bool{}
	ast.Inspect(cond, func(n ast.Node) bool {
		c, ok := n.(*ast.BinaryExpr)
		if !ok || c.Op != token.NEQ && c.Op != token.LSS && c.Op != token.EQL {
			return true
		}
		if length, ok := c.X.(*ast.CallExpr); ok && methodOf(length) == "len" && len(length.Args) == 1 {
			all[types.ExprString(length.Args[0])] = true
		}
		return true
	})
	return all
}

// constantIndexes are those into name, until it is assigned anew.
func constantIndexes(name string, stmts []ast.Stmt) (list []ast.Expr) {
	for _, s := range stmts {
		anew := false
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, l := range n.Lhs {
					anew = anew || types.ExprString(l) == name
				}
			case *ast.IndexExpr:
				if at, ok := n.Index.(*ast.BasicLit); ok && at.Kind == token.INT && !anew && types.ExprString(n.X) == name {
					list = append(list, n)
				}
			}
			return true
		})
		if anew {
			return list
		}
	}
	return list
}

// TestIndexesAreFound tries the rule.
func TestIndexesAreFound(t *testing.T) {
	for body, want := range map[string]int{
		`if len(a) != 1 { t.Errorf("x") }; use(a[0])`:                  1,
		`if len(a) != 1 { t.Fatalf("x") }; use(a[0])`:                  0,
		`if len(a) != 1 || a[0] != 1 { t.Error("x") }`:                 0,
		`if len(a) != 1 { t.Error("x") }; a = f(); use(a[0])`:          0,
		`if len(a.b()) < 2 { t.Error("x") }; if a.b()[1] == 2 { }`:     1,
		`if len(a) != 1 { t.Error("x"); return }; use(a[0])`:           0,
		`if len(a) != 1 { t.Error("x") }; for i := range a { a[i]++ }`: 0,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x_test.go", "package x\nfunc f() { "+body+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := indexesAfterErrors(f); len(got) != want {
			t.Errorf("%s: %d found, want %d", body, len(got), want)
		}
	}
}
