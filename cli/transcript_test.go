package cli

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// TestTranscripts runs the commands of testdata/transcripts against a node that answers as the transcript says, and compares
// what was asked, what was printed, and the exit code. TRIREME_SCRIPTS=write writes them anew: of a case only its command and
// the node's answers are kept.
//
//	> COMMAND             the arguments of trireme, with quotes as at its prompt
//	= STATUS [BODY]       the node's next answer; its status may be resp, and the body a quoted RESP reply, or hangup
//	< METHOD TARGET BODY  what the node was asked
//	< Header: value       the service headers of that
//	| LINE                standard output
//	! LINE                standard error, and the error that ended the command
//	exit CODE             other than 0
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/transcripts/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) { playFile(t, path) })
	}
}

func playFile(t *testing.T, path string) {
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for i, block := range strings.Split(strings.TrimSpace(string(want)), "\n\n") {
		if i > 0 {
			got.WriteString("\n")
		}
		play(t, block, &got)
	}
	if got.String() == string(want) {
		return
	}
	if os.Getenv("TRIREME_SCRIPTS") == "write" {
		if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	expected, actual := strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")
	for i := range min(len(expected), len(actual)) {
		if expected[i] != actual[i] {
			t.Fatalf("%s:%d: got\n%s\nwant\n%s", path, i+1, actual[i], expected[i])
		}
	}
	t.Fatalf("%s: got %d lines, want %d", path, len(actual), len(expected))
}

// play runs one case and writes its transcript.
func play(t *testing.T, block string, out *strings.Builder) {
	var command string
	n := &scriptedNode{t: t}
	for line := range strings.SplitSeq(block, "\n") {
		switch kind, rest, _ := strings.Cut(line, " "); kind {
		case "#":
			fmt.Fprintln(out, line)
		case ">":
			command = rest
		case "=":
			n.answers = append(n.answers, rest)
		}
	}
	words, err := splitWords(command)
	if err != nil || len(words) == 0 {
		t.Fatalf("%q is no command: %v", command, err)
	}
	s := httptest.NewServer(n)
	defer s.Close()
	t.Setenv(urlVariable, s.URL)
	t.Setenv(tokenVariable, "secret")
	t.Setenv(contextsVariable, filepath.Join(t.TempDir(), "contexts.yaml"))
	var stdout, stderr bytes.Buffer
	root := &cobra.Command{Use: "trireme", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(groupOf(words[0]))
	root.SetArgs(words)
	root.SetIn(strings.NewReader(""))
	root.SetOut(&stdout)
	root.SetErr(&stderr)
	err = root.ExecuteContext(t.Context())
	if err != nil {
		fmt.Fprintln(&stderr, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	fmt.Fprintln(out, ">", command)
	for _, line := range n.log {
		fmt.Fprintln(out, line)
	}
	for _, rest := range n.answers {
		t.Errorf("%s: the node was not asked for its answer %q", command, rest)
	}
	for _, of := range []struct {
		mark string
		text string
	}{{"|", stdout.String()}, {"!", stderr.String()}} {
		for line := range strings.Lines(strings.ReplaceAll(of.text, strings.TrimPrefix(s.URL, "http://"), "node")) {
			fmt.Fprintln(out, strings.TrimRight(of.mark+" "+visible(strings.TrimSuffix(line, "\n")), " "))
		}
	}
	if code := ExitCode(err); code != ExitDone {
		fmt.Fprintln(out, "exit", code)
	}
}

// visible is a line as it is, or in quotes if it has bytes that a text file should not have.
func visible(line string) string {
	if utf8.ValidString(line) && !strings.ContainsFunc(line, unicode.IsControl) {
		return line
	}
	return strconv.QuoteToASCII(line)
}

// groupOf makes one of Commands: to make all of them for each case takes most of the time.
func groupOf(name string) *cobra.Command {
	groups := map[string]func() *cobra.Command{
		"queues": queueGroup, "schedules": scheduleGroup, "groups": urlGroupGroup, "flow": flowGroup, "messages": messageGroup, "dlq": dlqGroup, "runs": runGroup,
		"events": eventsCommand, "users": userGroup, "tokens": tokenGroup, "databases": databaseGroup, "db": databaseGroup, "cluster": clusterGroup,
		"redis": redisCommand, "triggers": triggerGroup, "health": healthCommand, "recover": recoverCommand,
	}
	return groups[name]()
}

// scriptedNode answers as a transcript says.
type scriptedNode struct {
	t *testing.T

	mu      sync.Mutex
	answers []string
	log     []string
}

func (n *scriptedNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		n.t.Error(err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if got := r.Header.Get("Authorization"); got != "Bearer secret" && r.URL.Path != "/readyz" && r.URL.Path != "/livez" {
		n.t.Errorf("%s %s came with the authorization %q", r.Method, r.RequestURI, got)
	}
	n.log = append(n.log, strings.TrimRight(fmt.Sprintf("< %s %s %s", r.Method, r.RequestURI, visible(string(body))), " "))
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		if strings.HasPrefix(name, "Svc-") && name != "Svc-Response-Format" || name == "Content-Type" {
			n.log = append(n.log, "< "+name+": "+strings.Join(r.Header[name], ", "))
		}
	}
	if len(n.answers) == 0 {
		n.t.Errorf("%s %s has no answer in the transcript", r.Method, r.RequestURI)
		w.WriteHeader(http.StatusNotImplemented)
		return
	}
	answer := n.answers[0]
	n.answers = n.answers[1:]
	n.log = append(n.log, "= "+answer)
	kind, text, _ := strings.Cut(answer, " ")
	switch kind {
	case "hangup":
		panic(http.ErrAbortHandler)
	case "resp":
		raw, err := strconv.Unquote(text)
		if err != nil {
			n.t.Errorf("%s: %v", answer, err)
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = io.WriteString(w, raw)
		return
	}
	status, err := strconv.Atoi(kind)
	if err != nil {
		n.t.Errorf("%s: %v", answer, err)
	}
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}
