package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestWaitsOfTestsEnd looks for waits of tests that a failure makes endless, so that the package ends when its time is over and
// without the name of the test. A cleanup must not wait without a limit for what the failed test may have left blocked, and a
// handler or hook must not be held up by a channel that the test closes only if it gets so far: testgate.Gate is for that.
func TestWaitsOfTestsEnd(t *testing.T) {
	list, err := exec.CommandContext(t.Context(), "git", "-C", root, "ls-files", "*_test.go").Output()
	if err != nil {
		t.Skip("this is no checkout")
	}
	looked := 0
	for _, name := range strings.Fields(string(list)) {
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, filepath.Join(root, name), nil, parser.SkipObjectResolution)
		if err != nil {
			continue // it was removed
		}
		looked++
		for _, w := range endlessWaits(f) {
			t.Errorf("%s:%d: %s", name, set.Position(w.at).Line, w.what)
		}
	}
	if looked < 100 {
		t.Errorf("only %d files were looked at", looked)
	}
}

// endlessWait is a place in a test that may wait for ever.
type endlessWait struct {
	at   token.Pos
	what string
}

func endlessWaits(f *ast.File) (list []endlessWait) {
	own := map[*ast.FuncLit]bool{} // literals that wait at their own risk: goroutines of the test, and what is deferred
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			if lit, ok := n.Call.Fun.(*ast.FuncLit); ok {
				own[lit] = true
			}
		case *ast.DeferStmt:
			if lit, ok := n.Call.Fun.(*ast.FuncLit); ok {
				own[lit] = true
			}
		case *ast.CallExpr:
			called := methodOf(n)
			for _, a := range n.Args {
				lit, ok := a.(*ast.FuncLit)
				switch {
				case !ok:
				case called == "Cleanup":
					own[lit] = true
					list = append(list, waitsOfCleanup(lit)...)
				case called == "Go", called == "Run", called == "AfterFunc", called == "until":
					own[lit] = true
				}
			}
		}
		return true
	})
	ast.Inspect(f, func(n ast.Node) bool {
		lit, ok := n.(*ast.FuncLit)
		if ok && !own[lit] {
			list = append(list, waitsOfHook(lit)...)
		}
		return true
	})
	return list
}

// waitsOfCleanup are calls without a limit.
func waitsOfCleanup(lit *ast.FuncLit) (list []endlessWait) {
	killed := false
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			return false
		case *ast.CallExpr:
			switch name := methodOf(n); {
			case name == "Kill":
				killed = true
			case name == "Wait" && len(n.Args) == 0 && !killed:
				list = append(list, endlessWait{n.Pos(), "a cleanup waits without a limit"})
			case (name == "Shutdown" || name == "Close" || name == "Stop") && len(n.Args) == 1 && isBackground(n.Args[0]):
				list = append(list, endlessWait{n.Pos(), "a cleanup gives " + name + " no limit"})
			}
		}
		return true
	})
	return list
}

// waitsOfHook are statements that receive from a channel of outside a literal, which somebody else calls.
func waitsOfHook(lit *ast.FuncLit) (list []endlessWait) {
	inside := map[string]bool{}
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false // it is looked at by itself
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				if id, ok := l.(*ast.Ident); ok && n.Tok == token.DEFINE {
					inside[id.Name] = true
				}
			}
		case *ast.SelectStmt:
			return false
		case *ast.ExprStmt:
			receive, ok := n.X.(*ast.UnaryExpr)
			if !ok || receive.Op != token.ARROW {
				return true
			}
			if id, ok := receive.X.(*ast.Ident); ok && !inside[id.Name] {
				list = append(list, endlessWait{n.Pos(), "a hook waits for " + id.Name + ": use a testgate.Gate"})
			}
		}
		return true
	})
	return list
}

func methodOf(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.Ident:
		return f.Name
	}
	return ""
}

// isBackground reports whether an argument is a context that never ends.
func isBackground(e ast.Expr) bool {
	c, ok := e.(*ast.CallExpr)
	return ok && (methodOf(c) == "Background" || methodOf(c) == "TODO")
}

// TestEndlessWaitsAreFound tries the rules.
func TestEndlessWaitsAreFound(t *testing.T) {
	for body, want := range map[string]int{
		`t.Cleanup(func() { s.Shutdown(context.Background()) })`:                                       1,
		`t.Cleanup(func() { s.Shutdown(ctx) })`:                                                        0,
		`t.Cleanup(func() { l.Close(); wg.Wait() })`:                                                   1,
		`t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })`:                                         0,
		`t.Cleanup(func() { go func() { wg.Wait(); close(done) }(); testgate.Receive(t, "x", done) })`: 0,
		`serve(func() { close(begun); <-goOn })`:                                                       1,
		`hook := func() { <-goOn }`:                                                                    1,
		`hook := func() { select { case <-goOn: case <-ctx.Done(): } }`:                                0,
		`go func() { <-goOn }()`:                                                                       0,
		`wg.Go(func() { <-goOn })`:                                                                     0,
		`hook := func() { changed := n.Changed(); <-changed }`:                                         0,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x_test.go", "package x\nfunc f() { "+body+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := endlessWaits(f); len(got) != want {
			t.Errorf("%s: %d found, want %d", body, len(got), want)
		}
	}
}
