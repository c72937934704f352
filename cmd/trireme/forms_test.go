package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"go.yaml.in/yaml/v3"

	"github.com/trireme-dev/trireme/cli"
)

// reading are the commands that print what a node has, with the arguments that name something in forms.txtar. $ID of a command is the
// first name that it prints.
var reading = map[string]string{
	"cluster status": "", "context list": "", "databases list": "", "databases limit": "default", "dlq list": "", "dlq causes": "", "dlq get": "$(dlq list)", "deployments list": "", "deployments get": "v1", "deployments explain": "v1",
	"events": "", "flow list": "", "flow get": "billing", "flow explain": "billing", "flow tenants": "billing", "groups list": "", "groups get": "news",
	"messages list": "", "messages get": "$(messages list --label later)", "messages explain": "$(messages list --label later)",
	"messages bulk list": "", "messages bulk get": "$(messages bulk list)", "queues list": "", "queues get": "orders", "queues explain": "orders", "queues tenants": "orders",
	"recover": "", "runs list": "", "runs get": "$(runs list)", "runs explain": "$(runs list)", "runs logs": "", "runs steps": "$(runs list)", "runs values": "$(runs list)", "runs failed": "",
	"runs bulk list": "", "runs bulk get": "$(runs bulk list)", "schedules list": "", "schedules get": "nightly", "tokens list": "", "tokens signing-keys": "",
	"top": "--count 1", "triggers list": "", "triggers get": "changed", "users list": "", "users get": "default",
}

// acting are the last words of commands that change something, or whose output is no list.
var acting = strings.Fields("add cancel create defaults delete drain follow fork health move notify pause pin publish redis remove replace reset reset-password restart " +
	"resume retry revoke rotate rotate-signing-keys run set state stop transfer-leader trigger unpause unpin update upsert use")

// mayBeEmpty are the lists that have nothing in the script, and what has no name.
var mayBeEmpty = []string{"context list", "databases limit", "flow tenants", "queues tenants", "recover", "runs values"}

// everyForm runs each reading command with each form of --output, and checks that the form is honoured.
//
//	everyform FLAG…
func everyForm(ts *testscript.TestScript, _ bool, flags []string) {
	wrong := 0
	for path, cmd := range leaves(newRoot()) {
		arguments, reads := reading[path]
		if reads == slices.Contains(acting, cmd.Name()) {
			ts.Fatalf("%s is in one of reading and acting in forms_test.go: %v", path, reads)
		}
		if !reads {
			continue
		}
		words := slices.Concat(strings.Fields(path), argumentsOf(ts, arguments, flags), flags)
		problems := formsOf(path, words)
		for _, p := range problems {
			ts.Logf("%s: %s", path, p)
		}
		wrong += len(problems)
	}
	if wrong > 0 {
		ts.Fatalf("%d forms are not honoured", wrong)
	}
}

// argumentsOf replaces $(COMMAND) by the first name that it prints.
func argumentsOf(ts *testscript.TestScript, arguments string, flags []string) []string {
	command, ok := strings.CutPrefix(arguments, "$(")
	if !ok {
		return strings.Fields(arguments)
	}
	code, problem, names := inProcess(slices.Concat(strings.Fields(strings.TrimSuffix(command, ")")), flags, []string{"-o", "name"}))
	name, _, _ := strings.Cut(names, "\n")
	if code != cli.ExitDone || name == "" {
		ts.Fatalf("%s names nothing: %s", command, problem)
	}
	return []string{name}
}

// formsOf runs a command with each form, and returns what is wrong with its output.
func formsOf(path string, words []string) (problems []string) {
	report := func(form, format string, args ...any) {
		problems = append(problems, form+": "+fmt.Sprintf(format, args...))
	}
	outputs := map[string]string{}
	for _, form := range []string{"table", "wide", "json", "yaml", "csv", "name", "jsonpath=$"} {
		code, problem, stdout := inProcess(append(slices.Clone(words), "-o", form))
		if code != cli.ExitDone {
			report(form, "exit code %d: %s", code, problem)
		}
		outputs[form] = stdout
	}
	var v any
	if err := json.Unmarshal([]byte(outputs["json"]), &v); err != nil {
		report("json", "%v: %s", err, outputs["json"])
	}
	var y any
	if err := yaml.Unmarshal([]byte(outputs["yaml"]), &y); err != nil || fmt.Sprintf("%T", y) == "string" {
		report("yaml", "%v: %s", err, outputs["yaml"])
	}
	if text := outputs["jsonpath=$"]; !json.Valid([]byte(text)) || strings.Count(text, "\n") != 1 {
		report("jsonpath", "not the document in one line: %s", text)
	}
	for _, form := range []string{"table", "wide"} {
		if json.Valid([]byte(outputs[form])) {
			report(form, "is JSON: %s", outputs[form])
		}
	}
	for line := range strings.Lines(outputs["name"]) {
		if name := strings.TrimSuffix(line, "\n"); name == "" || strings.ContainsAny(name, " \t") || !strings.Contains(outputs["json"], name) {
			report("name", "%q is not the name of something: %s", name, outputs["json"])
		}
	}
	if outputs["name"] == "" && !slices.Contains(mayBeEmpty, path) {
		report("name", "prints nothing")
	}
	for _, p := range csvProblems(outputs["csv"]) {
		report("csv", "%s: %s", p, outputs["csv"])
	}
	return problems
}

var (
	csvTitle = regexp.MustCompile(`^[A-Z0-9 /]+$`)
	withUnit = regexp.MustCompile(`^-?[0-9.]+ ?(ms|s|B|[KMGT]iB|%)$`)
	plainer  = regexp.MustCompile(`^-?[0-9.]+$`)
)

// csvProblems returns why a text is not CSV with one row of titles and with data for programs below.
func csvProblems(text string) (problems []string) {
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll() // all rows have as many cells as the first
	if err != nil || len(rows) == 0 {
		return []string{fmt.Sprint("no CSV: ", err)}
	}
	for _, title := range rows[0] {
		if !csvTitle.MatchString(title) {
			problems = append(problems, fmt.Sprintf("%q is no title", title))
		}
	}
	for _, row := range rows[1:] {
		if slices.Equal(row, rows[0]) || len(row) > 1 && !slices.ContainsFunc(row, func(c string) bool { return !csvTitle.MatchString(c) }) {
			problems = append(problems, fmt.Sprintf("%q is a second row of titles", row))
		}
		for i, cell := range row {
			switch {
			case cell == "-" || withUnit.MatchString(cell):
				problems = append(problems, fmt.Sprintf("%s is %q: it must be empty, or a plain number", rows[0][i], cell))
			case cell != "" && strings.ContainsRune("=+-@", rune(cell[0])) && !plainer.MatchString(cell):
				problems = append(problems, fmt.Sprintf("%s is %q, a formula", rows[0][i], cell))
			}
		}
	}
	return problems
}
