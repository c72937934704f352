package jepsen

import (
	"encoding/json"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
)

// The files that Soak leaves beside the folders of its runs.
const (
	totalName = "total.json"
	indexName = "index.html"
)

// save writes the figures of the whole as JSON, and as one HTML page that leads to those of the runs.
func (t *Total) save(dir string) error {
	text, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, totalName), append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	return savePage(filepath.Join(dir, indexName), soakPage, t)
}

var soakPage = template.Must(template.New("soak").Funcs(template.FuncMap{
	"minutes": func(seconds float64) string { return fmt.Sprintf("%.0f minutes", seconds/60) },
	"ms":      func(ms float64) string { return fmt.Sprintf("%.0f ms", ms) },
	"percent": func(part, of int) string { return fmt.Sprintf("%.2f %%", 100*float64(part)/float64(max(1, of))) },
}).Parse(soakText))

const soakText = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Soak of {{.Runs}} runs</title>
<style>` + pageStyle + `</style></head><body>
<h1>Soak of {{.Runs}} runs, {{minutes .Seconds}} of load</h1>
<p class="{{if .Failed}}bad{{else}}good{{end}}">{{.Anomalies}} anomalies, {{.Crashes}} crashes, {{.Problems}} problems</p>
<p>{{.Ops}} operations: {{.OK}} answered, {{.NotApplied}} not applied, {{.Unknown}} of unknown outcome ({{percent .Unknown .Ops}}).
{{.FaultCount}} faults of {{len .Faults}} kinds, {{.LeaderChanges}} leader changes.
Longest time without an acknowledged write: with a healthy majority {{ms .HealthyPause}}, around stalled disks {{ms .StalledPause}}.
{{.Duplicates}} deliveries succeeded again, after a leader was lost with their claims open.</p>
<h2>Runs</h2>
<table><tr><th>run</th><th>commit</th><th>seed</th><th>operations</th><th>faults</th><th>kinds</th><th>leader changes</th><th>messages</th><th>longest without a write</th><th>around a stalled disk</th><th>unknown</th><th>anomalies</th></tr>
{{range .Each}}<tr><td><a href="{{.Name}}/report.html">{{.Name}}</a></td><td>{{.Commit}}</td><td>{{.Seed}}</td><td>{{.Ops}}</td><td>{{.Faults}}</td><td>{{.Kinds}}</td><td>{{.LeaderChanges}}</td><td>{{.Messages}}</td><td>{{ms .HealthyPauseMs}}</td><td>{{ms .StalledPauseMs}}</td><td>{{printf "%.2f" .Unknown}} %</td><td>{{.Anomalies}}</td></tr>
{{end}}</table>
<h2>Faults</h2>
<table><tr><th>fault</th><th>times</th></tr>{{range $kind, $n := .Faults}}<tr><td>{{$kind}}</td><td>{{$n}}</td></tr>
{{end}}</table>
<h2>Messages, ticks and workflow runs</h2>
<table>{{range $name, $n := .Messages}}<tr><td>{{$name}}</td><td>{{$n}}</td></tr>
{{end}}</table>
{{if .Failed}}<h2>Runs that found something</h2><ul>{{range .Failed}}<li>{{.}}</li>{{end}}</ul>{{end}}
</body></html>
`
