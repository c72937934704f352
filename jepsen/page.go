package jepsen

import (
	"errors"
	"fmt"
	"html/template"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"time"
)

// The size of the drawings, in pixels.
const (
	drawnWidth  = 1000
	drawnHeight = 180
	faultRow    = 9 // height of a fault's bar
)

// SavePage writes the summary as one HTML page that needs nothing else: figures, the
// course of the run with its faults drawn in, and every anomaly with its witness. What the
// rounds of messages came to, one by one, is in the JSON only: it would be most of the page.
func (s *Summary) SavePage(path string) error { return savePage(path, page, s) }

// savePage writes what a template makes of data.
func savePage(path string, t *template.Template, data any) error {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("save the page: %w", err)
	}
	if err := errors.Join(t.Execute(file, data), file.Close()); err != nil {
		return fmt.Errorf("save the page: %w", err)
	}
	return nil
}

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"throughput": drawThroughput, "latency": drawLatency, "faults": drawFaults, "names": names,
	"ms": func(m Millis) string { return time.Duration(m).Round(100 * time.Microsecond).String() },
}).Parse(pageText))

// names are the sorted keys of a table.
func names(m map[string]*FaultFigures) []string { return slices.Sorted(maps.Keys(m)) }

// x returns the horizontal position of a moment of the run.
func (s *Summary) x(at time.Duration) float64 {
	return at.Seconds() / max(s.Seconds, 1) * drawnWidth
}

// bars draws a figure of each second as bars, which are one path: a page of an hour stays small.
func (s *Summary) bars(b *strings.Builder, color string, figure func(Second) float64) {
	width := s.x(time.Second)
	fmt.Fprintf(b, `<path fill="%s" d="`, color)
	for i, second := range s.Timeline {
		if high := figure(second) * drawnHeight; high > 0 {
			fmt.Fprintf(b, "M%.1f %dv%.1fh%.1fV%d", float64(i)*width, drawnHeight, -high, max(width-0.3, 0.3), drawnHeight)
		}
	}
	b.WriteString(`"/>`)
}

// drawThroughput draws the operations of each second, those that failed in red.
func drawThroughput(s *Summary) template.HTML {
	most := 1
	for _, second := range s.Timeline {
		most = max(most, second.OK+second.Failed)
	}
	var b strings.Builder
	open(&b, drawnHeight)
	s.bars(&b, "#d33", func(t Second) float64 { return float64(t.OK+t.Failed) / float64(most) })
	s.bars(&b, "#393", func(t Second) float64 { return float64(t.OK) / float64(most) })
	fmt.Fprintf(&b, `<text x="4" y="12">%d operations in a second</text></svg>`, most)
	return template.HTML(b.String())
}

// slowest is the top of the scale of latencies, which is logarithmic from 0.1 ms.
const slowest = 20 * time.Second

func latencyHigh(m Millis) float64 {
	const fastest = 100 * time.Microsecond
	return min(1, max(0, math.Log(float64(m)/float64(fastest))/math.Log(float64(slowest)/float64(fastest))))
}

