package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"
)

// mostFields bounds the fields of a struct type. One with more has several concerns, each of which can be a type of its own.
const mostFields = 24

func TestTypesHaveFewFields(t *testing.T) {
	for _, f := range repository(t) {
		if f.Test {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, f.Path), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			named, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := named.Type.(*ast.StructType); ok && s.Fields.NumFields() > mostFields {
				t.Errorf("%s: %s has %d fields, want at most %d", f.Path, named.Name.Name, s.Fields.NumFields(), mostFields)
			}
			return true
		})
	}
}
