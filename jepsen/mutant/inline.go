package mutant

// The names of the faults of several steps in one delivery. runs.Commits finds the first on real nodes, tests the others.
const (
	GoesAlongNowhere = "goes-along-nowhere"
	OwnResultAnyway  = "own-result-anyway"
	ChainGoesOn      = "chain-goes-on"
)

// inline are the faults of several steps in one delivery.
var inline = []Fault{
	{
		GoesAlongNowhere,
		"the message of an attempt that goes on delivers again what it delivered at first",
		[]Edit{
			{
				"fsm/queue/carry.go",
				`	c.Run = run
`,
				`	_ = run
`,
			},
		},
	},
	{
		OwnResultAnyway,
		"an endpoint whose step was recorded by another attempt goes on with its own result",
		[]Edit{
			{
				"fsm/workflow/submit.go",
				`Inline: s.wentOn(q, r, n, won)}`,
				`Inline: n.Attempt.Number > 0 || s.wentOn(q, r, n, won)}`,
			},
		},
	},
	{
		ChainGoesOn,
		"steps are recorded after one of the same request that was refused",
		[]Edit{
			{
				"fsm/workflow/submit.go",
				`		if n.Broken(i, out.Items) {`,
				`		if i < 0 && n.Broken(i, out.Items) {`,
			},
		},
	},
}
