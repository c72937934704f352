package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"github.com/spf13/cobra"
)

// changeTimeout covers the slowest change of nodes: one that leaves may drain for ten
// seconds.
const changeTimeout = 45 * time.Second

// nodeChange is a command that has a node go.
type nodeChange struct {
	asJSON bool
	said   string // once it is gone, with its id
}

// ask sends the request and prints its outcome.
func (c *nodeChange) ask(cmd *cobra.Command, id, method, path string, body any) error {
	r, err := newRemote()
	if err != nil {
		return err
	}
	r.client.Timeout = changeTimeout
	var answer json.RawMessage
	if err := r.call(cmd.Context(), method, path, body, &answer); err != nil {
		return err
	}
	if c.asJSON {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", answer)
		return err
	}
	var view struct {
		Result string `json:"result"`
	}
	if err := json.Unmarshal(answer, &view); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if view.Result == "leaving" {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s, which was asked, finishes its requests and stops; another node's status shows when it is gone\n", id)
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), c.said+"\n", id)
	return err
}

func nodePath(id string) string { return "/admin/cluster/nodes/" + url.PathEscape(id) }

func removeCommand() *cobra.Command {
	c := &nodeChange{said: "%s is no node of the cluster any more"}
	force := false
	cmd := &cobra.Command{
		Use:   "remove ID",
		Short: "Remove a node from the cluster",
		Long: "Removes a node: it finishes its requests, transfers leadership, leaves and stops. If a non-voter has caught up, it\n" +
			"becomes a voter first. Refused if fewer than three voters would remain, unless --force is given, and always if\n" +
			"the remaining nodes that answer are no majority.",
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := nodePath(args[0])
			if force {
				path += "?force=true"
			}
			return c.ask(cmd, args[0], "DELETE", path, nil)
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "also if fewer than three voters remain")
	cmd.Flags().BoolVar(&c.asJSON, "json", false, "print JSON")
	return cmd
}

func replaceCommand() *cobra.Command {
	c := &nodeChange{said: "%s is replaced"}
	with := ""
	cmd := &cobra.Command{
		Use:   "replace ID --with ID",
		Short: "Replace a node by a non-voter",
		Long: "Replaces a node by one that joined as a non-voter: that one becomes a voter, and the other leaves.\n" +
			"A node that joins with --replace does the same automatically.",
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if with == "" {
				return usagef("--with names the node that takes the place of %s", args[0])
			}
			return c.ask(cmd, args[0], "POST", nodePath(args[0])+"/replace", map[string]string{"with": with})
		},
	}
	cmd.Flags().StringVar(&with, "with", "", "`ID` of the non-voter that takes its place")
	cmd.Flags().BoolVar(&c.asJSON, "json", false, "print JSON")
	return cmd
}
