package cli

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// filterTables are the documents with the API's filters. Tests of the API hold them against its own tables.
var filterTables = map[string]string{"messages": "../docs/messages.md", "runs": "../docs/workflows.md"}

// selecting are the commands that list or select, with the requests of those tables whose filters they have to offer.
var selecting = []struct{ command, table, of string }{
	{"messages list", "messages", "events"},
	{"events", "messages", "events"},
	{"messages cancel", "messages", "cancel"},
	{"dlq list", "messages", "dead letters, list of dead letters"},
	{"dlq retry", "messages", "dead letters"},
	{"dlq delete", "messages", "dead letters"},
	{"runs list", "runs", "runs"},
	{"runs logs", "runs", "runs"},
	{"runs cancel", "runs", "runs"},
	{"runs failed", "runs", "dead letters"},
	{"runs delete", "runs", "dead letters"},
	{"runs resume", "runs", "dead letters"},
	{"runs restart", "runs", "dead letters"},
}

// withoutFlag are the parameters that are no flag, of all commands or of one, and why.
var withoutFlag = map[string]string{
	"messageIds":                "ids are arguments, or messageId",
	"dlqIds":                    "ids are arguments",
	"callerIP":                  "another spelling of callerIp",
	"api":                       "selects nothing",
	"source":                    "dead letters of runs are in runs failed",
	"count":                     "is --limit",
	"cursor":                    "is --cursor",
	"trimBody":                  "selects nothing; output shows no bodies, but for json",
	"failureCallbackState":      "another spelling of failureFunctionState",
	"span":                      "counts events, which the console draws",
	"groupBy":                   "messages list asks for one form of it, events for none",
	"async":                     "a command says how many it has cancelled",
	"workflowRunIds":            "another spelling of workflowRunId",
	"labels":                    "another spelling of label",
	"workflowUrlExactMatch":     "a URL is always a whole one",
	"runs url":                  "another spelling of workflowUrl",
	"runs cancel workflowRunId": "ids are arguments",
	"runs cancel workflowRuns":  "ids are arguments",
	"runs cancel state":         "runs under way only",
	"runs failed state":         "failed runs only",
	"runs delete state":         "failed runs only",
	"runs resume state":         "failed runs only",
	"runs restart state":        "failed runs only",
	"runs failed host":          "the list of dead letters of runs refuses it",
	"runs failed path":          "the list of dead letters of runs refuses it",
	"runs delete host":          "what it is about is listed first",
	"runs delete path":          "what it is about is listed first",
	"runs resume host":          "what it is about is listed first",
	"runs resume path":          "what it is about is listed first",
	"runs restart host":         "what it is about is listed first",
	"runs restart path":         "what it is about is listed first",
}

// excused reports whether a command needs no flag for a parameter.
func excused(command, table, parameter string) bool {
	for _, key := range []string{parameter, table + " " + parameter, command + " " + parameter} {
		if withoutFlag[key] != "" {
			return true
		}
	}
	return false
}

var tableRow = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| [^|]+ \\| ([a-z, ]+) \\|$")

// parametersOf reads the names of the parameters of some requests from a table.
func parametersOf(t *testing.T, table, of string) (names []string) {
	t.Helper()
	text, err := os.ReadFile(filterTables[table])
	if err != nil {
		t.Fatal(err)
	}
	wanted := append(strings.Split(of, ", "), "all")
	for _, row := range tableRow.FindAllStringSubmatch(string(text), -1) {
		if slices.ContainsFunc(strings.Split(row[2], ", "), func(one string) bool { return slices.Contains(wanted, one) }) {
			names = append(names, row[1])
		}
	}
	if len(names) < 10 {
		t.Fatalf("%s has %d parameters of %s", filterTables[table], len(names), of)
	}
	return names
}

