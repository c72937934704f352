package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/rogpeppe/go-internal/testscript"
	"go.yaml.in/yaml/v3"
)

// families are all metrics that nodes show, by name.
type families map[string]*dto.MetricFamily

func (fa families) read(ts *testscript.TestScript, url string) {
	resp, err := (&http.Client{Timeout: waitTimeout}).Get(url + "/metrics")
	ts.Check(err)
	defer resp.Body.Close()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	page, err := parser.TextToMetricFamilies(resp.Body)
	ts.Check(err)
	for name, f := range page {
		if known := fa[name]; known != nil {
			known.Metric = append(known.Metric, f.Metric...)
		} else {
			fa[name] = f
		}
	}
}

// table is docs/metrics.md of the product's own metrics.
func (fa families) table() string {
	var names []string
	for name := range fa {
		if strings.HasPrefix(name, "trireme_") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	text := "# Metrics\n\nWhat a node shows at `/metrics`. A test compares this page with three running nodes (`TRIREME_METRICS=write` writes it anew).\n" +
		"Names that begin with `raft_` and `memberlist_` come from the libraries, `go_` and `process_` from the runtime.\n\n" +
		"| name | type | labels | what it is |\n|---|---|---|---|\n"
	for _, name := range names {
		f := fa[name]
		text += fmt.Sprintf("| `%s` | %s | %s | %s |\n", name, strings.ToLower(f.GetType().String()), strings.Join(fa.labels(name), ", "), f.GetHelp())
	}
	return text
}

// labels are those of a family, in their order.
func (fa families) labels(name string) (labels []string) {
	for _, m := range fa[name].GetMetric() {
		for _, l := range m.GetLabel() {
			if !slices.Contains(labels, l.GetName()) {
				labels = append(labels, l.GetName())
			}
		}
	}
	slices.Sort(labels)
	return labels
}

// metricsDocumented compares what nodes show with docs/metrics.md, and with every query of
// deploy/. It waits for those metrics that appear only when something happens first.
func metricsDocumented(ts *testscript.TestScript, _ bool, urls []string) {
	queries := deployedQueries(ts)
	var all families
	var missing []string
	for deadline := time.Now().Add(waitTimeout); ; time.Sleep(100 * time.Millisecond) {
		all = families{}
		for _, url := range urls {
			all.read(ts, url)
		}
		if missing = all.missing(queries); len(missing) == 0 || time.Now().After(deadline) {
			break
		}
	}
	for _, m := range missing {
		ts.Logf("%s", m)
	}
	const page = "../../docs/metrics.md"
	want := all.table()
	if os.Getenv("TRIREME_METRICS") == "write" {
		ts.Check(os.WriteFile(page, []byte(want), 0o644))
	}
	have, err := os.ReadFile(page)
	ts.Check(err)
	for line := range strings.Lines(want) {
		if !strings.Contains(string(have), line) {
			missing = append(missing, line)
			ts.Logf("docs/metrics.md has no line %s", line)
		}
	}
	for line := range strings.Lines(string(have)) {
		if !strings.Contains(want, line) {
			missing = append(missing, line)
			ts.Logf("no node shows what docs/metrics.md says: %s", line)
		}
	}
	if len(missing) > 0 {
		ts.Fatalf("%d things differ", len(missing))
	}
}

// query is an expression of a file.
type query struct{ file, text string }

var (
	metricOf = regexp.MustCompile(`\b(?:trireme|raft|memberlist|process|go)_[a-zA-Z0-9_]+\b(?:\{([^}]*)\})?`)
	labelOf  = regexp.MustCompile(`([a-zA-Z_][a-zA-Z0-9_]*)\s*(?:=~|!~|!=|=)`)
)

// scraped are the labels that Prometheus adds.
var scraped = []string{"job", "instance", "le", "quantile"}

// missing returns the series that the queries name and no node exposes.
func (fa families) missing(queries []query) (out []string) {
	for _, q := range queries {
		used := metricOf.FindAllStringSubmatch(q.text, -1)
		if len(used) == 0 && !strings.Contains(q.text, "up{") {
			out = append(out, q.file+": names no metric: "+q.text)
		}
		for _, m := range used {
			name, _, _ := strings.Cut(m[0], "{")
			family := fa.family(name)
			if family == "" {
				out = append(out, q.file+": no node shows "+name)
				continue
			}
			for _, l := range labelOf.FindAllStringSubmatch(m[1], -1) {
				if !slices.Contains(scraped, l[1]) && !slices.Contains(fa.labels(family), l[1]) {
					out = append(out, fmt.Sprintf("%s: %s has no label %s", q.file, name, l[1]))
				}
			}
		}
		if strings.Count(q.text, "(") != strings.Count(q.text, ")") || strings.Count(q.text, "{") != strings.Count(q.text, "}") {
			out = append(out, q.file+": brackets don't match: "+q.text)
		}
	}
	return out
}

// family is the family of a name in a query, which may be one of the series of a histogram
// or a summary.
func (fa families) family(name string) string {
	if fa[name] != nil && fa[name].GetType() != dto.MetricType_HISTOGRAM {
		return name
	}
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		base, cut := strings.CutSuffix(name, suffix)
		f := fa[base]
		if cut && f != nil && (f.GetType() == dto.MetricType_HISTOGRAM || f.GetType() == dto.MetricType_SUMMARY && suffix != "_bucket") {
			return base
		}
	}
	return ""
}

// deployedQueries are all expressions of dashboards and rules in deploy/.
func deployedQueries(ts *testscript.TestScript) (all []query) {
	root := "../../deploy"
	ts.Check(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, "helm") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var tree any
		switch {
		case strings.HasSuffix(path, ".json"):
			err = json.Unmarshal(text, &tree)
		case strings.HasSuffix(path, ".yml"), strings.HasSuffix(path, ".yaml"):
			err = yaml.Unmarshal(text, &tree)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for _, text := range expressions(tree) {
			all = append(all, query{path, text})
		}
		return nil
	}))
	slices.SortFunc(all, func(a, b query) int { return cmp.Compare(a.file, b.file) })
	if len(all) < 20 {
		ts.Fatalf("deploy/ has %d queries: something is not found", len(all))
	}
	return all
}

// expressions are the values of all keys named expr.
func expressions(tree any) (all []string) {
	switch v := tree.(type) {
	case map[string]any:
		for key, value := range v {
			if text, is := value.(string); is && key == "expr" {
				all = append(all, text)
			} else {
				all = append(all, expressions(value)...)
			}
		}
	case []any:
		for _, value := range v {
			all = append(all, expressions(value)...)
		}
	}
	return all
}
