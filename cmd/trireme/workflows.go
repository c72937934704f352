package main

import (
	"github.com/spf13/pflag"

	"github.com/trireme-dev/trireme/cli"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// workflowFlags declares the replicated settings of workflows. The cluster's first start
// stores them; later POST /admin/settings/workflows changes them.
func workflowFlags(f *pflag.FlagSet, n *workflow.Settings) {
	*n = workflow.DefaultSettings()
	f.Var((*millis)(&n.EndedAge), "run-retention", "how long workflow runs that have ended, and their ids, are kept (0 = unlimited); replicated like --max-memory")
	f.Var((*byteSize)(&n.EndedBytes), "run-bytes", "maximum size of the ended runs that are kept, dead letters included (0 = unlimited); replicated")
	f.Var((*millis)(&n.DeadAge), "run-dlq-retention", "how long dead letters of workflow runs are kept (0 = unlimited); replicated")
	f.Var((*byteSize)(&n.Inline), "max-inline-log", "maximum size of a run's log that is sent with a delivery to an endpoint that can fetch it (0 = unlimited); replicated")
	f.Var((*byteSize)(&n.SavedBytes), "stored-notification-bytes", "maximum size of a run's stored notifications, those without a waiter yet (0 = unlimited); replicated")
	f.IntVar(&n.MaxSaved, "max-stored-notifications", n.MaxSaved, "maximum number of a run's stored notifications (0 = unlimited); replicated")
	f.IntVar(&n.MaxDepth, "max-invoke-depth", n.MaxDepth, "maximum depth of nested invocations of workflow runs (0 = unlimited); replicated")
}

// checkWorkflows checks the settings of workflows.
func (s *settings) checkWorkflows() error {
	for name, v := range map[string]int{ // unordered: any of the wrong ones will do
		"max-stored-notifications": s.Workflows.MaxSaved, "max-invoke-depth": s.Workflows.MaxDepth,
	} {
		if v < 0 {
			return cli.Usagef("--%s must not be negative, got %d", name, v)
		}
	}
	return nil
}
