package main

import (
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/trireme-dev/trireme/httpapi/console"
)

// promised is the answer that a line of a document says a command gets; "..." stands for a text or a number.
var promised = regexp.MustCompile(`# (\{.*\}|\[.*\])`)

// tour runs the shell blocks of a section of README.md in one shell, as somebody does who copies and pastes them, and
// compares the answers with those that their comments promise. With a text it runs the blocks that have it. A block that
// needs redis-cli is run where there is one; a test of the example runs the one that needs npm.
//
//	tour HEADING [TEXT]
func tour(ts *testscript.TestScript, _ bool, args []string) {
	readme, err := os.ReadFile("../../README.md")
	ts.Check(err)
	section, function := readmeSection(ts, string(readme), args[0])
	text := ""
	if len(args) > 1 {
		text = args[1]
	}
	runBlocks(ts, function, section, text)
}

// opening runs the shell blocks with which a page of docs begins, up to the second heading after its title, and compares the answers
// as tour does. The first block has to come first: a page begins with a request that runs.
//
//	opening PAGE
func opening(ts *testscript.TestScript, _ bool, args []string) {
	page, err := os.ReadFile("../../docs/" + args[0])
	ts.Check(err)
	if !pageOpening.Match(page) {
		ts.Fatalf("docs/%s does not begin with its title and a shell block that has a curl", args[0])
	}
	parts := strings.SplitN(string(page), "\n## ", 3)
	// Nothing serves the app of examples/workflow-hono here.
	runBlocks(ts, "", strings.ReplaceAll(strings.Join(parts[:2], "\n"), "127.0.0.1:3000", "127.0.0.1:1"), "")
}

var pageOpening = regexp.MustCompile("^# [^\n]+\n\n```sh\n(?:[^`]*\n)?curl ")

// runBlocks runs the shell blocks of a part of a document that have a text.
func runBlocks(ts *testscript.TestScript, function, section, text string) {
	script := "set -e\nmkdir -p bin\nln -sf \"$(command -v trireme)\" bin/trireme\n" + function + "\n"
	var answers []*regexp.Regexp
	for _, block := range shellBlock.FindAllStringSubmatch(section, -1) {
		if !strings.Contains(block[1], text) || !canRun(block[1]) {
			continue
		}
		script += block[1]
		for _, m := range promised.FindAllStringSubmatch(block[1], -1) {
			pattern := strings.ReplaceAll(regexp.QuoteMeta(m[1]), regexp.QuoteMeta("..."), `[^"]+`)
			answers = append(answers, regexp.MustCompile(pattern))
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs("tour.sh"), []byte(atPorts(ts, script)), 0o600))
	ts.Check(ts.Exec("sh", "tour.sh"))
	rest := ts.ReadFile("stdout")
	for _, answer := range answers {
		at := answer.FindStringIndex(rest)
		if at == nil {
			ts.Fatalf("no answer %s in %s", answer, rest)
		}
		rest = rest[at[1]:]
	}
}

// consoleLink is the line of dev and local-cluster.
var consoleLink = regexp.MustCompile(`(?m)^Console \(this link signs in once\): (.*)/#enter=(.*)$`)

// signsIn opens the link that a server has printed, as the page does, and compares the status.
//
//	signsin FILE STATUS
func signsIn(ts *testscript.TestScript, _ bool, args []string) {
	m := consoleLink.FindStringSubmatch(ts.ReadFile(args[0]))
	if m == nil {
		ts.Fatalf("%s has no link to the console", args[0])
	}
	r, err := http.NewRequest("POST", m[1]+"/session", strings.NewReader(`{"link":"`+m[2]+`"}`))
	ts.Check(err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(console.AskedBy, "1")
	resp, err := (&http.Client{Timeout: waitTimeout}).Do(r)
	ts.Check(err)
	resp.Body.Close()
	if strconv.Itoa(resp.StatusCode) != args[1] {
		ts.Fatalf("the link answers %s, want %s", resp.Status, args[1])
	}
}

// readmeSection is the text below a heading up to the next one, and the shell function that the whole tour uses.
func readmeSection(ts *testscript.TestScript, readme, heading string) (section, function string) {
	_, section, found := strings.Cut(readme, "\n"+heading+"\n")
	begin := strings.Index(readme, "\nask() ")
	if !found || begin < 0 {
		ts.Fatalf("README.md has no section %q, or no function ask", heading)
	}
	function, _, _ = strings.Cut(readme[begin+1:], "\n")
	if end := regexp.MustCompile(`\n##+ `).FindStringIndex(section); end != nil {
		section = section[:end[0]]
	}
	return section, function
}

// canRun reports whether a block needs nothing that isn't here.
func canRun(block string) bool {
	if strings.Contains(block, "redis-cli") {
		_, err := exec.LookPath("redis-cli")
		return err == nil
	}
	return !strings.Contains(block, "npm ")
}

// atPorts replaces the ports of make cluster's nodes by those that the script has reserved.
func atPorts(ts *testscript.TestScript, script string) string {
	base, err := strconv.Atoi(ts.Getenv("HTTP"))
	if err != nil {
		return script
	}
	for i := range localNodes {
		script = strings.ReplaceAll(script, address(8080, i), address(base, i))
	}
	return script
}
