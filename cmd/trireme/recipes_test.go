package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

var consoleBlock = regexp.MustCompile("(?s)```console\n(.*?)```")

// recipe is a command of docs/cli.md with the output that the page shows.
type recipe struct{ command, output string }

// recipesOf returns the commands of the console blocks of a page. A line that begins with "$ " is a command.
func recipesOf(page string) (all []recipe) {
	for _, block := range consoleBlock.FindAllStringSubmatch(page, -1) {
		for line := range strings.Lines(block[1]) {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				all = append(all, recipe{command: strings.TrimSpace(command)})
			} else if len(all) > 0 {
				all[len(all)-1].output += line
			}
		}
	}
	return all
}

// changing are the parts of an output that differ from run to run, with what stands for them.
var changing = []struct {
	form *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+Z`), "TIME"},
	{regexp.MustCompile(`msg_[0-9A-Za-z]{10,}`), "MESSAGE"},
	{regexp.MustCompile(`\b\d{13}-\d+\b`), "ID"},
	{regexp.MustCompile(`\b[0-9a-f]{32,64}\b`), "DIGEST"},
	{regexp.MustCompile(`TOKEN +\S+`), "TOKEN"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "ADDRESS"},
	{regexp.MustCompile(`\b\d+(\.\d+)? (ms|s)\b`), "DURATION"},
	{regexp.MustCompile(`(?m) [#.!]([#.! ]*[#.!])?( |$)`), " BAR "}, // of a waterfall
	{regexp.MustCompile(`\b\d+\b`), "N"},
	{regexp.MustCompile(` +`), " "},
	{regexp.MustCompile(` ?\n`), "\n"},
}

// steadyParts returns an output without what differs from run to run.
func steadyParts(output string) string {
	output = strings.ReplaceAll(output, version, "0.2.0") // the pages show the output of a release
	for _, c := range changing {
		output = c.form.ReplaceAllString(output, c.as)
	}
	return strings.TrimSpace(output)
}

// readsOnly matches commands that change nothing, so that they may be run again until a delivery has ended.
var readsOnly = regexp.MustCompile(`^trireme (\w+ (list|status|explain|get)|top)\b`)

// recipes runs the recipes of docs/cli.md in their order against the development server in the current directory, and
// compares what they print with what the page shows.
func recipes(ts *testscript.TestScript, _ bool, _ []string) {
	page, err := os.ReadFile("../../docs/cli.md")
	ts.Check(err)
	all := recipesOf(string(page))
	if len(all) < 20 {
		ts.Fatalf("docs/cli.md has %d recipes", len(all))
	}
	for _, r := range all {
		want, got := steadyParts(r.output), ""
		for deadline := time.Now().Add(waitTimeout); ; time.Sleep(20 * time.Millisecond) {
			got = shell(ts, ". .trireme/env && "+r.command)
			if steadyParts(got) == want || !readsOnly.MatchString(r.command) || time.Now().After(deadline) {
				break
			}
		}
		if steadyParts(got) != want {
			ts.Fatalf("docs/cli.md: %s\nprints\n%s\nwant\n%s", r.command, got, r.output)
		}
	}
}

// shell runs a command of a shell in the script's directory and returns all that it prints.
func shell(ts *testscript.TestScript, command string) string {
	c := exec.Command("sh", "-c", command)
	c.Dir = ts.MkAbs(".")
	c.Env = append(os.Environ(), "PATH="+ts.Getenv("PATH"), "HOME="+ts.MkAbs("."))
	out, err := c.CombinedOutput()
	if err != nil {
		return string(out) + err.Error()
	}
	return string(out)
}
