package cli

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trireme-dev/trireme/internal/plural"
)

func databaseGroup() *cobra.Command {
	g := newGroup(ofCluster, "databases", "List, create and delete databases, and reset their tokens", "database", "db")
	plain := func(f *pflag.FlagSet) { g.oneLine(f) }
	withConsent := func(c *consent) func(*pflag.FlagSet) {
		return func(f *pflag.FlagSet) {
			c.flags(f)
			g.oneLine(f)
		}
	}
	var listed paging
	largest := false
	g.add(spec{
		view: watched, use: "list", short: "List the databases by name, or the largest", example: "databases list --largest --limit 5\ndatabases list --limit 0 --output json",
		flags: func(f *pflag.FlagSet) {
			plain(f)
			listed.flags(f)
			f.BoolVar(&largest, "largest", false, "those that take most memory, the largest first, at most 1000")
		},
		run: func(s *session) error {
			query := url.Values{}
			if largest {
				query.Set("order", "memory")
			}
			return s.printPage(&databaseList, query, listed)
		},
	})
	g.add(spec{
		use: "create NAME", short: "Create a database and print its tokens once", args: cobra.ExactArgs(1), example: "databases create shop", flags: plain,
		run: func(s *session) error {
			var doc json.RawMessage
			if err := s.Call(s.ctx, "POST", "/admin/databases", map[string]string{"name": s.args[0]}, &doc); err != nil {
				return err
			}
			return s.tokens(doc)
		},
	})
	var deleting, resetting consent
	g.add(spec{
		use: "delete NAME", short: "Delete a database with all its data", args: cobra.ExactArgs(1), complete: databaseNames,
		example: "databases delete shop --dry-run\ndatabases delete shop --yes", flags: withConsent(&deleting),
		run: func(s *session) error { return s.deleteDatabase(&deleting) },
	})
	g.add(spec{
		use: "reset-password NAME", short: "Replace both tokens of a database and print the new ones once", args: cobra.ExactArgs(1), complete: databaseNames,
		long: "The old ones are void at once.", example: "databases reset-password shop --yes", flags: withConsent(&resetting),
		run: func(s *session) error { return s.resetTokens(&resetting, s.args[0]) },
	})
	g.add(spec{
		use: "limit NAME [BYTES]", short: "Show or set the memory limit of a database", args: cobra.RangeArgs(1, 2), complete: databaseNames,
		long:    "Without BYTES it shows the limit in force. 0 = unlimited, up to the limit of the cluster; share = the part of that which tenantMemoryPercent says.",
		example: "databases limit shop\ndatabases limit shop 1073741824\ndatabases limit shop share", flags: plain,
		run: func(s *session) error { return s.limitDatabase(s.args[0], s.args[1:]) },
	})
	return g.Command
}

// limitDatabase shows the memory limit of a database, or sets it.
func (s *session) limitDatabase(name string, to []string) error {
	path := databasePath(name) + "/settings"
	var doc json.RawMessage
	var err error
	switch {
	case len(to) == 0:
		doc, err = s.get(path)
	case to[0] == "share":
		err = s.Call(s.ctx, "POST", path, map[string]any{"maxMemory": nil}, &doc)
	default:
		bytes, bad := strconv.ParseInt(to[0], 10, 64)
		if bad != nil || bytes < 0 {
			return errorf(ExitUsage, "the limit must be a number of bytes (0 = unlimited) or share, got %q", to[0])
		}
		err = s.Call(s.ctx, "POST", path, map[string]any{"maxMemory": bytes}, &doc)
	}
	if err != nil {
		return err
	}
	var now struct{ MaxMemoryInForce *int64 }
	switch {
	case json.Unmarshal(doc, &now) != nil || now.MaxMemoryInForce == nil:
		return s.noNode()
	case *now.MaxMemoryInForce == 0:
		return s.say(doc, "%s has no memory limit but that of the cluster", name)
	}
	return s.say(doc, "%s may use %s of memory", name, plural.Of(*now.MaxMemoryInForce, "byte"))
}

// oneLine declares the flag for JSON that is older than --output.
func (g *group) oneLine(f *pflag.FlagSet) {
	f.BoolVar(&g.line, "json", false, "print JSON in one line")
}

// tokens prints the tokens of a database that were just made.
func (s *session) tokens(doc []byte) error {
	out := s.cmd.OutOrStdout()
	if done, err := s.structured(out, doc); done {
		return err
	}
	var d struct {
		Name          string `json:"name"`
		Path          string `json:"path"`
		Token         string `json:"token"`
		ReadOnlyToken string `json:"readonlyToken"`
	}
	if json.Unmarshal(doc, &d) != nil {
		return s.noNode()
	}
	return s.record(struct {
		Name          string `json:"name"`
		Path          string `json:"path"`
		Token         string `json:"token"`
		ReadOnlyToken string `json:"readonly token"`
	}(d), "token")
}

func databasePath(name string) string { return "/admin/databases/" + url.PathEscape(name) }

// databaseList is the list of all databases.
var databaseList = listing{path: "/admin/databases", key: "databases", id: "name", most: 1000, global: true, columns: []column{
	{"NAME", "name", nil, named}, {"PATH", "path", nil, drops}, {"KEYS", "keys", nil, keep}, {"BYTES", "bytes", size, keep}, {"USERS", "users", nil, keep}, {"CREATED", "createdAt", whenText, drops},
}}

// existing finds a database by its name, as one of a list.
func (s *session) existing(name string) error {
	all, err := s.every(&databaseList, nil)
	if err != nil {
		return err
	}
	if !slices.Contains(texts(all, "name"), name) {
		return errorf(ExitUnknown, "there is no database %q: databases list shows them", name)
	}
	return nil
}

func (s *session) deleteDatabase(c *consent) error {
	name := s.args[0]
	return c.carry(s, act{"delete", "database", func() ([]string, error) { return s.args, s.existing(name) }, func() error {
		var doc json.RawMessage
		if err := s.Call(s.ctx, "DELETE", databasePath(name), nil, &doc); err != nil {
			return err
		}
		var d struct{ Keys int }
		if json.Unmarshal(doc, &d) != nil {
			return s.noNode()
		}
		return s.say(doc, "deleted %s with %s", name, plural.Of(d.Keys, "key"))
	}})
}

// resetTokens replaces the tokens of a database.
func (s *session) resetTokens(c *consent, name string) error {
	return c.carry(s, act{"reset the tokens of", "database", func() ([]string, error) { return []string{name}, s.existing(name) }, func() error {
		var doc json.RawMessage
		if err := s.Call(s.ctx, "POST", databasePath(name)+"/reset-password", nil, &doc); err != nil {
			return err
		}
		return s.tokens(doc)
	}})
}
