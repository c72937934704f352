package mutant

// The names of the faults of several steps in one delivery. runs.Commits finds the first on real nodes, a test the second.
const (
	GoesAlongNowhere = "goes-along-nowhere"
	OwnResultAnyway  = "own-result-anyway"
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
				`Inline: s.wentOn(q, r, n)}`,
				`Inline: n.Attempt.Number > 0 || s.wentOn(q, r, n)}`,
			},
		},
	},
}
