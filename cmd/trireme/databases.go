package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// databaseView is a database in the answers of /admin/databases. The tokens are there
// only where they were just made.
type databaseView struct {
	Name          string `json:"name"`
	Path          string `json:"path"`
	CreatedAt     string `json:"createdAt"`
	Keys          int    `json:"keys"`
	Bytes         int64  `json:"bytes"`
	Users         int    `json:"users"`
	Token         string `json:"token"`
	ReadOnlyToken string `json:"readonlyToken"`
}

func databaseCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "db",
		Short: "List, create and delete databases, and reset their tokens",
		Long: "Asks the node at TRIREME_URL (default " + defaultURL + ") with the token in TRIREME_ADMIN_TOKEN.\n" +
			"Exit codes: 0 done, 1 failed, 2 wrong usage.",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_ = cmd.Help()
			return usagef("a subcommand of db is needed, such as list")
		},
	}
	cmd.AddCommand(
		askDatabases("list", "List the databases", "GET", func(string) string { return "" }, listDatabases),
		askDatabases("create NAME", "Create a database and print its tokens, once", "POST", func(string) string { return "" }, showTokens),
		askDatabases("delete NAME", "Delete a database with everything in it", "DELETE",
			func(name string) string { return "/" + url.PathEscape(name) }, showDeleted),
		askDatabases("reset-password NAME", "Replace both tokens of a database and print the new ones, once", "POST",
			func(name string) string { return "/" + url.PathEscape(name) + "/reset-password" }, showTokens),
	)
	return cmd
}

// askDatabases is a subcommand that makes one request. Those with a NAME take one
// argument.
func askDatabases(use, short, method string, path func(name string) string, show func(io.Writer, []byte) error) *cobra.Command {
	var asJSON bool
	args := cobra.ExactArgs(1)
	if use == "list" {
		args = cobra.NoArgs
	}
	cmd := &cobra.Command{
		Use: use, Short: short, Args: usageArgs(args),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := newRemote()
			if err != nil {
				return err
			}
			name, body := "", any(nil)
			if len(args) > 0 {
				name = args[0]
			}
			if method == "POST" && path(name) == "" {
				body = map[string]string{"name": name}
			}
			var answer json.RawMessage
			if err := r.call(cmd.Context(), method, "/admin/databases"+path(name), body, &answer); err != nil {
				return err
			}
			if asJSON {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", answer)
				return err
			}
			return show(cmd.OutOrStdout(), answer)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func listDatabases(out io.Writer, answer []byte) error {
	var list struct {
		Databases []databaseView `json:"databases"`
	}
	if err := json.Unmarshal(answer, &list); err != nil {
		return fmt.Errorf("read the list of databases: %w", err)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tPATH\tKEYS\tBYTES\tUSERS\tCREATED")
	for _, d := range list.Databases {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%s\n", d.Name, d.Path, d.Keys, d.Bytes, d.Users, dash(d.CreatedAt))
	}
	return w.Flush()
}

func readDatabase(answer []byte) (d databaseView, err error) {
	if err := json.Unmarshal(answer, &d); err != nil {
		return d, fmt.Errorf("read the answer about a database: %w", err)
	}
	return d, nil
}

func showTokens(out io.Writer, answer []byte) error {
	d, err := readDatabase(answer)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "NAME\t%s\nPATH\t%s\nTOKEN\t%s\nREADONLY TOKEN\t%s\n", d.Name, d.Path, d.Token, d.ReadOnlyToken)
	return w.Flush()
}

func showDeleted(out io.Writer, answer []byte) error {
	d, err := readDatabase(answer)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "deleted %s with %d keys\n", d.Name, d.Keys)
	return err
}
