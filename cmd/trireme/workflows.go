package main

import (
	"github.com/spf13/pflag"

	"trireme/fsm/flow"
)

// workflowFlags declares the replicated settings of workflows. They are taken at the
// cluster's first start; later POST /admin/settings/workflows changes them.
func workflowFlags(f *pflag.FlagSet, n *flow.Settings) {
	*n = flow.DefaultSettings()
	f.Var((*millis)(&n.EndedAge), "run-retention", "how long workflow runs that are over are kept, and their ids taken; 0 is for ever; replicated like --max-memory")
	f.Var((*byteSize)(&n.EndedBytes), "run-bytes", "how much of them is kept, dead letters included; 0 is all; replicated")
	f.Var((*millis)(&n.DeadAge), "run-dlq-retention", "how long dead letters of workflow runs are kept; 0 is for ever; replicated")
	f.Var((*byteSize)(&n.Inline), "max-inline-log", "largest log of a run that is sent with a delivery to an endpoint that can fetch it; 0 is any; replicated")
	f.Var((*byteSize)(&n.SavedBytes), "stored-notification-bytes", "how much one run may have of notifications that it does not wait for yet; 0 is any; replicated")
	f.IntVar(&n.MaxSaved, "max-stored-notifications", n.MaxSaved, "how many of them; 0 is any; replicated")
	f.IntVar(&n.MaxDepth, "max-invoke-depth", n.MaxDepth, "how deep workflow runs may invoke one another; 0 is any; replicated")
}

// checkWorkflows refuses settings that can't be.
func (s *settings) checkWorkflows() error {
	for name, v := range map[string]int{ // unordered: any of the wrong ones will do
		"max-stored-notifications": s.Workflows.MaxSaved, "max-invoke-depth": s.Workflows.MaxDepth,
	} {
		if v < 0 {
			return usagef("--%s %d is less than 0", name, v)
		}
	}
	return nil
}
