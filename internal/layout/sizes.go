package layout

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// MostLines is the length of the longest file of the product. A longer one has two themes.
const MostLines = 406

// MostFunctionLines is the length of the longest function of the product.
const MostFunctionLines = 86

// MostLinesOfNine bounds the length of nine of ten functions of the product. It is one line more than their present
// length (make sizes), so that one more function does not fail a test.
const MostLinesOfNine = 24

// A Kind says what a Go file is for.
type Kind int

const (
	Product Kind = iota
	Tests        // tests, packages that only tests import, fault runs and client programs
	Tools        // benchmarks and programs of the Makefile
)

// KindOf returns the kind of a file.
func KindOf(f File) Kind {
	top, _, _ := strings.Cut(f.Folder, "/")
	switch {
	case f.Folder == "docs/examples" || strings.HasPrefix(f.Folder, "docs/examples/"):
		return Tests
	case f.Test || matches(Support, f.Folder) || top == "jepsen" || top == "clients":
		return Tests
	case top == "bench" || top == "scripts":
		return Tools
	}
	return Product
}

// A Size is the number of lines of a file, or of a function.
type Size struct {
	Name  string // the file's path, and for a function its name after a space
	Lines int
}

// Sizes are in order, shortest first.
type Sizes []Size

// Sum is the lines of all.
func (s Sizes) Sum() (lines int) {
	for _, one := range s {
		lines += one.Lines
	}
	return lines
}

// Percentile returns the size that p of a hundred do not exceed. There must be at least one.
func (s Sizes) Percentile(p int) Size { return s[max(0, len(s)*p/100-1)] }

func (s Sizes) sort() Sizes {
	slices.SortStableFunc(s, func(a, b Size) int { return a.Lines - b.Lines })
	return s
}

// Measure returns the sizes of the files of one kind and of their functions: bodies with the
// lines of their braces, of declared functions only.
func Measure(root string, files []File, kind Kind) (ofFiles, ofFunctions Sizes, err error) {
	for _, f := range files {
		if KindOf(f) != kind {
			continue
		}
		src, err := os.ReadFile(filepath.Join(root, f.Path))
		if err != nil {
			return nil, nil, err
		}
		ofFiles = append(ofFiles, Size{f.Path, bytes.Count(src, []byte("\n"))})
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, f.Path, src, parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, err
		}
		for _, d := range parsed.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				lines := set.Position(fn.End()).Line - set.Position(fn.Pos()).Line + 1
				ofFunctions = append(ofFunctions, Size{f.Path + " " + fn.Name.Name, lines})
			}
		}
	}
	return ofFiles.sort(), ofFunctions.sort(), nil
}
