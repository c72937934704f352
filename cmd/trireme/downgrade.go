package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/trireme-dev/trireme/cli"
	"github.com/trireme-dev/trireme/cluster/consensus/logstore"
)

func downgradeCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "downgrade --data-dir DIR",
		Short: "Write a stopped node's log as version 0.2.0 reads it",
		Long: "The first start of this version upgrades the node's log, and version 0.2.0 refuses the directory from then on. This command\n" +
			"writes the log in the former format again, so that the node can go back while the cluster's feature level allows it\n" +
			"(docs/upgrading.md). No data are lost. A later start of this version upgrades it again.\n" +
			"Exit codes: 0 done, 1 failed, 2 wrong usage.",
		Example: "  systemctl stop trireme && trireme downgrade --data-dir /var/lib/trireme",
		Args:    cli.UsageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir == "" {
				return cli.Usagef("downgrade needs --data-dir DIR, the directory of a stopped node")
			}
			return downgrade(cmd, dir)
		},
	}
	cmd.Flags().StringVar(&dir, "data-dir", "", "`DIR` of the stopped node")
	return cmd
}

func downgrade(cmd *cobra.Command, dir string) error {
	snapshots, err := logstore.CheckSnapshots(dir)
	if err != nil {
		return err
	}
	first, last, err := logstore.WriteFormer(logstore.Options{
		Dir: dir, Snapshots: snapshots, Space: logstore.Space{Reserve: -1}, ProbeEvery: -1, ScrubEvery: -1, Stall: singleNodeStall,
		Fatal: func(error) {}, // the call that is under way returns it
	})
	if err != nil {
		return fmt.Errorf("downgrade %s: %w", dir, err)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is as version 0.2.0 left it, with log entries %d to %d; start that version now\n", dir, first, last)
	return err
}
