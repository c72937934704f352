package fsm_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// allowed are the packages that code below fsm may import, beside fsm's own. None of
// them knows the time, chance, the network, the disk or the environment.
var allowed = []string{
	"bufio", "bytes", "cmp", "context", "encoding/base64", "encoding/binary", "encoding/hex", "errors", "fmt",
	"hash", "hash/crc32", "hash/crc64", "io", "iter", "maps", "math", "math/big", "math/bits", "regexp", "regexp/syntax", "slices", "sort", "strconv",
	"strings", "unicode", "unicode/utf8", "unicode/utf16", "unsafe", "crypto/hmac", "crypto/sha1", "crypto/sha256", "crypto/subtle",
	"github.com/cespare/xxhash/v2", "github.com/zeebo/xxh3",
}

// allowedIn are imports that one file alone may have.
// The decompression of backups gives what the format says, in whatever version, and with one worker starts no goroutine.
var allowedIn = map[string][]string{"machine.go": {"sync", "sync/atomic"},
	"access.go":      {"sync/atomic"}, // what it keeps is no part of the state
	"uses.go":        {"sync/atomic"}, // the same
	"backup_pack.go": {"github.com/klauspost/compress/zstd"}}

// forbiddenCalls differ between processors, or between binaries.
var forbiddenCalls = []string{
	"math.Exp", "math.Exp2", "math.Expm1", "math.Pow", "math.Pow10", "math.Sinh", "math.Cosh", "math.Tanh", "math.Gamma",
	"math.Log", "math.Log1p", "math.Log2", "math.Log10", "math.FMA", "context.WithTimeout", "context.WithDeadline", "context.AfterFunc",
}

// mapOrder are functions that call back, or iterate, in the order of a map.
var mapOrder = []string{"maps.All", "maps.Keys", "maps.Values", "maps.DeleteFunc", "maps.EqualFunc"}

// pointerVerb is the verb that prints an address, which differs between nodes.
var pointerVerb = regexp.MustCompile(`%[-+# 0]*[0-9]*p`)

// violations loads fsm and everything below it, with files laid over, and lists what
// breaks the rules.
func violations(t *testing.T, overlay map[string][]byte) (found []string) {
	t.Helper()
	config := &packages.Config{
		Mode:       packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedDeps | packages.NeedExportFile,
		BuildFlags: []string{"-tags=nomsgpack,hashicorpmetrics"},
		Overlay:    overlay,
	}
	list, err := packages.Load(config, "github.com/trireme-dev/trireme/fsm/...")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		for _, e := range p.Errors {
			t.Fatalf("%s: %v", p.PkgPath, e)
		}
		if strings.HasSuffix(p.PkgPath, "test") { // helpers of tests, which no product code imports
			continue
		}
		for _, f := range p.Syntax {
			found = append(found, judge(p, f)...)
		}
	}
	return found
}