// drawLatency draws the 50th and the 99th percentile of each second.
func drawLatency(s *Summary) template.HTML {
	var b strings.Builder
	open(&b, drawnHeight)
	s.bars(&b, "#bcd", func(t Second) float64 { return latencyHigh(t.P99) })
	s.bars(&b, "#36a", func(t Second) float64 { return latencyHigh(t.P50) })
	for _, line := range []time.Duration{time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond, time.Second, 10 * time.Second} {
		y := drawnHeight * (1 - latencyHigh(Millis(line)))
		fmt.Fprintf(&b, `<line x1="0" x2="%d" y1="%.1f" y2="%.1f" stroke="#ccc"/><text x="4" y="%.1f">%v</text>`, drawnWidth, y, y, y-2, line)
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}

// drawFaults draws each fault as a bar: dark until it was undone, light until all nodes
// were ready again. Faults of one kind share a row.
func drawFaults(s *Summary) template.HTML {
	rows := map[string]int{}
	for _, kind := range names(s.Faults) {
		rows[kind] = len(rows)
	}
	var b strings.Builder
	open(&b, (len(rows)+1)*faultRow)
	for _, e := range s.Events {
		y := rows[string(e.Fault)] * faultRow
		fmt.Fprintf(&b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="#fca"/>`, s.x(e.From), y, s.x(e.Ready-e.From)+1, faultRow-1)
		fmt.Fprintf(&b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="#a30"><title>%s of %s at %v for %v</title></rect>`,
			s.x(e.From), y, s.x(e.Until-e.From)+1, faultRow-1, template.HTMLEscapeString(string(e.Fault)), template.HTMLEscapeString(e.Node), e.From.Round(time.Millisecond), (e.Until - e.From).Round(time.Millisecond))
	}
	for kind, row := range rows {
		fmt.Fprintf(&b, `<text x="4" y="%d" class="kind">%s</text>`, row*faultRow+faultRow-2, template.HTMLEscapeString(kind))
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}

func open(b *strings.Builder, height int) {
	fmt.Fprintf(b, `<svg viewBox="0 0 %d %d" width="100%%" xmlns="http://www.w3.org/2000/svg">`, drawnWidth, height)
}

// pageStyle is the style sheet of the pages of runs and soaks.
const pageStyle = `
body { font: 14px/1.4 system-ui, sans-serif; max-width: 1100px; margin: 2em auto; color: #222 }
table { border-collapse: collapse } td, th { padding: 2px 10px; text-align: right; border-bottom: 1px solid #ddd }
td:first-child, th:first-child { text-align: left }
svg { display: block; background: #fafafa; margin-bottom: 4px } text { font: 10px sans-serif; fill: #333 } text.kind { font-size: 8px }
pre { white-space: pre-wrap; background: #fee; padding: 8px } .good { color: #283 } .bad { color: #b20 }
`

const pageText = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Fault run, seed {{.Seed}}</title>
<style>` + pageStyle + `</style></head><body>
<h1>Fault run, seed {{.Seed}}</h1>
<p class="{{if .Failed}}bad{{else}}good{{end}}">{{len .Anomalies}} anomalies, {{len .Crashes}} crashes, {{len .Problems}} problems</p>
<p>Commit {{.Commit}}, {{printf "%.0f" .Seconds}} s of load, nodes on a {{.Network}}. {{.Ops}} operations: {{.OK}} answered, {{.NotApplied}} not applied, {{.Unknown}} of unknown outcome.
{{len .Events}} faults of {{len .Faults}} kinds, {{.LeaderChanges}} leader changes, {{.Terms}} terms.
Longest time without an acknowledged write: {{ms .LongestPause}}; with a healthy majority {{ms .HealthyPause}}, around stalled disks {{ms .StalledPause}}. Pauses of a second and more: {{ms .Unavailable}} in all.{{if .Standstill}} The machine stood still for {{ms .Standstill}}.{{end}}</p>
<h2>Operations</h2>{{throughput .}}
<h2>Latency (50th and 99th percentile of each second)</h2>{{latency .}}
<h2>Faults</h2>{{faults .}}
<table><tr><th>fault</th><th>times</th><th>on the leader</th><th>first write, p50</th><th>longest</th></tr>
{{$s := .}}{{range names .Faults}}{{with index $s.Faults .}}<tr><td>{{.Kind}}</td><td>{{.Count}}</td><td>{{.OnLeader}}</td><td>{{ms .Recover}}</td><td>{{ms .Worst}}</td></tr>{{end}}{{end}}</table>
<h2>Workloads</h2>
<table><tr><th>workload</th><th>operations</th><th>answered</th><th>not applied</th><th>unknown</th><th>p50</th><th>p99</th><th>longest</th><th>judged in</th></tr>
{{range $name, $c := .Workloads}}<tr><td>{{$name}}</td><td>{{$c.Ops}}</td><td>{{$c.OK}}</td><td>{{$c.NotApplied}}</td><td>{{$c.Unknown}}</td><td>{{ms $c.P50}}</td><td>{{ms $c.P99}}</td><td>{{ms $c.Max}}</td><td>{{ms $c.Check}}</td></tr>{{end}}</table>
{{if .Messages}}<h2>Messages, ticks and workflow runs</h2><table>{{range $name, $n := .Messages}}<tr><td>{{$name}}</td><td>{{$n}}</td></tr>{{end}}</table>
<p>{{.Duplicates}} deliveries succeeded again, after a leader was lost with their claims open.</p>{{end}}
{{if .Failed}}<h2>What went wrong</h2>
{{range .Anomalies}}<pre>{{.}}</pre>{{end}}
{{range .Crashes}}<pre>{{.Node}} (pid {{.Pid}}) ended by itself with exit code {{.ExitCode}}:
{{.Log}}</pre>{{end}}
{{range .Problems}}<pre>{{.}}</pre>{{end}}{{end}}
</body></html>
`
