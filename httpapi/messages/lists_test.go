package messages

import (
	"go/ast"
	goparser "go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// listCalls are the methods of the store that look at as many records as a client has made.
var listCalls = map[string]bool{"Events": true, "DeadLetters": true, "Queues": true, "Schedules": true, "Groups": true, "FlowControlKeys": true, "List": true, "CountMatching": true}

// TestListsAreLongReads: reads of many records run on a fork, where no write waits for them, and in their database's turn.
func TestListsAreLongReads(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		parsed, err := goparser.ParseFile(fset, f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			read, ok := n.(*ast.CallExpr)
			if !ok || len(read.Args) != 3 || !calls(read, map[string]bool{"Read": true}) {
				return true
			}
			reading, ok := read.Args[1].(*ast.CompositeLit)
			ast.Inspect(read.Args[2], func(n ast.Node) bool {
				if call, is := n.(*ast.CallExpr); is && calls(call, listCalls) {
					found++
					if ok && len(reading.Elts) == 0 {
						t.Errorf("%s: a list is read while writes wait: use fsm.Reading{Long: true}", fset.Position(call.Pos()))
					}
				}
				return true
			})
			return true
		})
	}
	if found < 6 {
		t.Errorf("%d lists are read, want at least 6: is the test blind?", found)
	}
}

func calls(call *ast.CallExpr, names map[string]bool) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	return ok && names[method.Sel.Name]
}
