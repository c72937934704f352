package fsm_test

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/tools/go/packages"
)

// allowed are the packages that code below fsm may import, beside fsm's own. None of
// them knows the time, chance, the network, the disk or the environment.
var allowed = []string{
	"bufio", "bytes", "cmp", "container/heap", "context", "encoding/base64", "encoding/binary", "encoding/hex", "errors", "fmt",
	"hash", "hash/crc32", "hash/crc64", "io", "iter", "maps", "math", "math/big", "math/bits", "regexp", "regexp/syntax", "slices", "sort", "strconv",
	"strings", "unicode", "unicode/utf8", "unicode/utf16", "unsafe", "crypto/hmac", "crypto/sha1", "crypto/sha256", "crypto/subtle",
	"github.com/cespare/xxhash/v2", "github.com/zeebo/xxh3",
}

// allowedIn are imports that one file alone may have.
// The decompression of backups gives what the format says, in whatever version, and with one worker starts no goroutine.
var allowedIn = map[string][]string{"machine.go": {"sync", "sync/atomic"},
	"access.go":      {"sync/atomic"},                                    // what it keeps is no part of the state
	"owner.go":       {"sync/atomic"},                                    // which of two forks may change a node in place
	"uses.go":        {"sync/atomic"},                                    // the same
	"bodies.go":      {"sync", "sync/atomic"},                            // the same
	"spot.go":        {"runtime", "sync/atomic"},                         // where strings are, and what a node counts of that
	"codecs.go":      {"sync"},                                           // the same
	"contents.go":    {"github.com/trireme-dev/trireme/internal/plural"}, // for the words of refusals
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

// module is the prefix of the import paths of this repository.
const module = "github.com/trireme-dev/trireme/"

// violations loads fsm, resp and everything below them, with files laid over, and lists what
// breaks the rules.
func violations(t *testing.T, overlay map[string][]byte) (found []string) {
	t.Helper()
	config := &packages.Config{
		Mode:       packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedDeps | packages.NeedExportFile,
		BuildFlags: []string{"-tags=nomsgpack"},
		Overlay:    overlay,
	}
	list, err := packages.Load(config, module+"fsm/...", module+"resp/...")
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
			if strings.HasPrefix(p.PkgPath, module+"fsm") {
				found = append(found, judge(p, f)...)
			}
			if slices.Contains(bytewise, strings.TrimPrefix(p.PkgPath, module)) {
				found = append(found, judgeBytes(p, f)...)
			}
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
		if !strings.HasPrefix(path, "github.com/trireme-dev/trireme/fsm") &&
			!slices.Contains(allowed, path) && !slices.Contains(allowedIn[name], path) {
			report(i.Pos(), "imports %s", path)
		}
	}
	excused, sorted := excuses(p, f, "unordered: "), map[ast.Expr]bool{}
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

// called returns the name of a package's member that an expression is, such as math.Pow; empty for anything else.
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

// bytewise are the packages that handle the words and values of clients, which are bytes and need not be valid UTF-8.
var bytewise = []string{"fsm/acl", "fsm/ascii", "fsm/command", "fsm/geo", "fsm/glob", "fsm/hll", "fsm/keyspace", "fsm/listpack", "fsm/rdb",
	"fsm/reply", "fsm/script", "fsm/script/lua", "resp", "resp/fastpath", "resp/protocol"}

// runeCalls decode UTF-8. Redis compares and splits bytes, and so does fsm/ascii.
var runeCalls = regexp.MustCompile(`^(strings|bytes)\.(ToLower|ToUpper|ToTitle|Title|EqualFold|Fields|FieldsSeq|FieldsFunc|FieldsFuncSeq|TrimSpace|Map|Runes|ToValidUTF8|` +
	`TrimFunc|TrimLeftFunc|TrimRightFunc|IndexFunc|LastIndexFunc|ContainsFunc|ContainsRune|IndexRune)$|^unicode(/utf8|/utf16)?\.|^strconv\.(Quote|AppendQuote)`)

// setCalls take a set of characters, which must be ASCII: they look at bytes then.
var setCalls = regexp.MustCompile(`^(strings|bytes)\.(Trim|TrimLeft|TrimRight|IndexAny|LastIndexAny|ContainsAny)$`)

// judgeBytes lists what takes bytes for text: a range over a string, conversions between strings and runes, and functions
// that decode UTF-8. A comment "runes: ", with the reason, excuses its own line and the next.
func judgeBytes(p *packages.Package, f *ast.File) (found []string) {
	name := filepath.Base(p.Fset.Position(f.Pos()).Filename)
	excused := excuses(p, f, "runes: ")
	report := func(at token.Pos, format string, args ...any) {
		if pos := p.Fset.Position(at); !excused[pos.Line] {
			found = append(found, fmt.Sprintf("%s/%s:%d: %s: say in a comment \"runes: \" why that is right, or use fsm/ascii", p.PkgPath, name, pos.Line, fmt.Sprintf(format, args...)))
		}
	}
	basic := func(x ast.Expr, info types.BasicInfo) bool {
		b, ok := p.TypesInfo.TypeOf(x).Underlying().(*types.Basic)
		return ok && b.Info()&info != 0 && p.TypesInfo.Types[x].Value == nil
	}
	runes := func(t types.Type) bool {
		s, ok := t.Underlying().(*types.Slice)
		return ok && types.Identical(s.Elem(), types.Typ[types.Rune])
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			if basic(n.X, types.IsString) {
				report(n.Pos(), "ranges over the runes of a string")
			}
		case *ast.SelectorExpr:
			if name := called(p, n); runeCalls.MatchString(name) {
				report(n.Pos(), "uses %s", name)
			}
		case *ast.CallExpr:
			to := p.TypesInfo.Types[n.Fun]
			switch {
			case to.IsType() && len(n.Args) == 1:
				text, isText := to.Type.Underlying().(*types.Basic)
				if runes(to.Type) || isText && text.Info()&types.IsString != 0 && (basic(n.Args[0], types.IsInteger) || runes(p.TypesInfo.TypeOf(n.Args[0]))) {
					report(n.Pos(), "converts runes")
				}
			case setCalls.MatchString(called(p, n.Fun)):
				if set := p.TypesInfo.Types[n.Args[1]].Value; set == nil || !isASCII(constant.StringVal(set)) {
					report(n.Pos(), "gives %s a set that is no constant of ASCII", called(p, n.Fun))
				}
			}
		}
		return true
	})
	return found
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) < 0
}

