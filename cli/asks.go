package cli

import (
	"fmt"
	"strings"

	"github.com/trireme-dev/trireme/fsm/command"
)

// asks maps the commands of the keyspace that destroy more than they name, or a user's access, to what they destroy. The
// prompt of `trireme redis` and the console's command line, which has this table as asks.json, ask before they run one.
var asks = map[string]string{
	"acl deluser":      "The users are deleted and signed out everywhere at once, consoles included.",
	"client kill":      "The connections that match are closed, those of apps too.",
	"client pause":     "All clients of this node wait until the pause ends.",
	"config resetstat": "The counters of INFO begin anew.",
	"flushall":         "All keys are deleted, on all nodes.",
	"flushdb":          "All keys are deleted, on all nodes.",
	"function delete":  "The library and all its functions are deleted, on all nodes: calls of them fail.",
	"function flush":   "All function libraries are deleted, on all nodes: calls of them fail.",
	"function restore": "With FLUSH or REPLACE, libraries that are there are lost.",
	"latency reset":    "The latencies that were measured are forgotten.",
	"msg.cancel":       "Messages that are not delivered yet and match are canceled.",
	"script flush":     "All cached scripts are forgotten, on all nodes: EVALSHA fails until clients load theirs again.",
	"search.drop":      "The index is deleted, on all nodes: queries of it fail. The keys stay.",
	"slowlog reset":    "The slow commands of this node are forgotten.",
	"swapdb":           "The two databases change places for all clients at once.",
	"wf.cancel":        "Runs that match are canceled: no more of their steps are called.",
}

// destroys returns a command's name and what it takes away, empty for one that is not asked about.
func destroys(table *command.Table, words []string) (name, what string) {
	argv := make([][]byte, len(words))
	for i, w := range words {
		argv[i] = []byte(w)
	}
	row := table.Find(argv)
	if row == nil {
		return "", ""
	}
	return strings.ToUpper(row.Name), asks[row.Name]
}

// confirm asks for confirmation before a command that destroys more than it names, if there is a terminal.
func (r *redis) confirm(words []string) error {
	name, what := destroys(r.table, words)
	if what == "" || r.yes || !IsTerminal(r.cmd.InOrStdin()) {
		return nil
	}
	return agreed(r.cmd, fmt.Sprintf("%s in database %s: %s Run it?", name, first(r.Client.database, "default"), what))
}
