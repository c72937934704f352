package layout

import (
	"fmt"
	"go/constant"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const units = `KiB|MiB|GiB|ms|s|min|seconds?|minutes?|hours?|days?`

// A figure of a text with the constant that it is: "32 KiB (`cluster.overlapBytes`)". In doc.go it has no backquotes.
var named = regexp.MustCompile("\\b([0-9][0-9.,]*|one|two|three|four|five|ten)\\s(?:(" + units + ")\\b)?([a-z-]+)?(?:\\s[a-z-]+)?\\s*" +
	"\\(`?([a-z][a-z0-9/]*\\.[A-Za-z]\\w*)`?[,);]")

// A figure that follows its constant: "`cluster.overlapBytes` (32 KiB)", "`cluster.overlapBytes` is 32 KiB", "`cluster.overlapBytes` = 32 KiB".
var namedFirst = regexp.MustCompile("`([a-z][a-z0-9/]*\\.[A-Za-z]\\w*)`(?:,? (?:is|of|are)|,| ?=|:)? \\(?([0-9][0-9.,]*|one|two|three|four|five|ten)\\b(?:\\s?(" + units + ")\\b)?")

// A size, a time or a count of a hundred and more that a reader could take for a limit of the program.
var figure = regexp.MustCompile(`(?:^|[^\w.,$-])([0-9][0-9.,]*)\s?(` + units + `)\b|(?:^|[^\w.,$-])([0-9][0-9,]{2,})\s(entries|results|writes|reads|steps|keys|commands|requests|elements|connections|events|messages|values)\b`)

// report is a part of a doc.go that tells of a measurement or a run: it has a date, a seed or a benchmark.
var report = regexp.MustCompile(`\b20\d\d-\d\d-\d\d|\bseeds? \d|\bBenchmark[A-Z]|\bp99\b|\bmedian|processor time|[Mm]easured`)

// dated matches the particulars of a run, which belong in its report: a date, a seed, a commit, a measured median.
var dated = regexp.MustCompile(`\b20\d\d-\d\d-\d\d|\bseeds? \d{3,}|\bcommit [0-9a-f]{7,}|\b[Mm]edians? of \w+ turns|\bp99(?:\.9)? [A-Za-z ]*\d`)

var scales = map[string]float64{
	"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
	"ms": 1e6, "s": 1e9, "second": 1e9, "seconds": 1e9, "min": 60e9, "minute": 60e9, "minutes": 60e9, "hour": 3600e9, "hours": 3600e9, "day": 86400e9, "days": 86400e9,
}

var numerals = map[string]string{"one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "ten": "10"}

// same reports whether a figure is the value of a constant. Constants that are a time have nanoseconds, milliseconds or seconds.
func same(number, unit string, v constant.Value) bool {
	if word, ok := numerals[strings.ToLower(number)]; ok {
		number = word
	}
	n := constant.MakeFromLiteral(strings.TrimRight(strings.ReplaceAll(number, ",", ""), "."), token.FLOAT, 0)
	if n.Kind() == constant.Unknown {
		return false
	}
	want, _ := constant.Float64Val(n)
	got, _ := constant.Float64Val(constant.ToFloat(v))
	scale, ok := scales[unit]
	if !ok {
		return got == want
	}
	time := !strings.HasSuffix(unit, "iB")
	return got == want*scale || time && (got*1e6 == want*scale || got*1e9 == want*scale)
}

// unnamed are the figures of pages that are no constant of this program, by page.
var unnamed = map[string][]string{
	"docs/design/fairness.md":   {"10 ms"},                                                         // measured, and Go's scheduler
	"docs/design/json.md":       {"10 MiB"},                                                        // an example
	"docs/design/logstore.md":   {"10 MiB", "1,024 requests", "10,000,000 keys", "50,000 entries"}, // examples
	"docs/design/memory.md":     {"64 KiB"},                                                        // measured
	"docs/design/payloads.md":   {"4 KiB"},                                                         // an example
	"docs/design/reads.md":      {"0.1 ms"},                                                        // measured
	"internal/failpoint/doc.go": {"100 ms"},                                                        // an example
	"internal/yield/doc.go":     {"10 ms"},                                                         // of Go's scheduler
}

// wrongFigures returns what is wrong in a text: figures that differ from the constant that they name, and, if the text tells how
// the program is built, figures that name none. A figure is named once on a page.
func wrongFigures(page, text string, constants Constants, design bool) (wrong []string) {
	known := slices.Clone(unnamed[page])
	compare := func(where, number, unit, name string) {
		values := constants.Find(name)
		switch {
		case len(values) == 0:
			wrong = append(wrong, fmt.Sprintf("%q: there is no constant %s", where, name))
		case slices.ContainsFunc(values, func(v constant.Value) bool { return !same(number, unit, v) }):
			wrong = append(wrong, fmt.Sprintf("%q: %s is %v", where, name, values))
		}
	}
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		if isFile(m[4]) {
			continue // it has more of it
		}
		compare(m[0], m[1], m[2], m[4])
		known = append(known, m[1]+" "+m[2]+m[3])
	}
	for _, m := range namedFirst.FindAllStringSubmatch(text, -1) {
		if isFile(m[1]) || len(constants.Find(m[1])) == 0 && m[3] == "" {
			continue // a file, or the name of something that is counted: an error and its status
		}
		compare(m[0], m[2], m[3], m[1])
		known = append(known, m[2]+" "+m[3])
	}
	if !design {
		return wrong
	}
	before := ""
	for _, part := range strings.Split(text, "\n\n") {
		if m := dated.FindString(part); m != "" && strings.HasSuffix(page, ".md") {
			wrong = append(wrong, fmt.Sprintf("%q: what was measured, and when, is in docs/performance.md; link to it", m))
		}
		told := report.MatchString(part) || strings.HasPrefix(strings.TrimSpace(part), "|") && report.MatchString(before)
		before = part
		if told {
			continue
		}
		for _, m := range figure.FindAllStringSubmatch(part, -1) {
			f := m[1] + " " + m[2]
			if m[3] != "" {
				f = m[3] + " " + m[4]
			}
			if !slices.Contains(known, f) {
				wrong = append(wrong, fmt.Sprintf("%s: name the constant behind it, as in 32 KiB (`cluster.overlapBytes`), or move what was measured to docs/performance.md", f))
			}
		}
	}
	return wrong
}

// isFile reports whether a name is that of a file, which looks like a name of a package.
func isFile(name string) bool { return filenames[name[strings.LastIndex(name, ".")+1:]] }

func TestDesignPagesHaveNoReports(t *testing.T) {
	for text, want := range map[string]int{
		"It holds what is acknowledged.":                   0,
		"On 2026-11-24 it had 12 MiB.":                     1,
		"It took 3 s (jepsen, seed 7210003337486471).":     1,
		"Beside commit 35ac9f1 it took less.":              1,
		"Medians of three turns decide.":                   1,
		"How often that happens decides the p99 of others": 0,
		"the p99 of GET was 12":                            1,
	} {
		if got := wrongFigures("docs/design/x.md", text, nil, true); len(got) != want {
			t.Errorf("%s: got %q, want %d", text, got, want)
		}
	}
}

// TestFiguresAreThoseOfTheCode compares the figures of documents and comments with the constants that they name, and demands
// such a name for those of docs/design and of doc.go.
func TestFiguresAreThoseOfTheCode(t *testing.T) {
	files := repository(t)
	constants, err := ReadConstants(root, files)
	if err != nil {
		t.Fatal(err)
	}
	check := func(page, text string, design bool) {
		for _, w := range wrongFigures(page, text, constants, design) {
			t.Errorf("%s: %s", page, w)
		}
	}
	for _, f := range files {
		src, err := os.ReadFile(filepath.Join(root, f.Path))
		if err != nil {
			t.Fatal(err)
		}
		check(f.Path, comments(string(src)), filepath.Base(f.Path) == "doc.go" && KindOf(f) == Product)
	}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/design/*.md"} {
		pages, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(pages) == 0 {
			t.Fatalf("%s: %d pages, %v", pattern, len(pages), err)
		}
		for _, path := range pages {
			src, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			page := strings.TrimPrefix(filepath.ToSlash(path), filepath.ToSlash(root)+"/")
			check(page, string(src), strings.HasPrefix(page, "docs/design/"))
		}
	}
}

// comments returns the comment lines of a Go file as text.
func comments(src string) string {
	var b strings.Builder
	for line := range strings.Lines(src) {
		text, ok := strings.CutPrefix(strings.TrimSpace(line), "//")
		if ok {
			b.WriteString(strings.TrimPrefix(text, " "))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestWrongFigures(t *testing.T) {
	constants := Constants{
		"cluster/x.bytes": constant.MakeInt64(64 << 10), "cluster/x.time": constant.MakeInt64(2e9), "fsm/y.Lease": constant.MakeInt64(10_000),
		"fsm/y.Many": constant.MakeInt64(1024),
	}
	for text, want := range map[string]int{
		"It has 64 KiB (`x.bytes`), 64 KiB.":                    0,
		"It has 32 KiB (`x.bytes`).":                            1,
		"It has 64 KiB.":                                        1,
		"It has 1,024 keys.":                                    1,
		"It waits for two seconds (`x.time`), 10 s (`y.Lease`)": 0,
		"It waits for 3 s (`x.time`)":                           1,
		"the last 1,024 keys (`y.Many`) and":                    0,
		"the last 1,025 keys (`y.Many`) and":                    1,
		"It has 64 KiB (`x.gone`).":                             1,
		"`x.bytes` (64 KiB) and 64 KiB":                         0,
		"`x.bytes` (32 KiB)":                                    1,
		"`x.bytes` is 32 KiB":                                   1,
		"`x.bytes` of 64 KiB, `y.Many` = 1,024":                 0,
		"`y.Many`: 1,023":                                       1,
		"`x.gone` is 5 s":                                       1,
		"`x.gone` 412":                                          0,
		"On 2026-11-24 it had 12 MiB.":                          0,
		"On 2026-11-24:\n\n| | 12 MiB |":                        0,
		"On 2026-11-24.\n\nIt has 12 MiB":                       1,
	} {
		if got := wrongFigures("doc.go", text, constants, true); len(got) != want {
			t.Errorf("%s: %q, want %d", text, got, want)
		}
	}
}
