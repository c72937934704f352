package mutant

// The names of the faults that runs.Commits finds on real nodes.
const (
	RefusedCommitKept    = "refused-commit-kept"
	CommitWithoutAsking  = "commit-without-asking"
	CommitOfFailedAnswer = "commit-of-a-failed-answer"
	CommitTwice          = "commit-twice"
	StepWithoutCommit    = "step-without-its-commit"
)

// commits are the faults of commands that commit with a step or an answer.
var commits = []Fault{
	{
		RefusedCommitKept,
		"what the commands before a refused one have done stays",
		[]Edit{
			{
				"fsm/command/commit.go",
				`				return v, errRolledBack
`,
				`				return v, nil
`,
			},
		},
	},
	{
		CommitWithoutAsking,
		"commands of an answer run although its message has not asked for them",
		[]Edit{
			{
				"fsm/queue/delivery.go",
				`	return c.CommitAs, c.Hops
`,
				`	if c.CommitAs == "" {
		return "default", 0
	}
	return c.CommitAs, c.Hops
`,
			},
			{
				"scheduler/commit.go",
				`	if c.CommitAs == "" {
		return ""
	}
`,
				``,
			},
		},
	},
	{
		CommitOfFailedAnswer,
		"commands of an answer run although it is not one that delivers",
		[]Edit{
			{
				"fsm/queue/delivery.go",
				`m.run || n.Lost || !n.delivers() {`,
				`m.run || n.Lost {`,
			},
			{
				"scheduler/sender.go",
				`	if p.ok() && d == nil {
		n.Commit`,
				`	if d == nil {
		n.Commit`,
			},
		},
	},
	{
		CommitTwice,
		"commands of a step run again when the step is sent again",
		[]Edit{
			{
				"fsm/workflow/submit.go",
				`	if _, done := s.earlierEntry(r, n); done {
		return "", 0
	}
`,
				``,
			},
			{
				"fsm/commit.go",
				`		if refusal := record(); refusal != nil || !r.Deduplicated {
`,
				`		if refusal := record(); refusal != nil || !r.Deduplicated || true {
`,
			},
		},
	},
	{
		StepWithoutCommit,
		"a step is recorded although its commands were refused",
		[]Edit{
			{
				"fsm/commit.go",
				`		r = workflow.Receipt{Refused: refusal}
`,
				`		record()
`,
			},
		},
	},
}