// askedFor runs a command against a node that has nothing, and returns the parameters of its first request that selects.
func askedFor(t *testing.T, words []string) url.Values {
	t.Helper()
	var mu sync.Mutex
	var asked []url.Values
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.URL.Query())
		_, _ = w.Write([]byte(`{"events":[],"groups":[],"messages":[],"runs":[],"cancelled":0}`))
	}))
	defer s.Close()
	t.Setenv(urlVariable, s.URL)
	t.Setenv(tokenVariable, "secret")
	t.Setenv(contextsVariable, filepath.Join(t.TempDir(), "contexts.yaml"))
	root := &cobra.Command{Use: "trireme", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(groupOf(words[0]))
	root.SetArgs(words)
	root.SetOut(&bytes.Buffer{})
	root.SetErr(&bytes.Buffer{})
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatalf("%q: %v", words, err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(asked) == 0 {
		t.Fatalf("%q has asked for nothing", words)
	}
	return asked[0]
}

// filterFlags are the flags of a command that are filters.
func filterFlags(t *testing.T, command string) (names []string) {
	words := strings.Fields(command)
	cmd, _, err := groupOf(words[0]).Find(words[1:])
	if err != nil {
		t.Fatal(err)
	}
	others := []string{"limit", "cursor", "yes", "dry-run", "all", "set", "follow", "interval", "watch", "count"}
	shared := groupOf("queues").PersistentFlags()
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if shared.Lookup(f.Name) == nil && !slices.Contains(others, f.Name) && f.Name != "help" {
			names = append(names, f.Name)
		}
	})
	return names
}

// choicesOf are the only values that a filter of a command takes, none if it takes all.
func choicesOf(t *testing.T, command, flag string) []string {
	words := strings.Fields(command)
	cmd, _, err := groupOf(words[0]).Find(words[1:])
	if err != nil {
		t.Fatal(err)
	}
	return cmd.Flags().Lookup(flag).Annotations[choicesKey]
}

// TestEveryFilterHasAFlag: of each request that lists or selects, every filter in the API's table has a flag in the commands
// that make the request, and every flag sets a filter that the request takes.
func TestEveryFilterHasAFlag(t *testing.T) {
	for _, c := range selecting {
		t.Run(c.command, func(t *testing.T) {
			known := parametersOf(t, c.table, c.of)
			set := map[string]string{}
			for _, name := range filterFlags(t, c.command) {
				value := "1700000000000"
				if choices := choicesOf(t, c.command, name); len(choices) > 0 {
					value = choices[0]
				}
				words := append(strings.Fields(c.command), "--"+name, value)
				if dry, _, _ := groupOf(words[0]).Find(words[1:]); dry.Flags().Lookup("yes") != nil {
					words = append(words, "--yes")
				}
				for parameter, values := range askedFor(t, words) {
					if values[0] == value && set[parameter] == "" {
						set[parameter] = name
					}
				}
				if !slices.ContainsFunc(known, func(parameter string) bool { return set[parameter] == name }) {
					t.Errorf("--%s sets no filter of the table", name)
				}
			}
			for _, parameter := range known {
				if flag := set[parameter]; (flag != "") == excused(c.command, c.table, parameter) {
					t.Errorf("the parameter %s has the flag %q, and there is a reason for none: %v", parameter, flag, flag != "")
				}
			}
		})
	}
}

// TestDestructiveCommandsCanBeTried: whatever asks before it acts can show what it would do.
func TestDestructiveCommandsCanBeTried(t *testing.T) {
	destructive := regexp.MustCompile(`^(delete|cancel|remove|replace|retry|resume|restart|revoke|rotate.*|reset-password)$`)
	n := 0
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
		yes, dry := cmd.Flags().Lookup("yes"), cmd.Flags().Lookup("dry-run")
		if (yes == nil) != (dry == nil) && cmd.Name() != "redis" && cmd.Name() != "add" { // commands of the server, and a file of the user's
			t.Errorf("%s has one of --yes and --dry-run", cmd.CommandPath())
		}
		if yes != nil {
			n++
		}
		// Queues, schedules and flow-control keys are resumed too: that takes nothing away.
		local := cmd.HasParent() && cmd.Parent().Name() == "context" // a file of the user's
		if bulk := strings.Contains(cmd.Use, "[ID…]"); yes == nil && !local && destructive.MatchString(cmd.Name()) && (cmd.Name() != "resume" || bulk) {
			t.Errorf("%s neither asks nor can be tried", cmd.CommandPath())
		}
	}
	for _, group := range Commands() {
		walk(group)
	}
	if n < 18 {
		t.Errorf("%d destructive commands", n)
	}
}
