package cli

import (
	"encoding/json"
	"net/url"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trireme-dev/trireme/internal/plural"
)

// mostBulk is the largest page of bulk actions.
const mostBulk = 1000

// bulkActions adds the commands for cancellations of many messages or runs; path is their path in the API.
func (g *group) bulkActions(path, noun string) {
	parent := &cobra.Command{
		Use: "bulk", Short: "List cancellations of many " + noun + "s, follow and stop them", Args: UsageArgs(cobra.NoArgs),
		RunE: requireSubcommand,
	}
	add := func(n spec) {
		cmd := &cobra.Command{}
		g.fill(cmd, n)
		parent.AddCommand(cmd)
	}
	list := &listing{
		path: path, key: "bulkActions", id: "actionId", most: mostBulk,
		columns: []column{
			{"ACTION", "actionId", nil, named}, {"STATE", "state", stateForm, keep}, {"TOTAL", "total", nil, keep}, {"PROCESSED", "processed", nil, keep},
			{"CREATED", "createdAt", when, keep}, {"COMPLETED", "completedAt", when, keep},
		},
	}
	name := g.Name() + " bulk "
	var p paging
	unfinished := false
	add(spec{
		view: watched, use: "list", short: "List the cancellations of the last seven days, the newest first", example: name + "list\n" + name + "list --in-progress --output json",
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&unfinished, "in-progress", false, "only those that are not finished")
			p.flags(f)
		},
		run: func(s *session) error {
			query := url.Values{}
			if unfinished {
				query.Set("state", "IN_PROGRESS")
			}
			return s.printPage(list, query, p)
		},
	})
	add(spec{
		view: watched, use: "get ID", short: "Show how far a cancellation is, and its filters", args: cobra.ExactArgs(1), complete: list.newest, example: name + "get bulk_7uP…",
		run: func(s *session) error { return s.show(s.in(path+"/"+escape(s.args[0])), "actionId") },
	})
	var c consent
	add(spec{
		use: "stop ID", short: "Stop a cancellation; what it has not cancelled yet stays", args: cobra.ExactArgs(1), complete: list.newest, example: name + "stop bulk_7uP… --yes",
		flags: c.flags,
		run: func(s *session) error {
			at := s.in(path + "/" + escape(s.args[0]))
			return c.carry(s, act{"stop", "bulk action", s.named(at, s.args[0]), func() error { return s.stopBulk(at, noun) }})
		},
	})
	g.AddCommand(parent)
}

// stopBulk ends a bulk action, and says how far it came.
func (s *session) stopBulk(path, noun string) error {
	var doc json.RawMessage
	if err := s.Call(s.ctx, "DELETE", path, nil, &doc); err != nil {
		return err
	}
	var n struct {
		ID        string `json:"actionId"`
		Processed int    `json:"processed"`
		Total     int    `json:"total"`
	}
	if json.Unmarshal(doc, &n) != nil {
		return s.noNode()
	}
	return s.say(doc, "the bulk action %s is stopped: %d of %s were cancelled", n.ID, n.Processed, plural.Of(n.Total, noun))
}
