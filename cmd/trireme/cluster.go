package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// clusterView is the answer of GET /admin/cluster.
type clusterView struct {
	Leader string     `json:"leader"`
	Term   uint64     `json:"term"`
	Nodes  []nodeView `json:"nodes"`
}

// nodeView is one node of the answer. LastContactMs is how long ago the node
// heard of its leader, or -1 if it doesn't answer.
type nodeView struct {
	ID            string `json:"id"`
	HTTP          string `json:"http"`
	Cluster       string `json:"cluster"`
	Suffrage      string `json:"suffrage"`
	State         string `json:"state"`
	AppliedIndex  uint64 `json:"appliedIndex"`
	LastContactMs int64  `json:"lastContactMs"`
	Version       string `json:"version"`
	Leaving       bool   `json:"leaving"`
}

func clusterCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "Show and change a running cluster",
		Long: "Asks the node at TRIREME_URL (default " + defaultURL + ") with the token in TRIREME_ADMIN_TOKEN.\n" +
			"Exit codes: 0 done, 1 failed, 2 wrong usage.",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_ = cmd.Help()
			return usagef("a subcommand of cluster is needed, such as status")
		},
	}
	cmd.AddCommand(statusCommand(), transferCommand(), removeCommand(), replaceCommand())
	return cmd
}

func statusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the nodes and the leader",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := newRemote()
			if err != nil {
				return err
			}
			var answer json.RawMessage
			if err := r.call(cmd.Context(), "GET", "/admin/cluster", nil, &answer); err != nil {
				return err
			}
			if asJSON {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", answer)
				return err
			}
			var view clusterView
			if err := json.Unmarshal(answer, &view); err != nil {
				return fmt.Errorf("read the state of the cluster: %w", err)
			}
			return view.table(cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// table prints the view for people.
func (v *clusterView) table(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSTATE\tSUFFRAGE\tAPPLIED\tLAST CONTACT\tHTTP\tCLUSTER\tVERSION")
	for _, n := range v.Nodes {
		contact := "-"
		if n.LastContactMs >= 0 {
			contact = fmt.Sprintf("%d ms", n.LastContactMs)
		}
		state := n.State
		if n.Leaving {
			state += ", leaving"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\n", n.ID, state, n.Suffrage, n.AppliedIndex, contact, dash(n.HTTP), dash(n.Cluster), dash(n.Version))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "leader %s, term %d\n", dash(v.Leader), v.Term)
	return err
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func transferCommand() *cobra.Command {
	var to, from string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "transfer-leader",
		Short: "Transfer leadership to another node",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := newRemote()
			if err != nil {
				return err
			}
			if leads, err := r.leads(cmd.Context(), from); err != nil || !leads {
				return err
			}
			body := map[string]string{}
			if to != "" {
				body["to"] = to
			}
			var answer json.RawMessage
			if err := r.call(cmd.Context(), "POST", "/admin/cluster/transfer-leader", body, &answer); err != nil {
				return err
			}
			if asJSON {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", answer)
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "leadership handed over")
			return err
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "transfer only if the node with this `ID` is leader; self = the node of TRIREME_NODE_ID")
	cmd.Flags().StringVar(&to, "to", "", "`ID` of the next leader (default: the most up-to-date voter)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// leads reports whether a node leads: the one of an id, that of this process's environment for
// "self", or, if the id is empty, any node.
func (r *remote) leads(ctx context.Context, id string) (bool, error) {
	if id == "self" {
		if id = os.Getenv(variableOf("node-id")); id == "" {
			return false, usagef("--from self is the node of TRIREME_NODE_ID, which is not set")
		}
	}
	if id == "" {
		return true, nil
	}
	var view clusterView
	err := r.call(ctx, "GET", "/admin/cluster", nil, &view)
	return view.Leader == id, err
}
