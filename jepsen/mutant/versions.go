package mutant

// The names of the faults of deployments and forks of runs. Tests find them.
const (
	MoveLeavesMessages = "move-leaves-messages"
	ForkKeepsRights    = "fork-keeps-rights"
)

// versions are the faults of deployments and forks of runs.
var versions = []Fault{
	{
		MoveLeavesMessages,
		"what waits for a busy host goes on waiting for it when its run was moved to another one",
		[]Edit{
			{
				"fsm/workflow/deployed.go",
				`		wo.q.Redirect(wo.e, n.ID, s.target(r))
`,
				`		_ = n.ID
`,
			},
		},
	},
	{
		ForkKeepsRights,
		"the commands of a fork's steps run with the rights of the user whom the forked run names",
		[]Edit{
			{
				"fsm/workflow/fork.go",
				`	c.CommitAs, c.Gather, c.Given = "", nil, c.Given&^(queue.GivenCommit|queue.GivenGather)
`,
				`	c.Gather, c.Given = nil, c.Given&^queue.GivenGather
`,
			},
		},
	},
}