func judge(p *packages.Package, f *ast.File) (found []string) {
	name := filepath.Base(p.Fset.Position(f.Pos()).Filename)
	report := func(at token.Pos, format string, args ...any) {
		pos := p.Fset.Position(at)
		found = append(found, fmt.Sprintf("%s/%s:%d: %s", p.PkgPath, name, pos.Line, fmt.Sprintf(format, args...)))
	}
	for _, i := range f.Imports {
		path := strings.Trim(i.Path.Value, `"`)
		if !strings.HasPrefix(path, "github.com/trireme-dev/trireme/fsm") && path != "github.com/trireme-dev/trireme/internal/mutant" && // without its tag it is a constant
			!slices.Contains(allowed, path) && !slices.Contains(allowedIn[name], path) {
			report(i.Pos(), "imports %s", path)
		}
	}
	excused, sorted := map[int]bool{}, map[ast.Expr]bool{}
	for _, g := range f.Comments {
		for _, c := range g.List {
			if strings.Contains(c.Text, "unordered: ") {
				line := p.Fset.Position(c.Pos()).Line
				excused[line], excused[line+1] = true, true
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if called(p, n.Fun) == "slices.Sorted" { // whatever the order was
				for _, a := range n.Args {
					if in, ok := a.(*ast.CallExpr); ok {
						sorted[in.Fun] = true
					}
				}
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING && pointerVerb.MatchString(strings.ReplaceAll(n.Value, "%%", "")) {
				report(n.Pos(), "prints an address")
			}
		case *ast.GoStmt:
			report(n.Pos(), "starts a goroutine")
		case *ast.SelectStmt:
			report(n.Pos(), "selects")
		case *ast.RangeStmt:
			if _, isMap := p.TypesInfo.TypeOf(n.X).Underlying().(*types.Map); isMap && !excused[p.Fset.Position(n.Pos()).Line] {
				report(n.Pos(), "ranges over a map without saying why the order doesn't matter")
			}
		case *ast.SelectorExpr:
			switch name := called(p, n); {
			case slices.Contains(forbiddenCalls, name):
				report(n.Pos(), "uses %s", name)
			case slices.Contains(mapOrder, name) && !sorted[n] && !excused[p.Fset.Position(n.Pos()).Line]:
				report(n.Pos(), "iterates by %s without saying why the order doesn't matter", name)
			}
		}
		return true
	})
	return found
}

// called is what an expression names of a package, such as math.Pow; empty for anything else.
func called(p *packages.Package, x ast.Expr) string {
	s, ok := x.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	o := p.TypesInfo.Uses[s.Sel]
	if o == nil || o.Pkg() == nil {
		return ""
	}
	if f, isFunc := o.(*types.Func); isFunc && f.Signature().Recv() != nil {
		return ""
	}
	return o.Pkg().Path() + "." + o.Name()
}

// TestRules holds the packages of the state machine to the rules of doc.go.
func TestRules(t *testing.T) {
	for _, v := range violations(t, nil) {
		t.Error(v)
	}
}

// TestRulesFindPlantedFaults plants one fault at a time and expects it to be named.
func TestRulesFindPlantedFaults(t *testing.T) {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	faults := map[string]struct{ imports, body, want string }{
		"clock":     {`import "time"`, `func plantedClock() int64 { return time.Now().UnixNano() }`, "imports time"},
		"random":    {`import "math/rand/v2"`, `func plantedRandom() int { return rand.Int() }`, "imports math/rand/v2"},
		"network":   {`import "net"`, `func plantedNetwork() { net.Dial("tcp", "") }`, "imports net"},
		"lock":      {`import "sync"`, `var plantedLock sync.Mutex`, "imports sync"},
		"map":       {``, `func plantedMap(m map[string]int) (n int) { for _, v := range m { n = v }; return n }`, "ranges over a map"},
		"goroutine": {``, `func plantedGoroutine() { go func() {}() }`, "starts a goroutine"},
		"select":    {``, `func plantedSelect(c chan int) { select { case <-c: default: } }`, "selects"},
		"keys":      {`import "maps"`, `func plantedKeys(m map[string]int) (n int) { for k := range maps.Keys(m) { n = len(k) }; return n }`, "iterates by maps.Keys"},
		"values":    {`import ("maps"; "slices")`, `func plantedValues(m map[string]int) []int { return slices.Collect(maps.Values(m)) }`, "iterates by maps.Values"},
		"all":       {`import "maps"`, `var plantedAll = maps.All[map[string]int]`, "iterates by maps.All"},
		"delete":    {`import "maps"`, `func plantedDelete(m map[string]int, n *string) { maps.DeleteFunc(m, func(k string, _ int) bool { *n = k; return true }) }`, "iterates by maps.DeleteFunc"},
		"pointer":   {`import "fmt"`, `func plantedPointer(v *int) string { return fmt.Sprintf("%-10p", v) }`, "prints an address"},
		"float":     {`import "math"`, `func plantedFloat() float64 { return math.Pow(2, 0.5) }`, "uses math.Pow"},
	}
	overlay := map[string][]byte{}
	for name, c := range faults {
		for folder, pkg := range map[string]string{"": "fsm", "keyspace": "keyspace"} {
			overlay[filepath.Join(dir, folder, "planted_"+name+".go")] = []byte("package " + pkg + "\n\n" + c.imports + "\n\n" + c.body + "\n")
		}
	}
	overlay[filepath.Join(dir, "planted_allowed.go")] = []byte("package fsm\n\nimport (\"maps\"; \"slices\")\n\n" +
		"func plantedSorted(m map[string]int) []string { return slices.Sorted(maps.Keys(m)) }\n\nvar plantedPercent = \"100%%p\"\n")
	found := violations(t, overlay)
	for _, v := range found {
		if strings.Contains(v, "planted_allowed.go") {
			t.Errorf("refused what is allowed: %s", v)
		}
	}
	for name, c := range faults {
		for _, pkg := range []string{"github.com/trireme-dev/trireme/fsm/", "github.com/trireme-dev/trireme/fsm/keyspace/"} {
			if !slices.ContainsFunc(found, func(v string) bool {
				return strings.HasPrefix(v, pkg+"planted_"+name+".go:") && strings.Contains(v, c.want)
			}) {
				t.Errorf("planted %q in %s, found %v", c.body, pkg, found)
			}
		}
	}
}
