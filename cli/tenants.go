package cli

import (
	"net/url"

	"github.com/spf13/cobra"
)

// tenantRow is a tenant of a queue or a flow-control key.
type tenantRow struct {
	Tenant     string `json:"tenant"`
	Weight     int    `json:"weight"`
	Waiting    int    `json:"waiting"`
	Unfinished int    `json:"unfinished"`
}

var tenantColumns = []column{
	{"TENANT", "tenant", nil, named}, {"WEIGHT", "weight", nil, keep}, {"WAITING", "waiting", nil, keep}, {"UNFINISHED", "unfinished", nil, keep},
}

// tenants adds the command that lists who shares a queue or a flow-control key.
func (g *group) tenants(noun, path string, names func(*session) []string, example string) {
	g.add(spec{
		use: "tenants " + noun, short: "List the tenants that share it, their weights and how many of their messages wait", args: cobra.ExactArgs(1),
		complete: names, view: watched, example: example,
		run: func(s *session) error {
			rows := []tenantRow{}
			for query := (url.Values{"tenants": {"true"}}); ; {
				var answer struct {
					Tenants []tenantRow `json:"tenants"`
					Cursor  string      `json:"tenantsCursor"`
				}
				if err := s.receive(s.ctx, request{method: "GET", path: s.in(path + escape(s.args[0])), query: query}, &answer); err != nil {
					return err
				}
				rows = append(rows, answer.Tenants...)
				if answer.Cursor == "" {
					break
				}
				query.Set("cursor", answer.Cursor)
			}
			_, err := s.listed(rows, tenantColumns)
			return err
		},
	})
}
