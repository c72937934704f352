package mutant

// snapshots are the faults of snapshots as copies of the state.
var snapshots = []Fault{
	{
		"snapshot-shares-the-state",
		"a snapshot shares what is under way with the running state",
		[]Edit{
			{
				"fsm/session.go",
				`		d.bits = slices.Clone(c.bits)
`,
				"",
			},
		},
	},
}
