package main

import (
	"net"

	"github.com/spf13/cobra"
)

func serveCommand() *cobra.Command {
	s := &settings{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run one node of a cluster",
		Long: "Runs one node of a cluster. Every flag has a variable (--data-dir is TRIREME_DATA_DIR) and a key in\n" +
			"the YAML file of --config; a flag beats the variable, the variable beats the file.",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := load(cmd.Flags()); err != nil {
				return err
			}
			if err := s.checkServe(); err != nil {
				return err
			}
			return s.serve(cmd)
		},
	}
	nodeFlags(cmd.Flags(), s)
	clusterFlags(cmd.Flags(), s)
	return cmd
}

func (s *settings) serve(cmd *cobra.Command) error {
	log, err := s.logger(cmd.ErrOrStderr(), cmd.Flags())
	if err != nil {
		return err
	}
	log = log.With("node", s.NodeID)
	given, err := givenCredentials()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", s.HTTP)
	if err != nil {
		return taken("http", err)
	}
	ctx, stop := untilSignal(cmd.Context(), log)
	defer stop()
	return s.serveNode(ctx, log, listener, &clusterNode{settings: s, given: given, out: cmd.OutOrStdout()})
}