// excuses are the lines of comments that begin so, and those behind them.
func excuses(p *packages.Package, f *ast.File, start string) map[int]bool {
	excused := map[int]bool{}
	for _, g := range f.Comments {
		for _, c := range g.List {
			if strings.Contains(c.Text, start) {
				line := p.Fset.Position(c.Pos()).Line
				excused[line], excused[line+1] = true, true
			}
		}
	}
	return excused
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
	// These are faults in packages of bytes only.
	ofBytes := map[string]struct{ imports, body, want string }{
		"range":   {``, `func plantedRange(s string) (n int) { for i := range s { n += i }; return n }`, "ranges over the runes"},
		"runes":   {``, `func plantedRunes(s string) []rune { return []rune(s) }`, "converts runes"},
		"rune":    {``, `func plantedRune(r rune) string { return string(r) }`, "converts runes"},
		"fold":    {`import "strings"`, `func plantedFold(s string) bool { return strings.EqualFold(s, "key") }`, "uses strings.EqualFold"},
		"lower":   {`import "bytes"`, `var plantedLower = bytes.ToLower`, "uses bytes.ToLower"},
		"decode":  {`import "unicode/utf8"`, `func plantedDecode(s string) int { return utf8.RuneCountInString(s) }`, "uses unicode/utf8.RuneCountInString"},
		"set":     {`import "strings"`, `func plantedSet(s, set string) string { return strings.Trim(s, set) }`, "no constant of ASCII"},
		"wideset": {`import "strings"`, `func plantedWideSet(s string) string { return strings.Trim(s, "é") }`, "no constant of ASCII"},
	}
	overlay := map[string][]byte{}
	for name, c := range faults {
		for folder, pkg := range map[string]string{"": "fsm", "keyspace": "keyspace"} {
			overlay[filepath.Join(dir, folder, "planted_"+name+".go")] = []byte("package " + pkg + "\n\n" + c.imports + "\n\n" + c.body + "\n")
		}
	}
	for name, c := range ofBytes {
		for folder, pkg := range map[string]string{"command": "command", "script/lua": "lua", "../resp/protocol": "protocol"} {
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
	expect := func(name, body, want string, folders ...string) {
		for _, folder := range folders {
			if !slices.ContainsFunc(found, func(v string) bool {
				return strings.HasPrefix(v, module+folder+"/planted_"+name+".go:") && strings.Contains(v, want)
			}) {
				t.Errorf("planted %q in %s, found %v", body, folder, found)
			}
		}
	}
	for name, c := range faults {
		expect(name, c.body, c.want, "fsm", "fsm/keyspace")
	}
	for name, c := range ofBytes {
		expect(name, c.body, c.want, "fsm/command", "fsm/script/lua", "resp/protocol")
	}
}
