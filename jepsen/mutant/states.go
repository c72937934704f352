package mutant

// The names of the faults that runs.States finds on real nodes.
const (
	StateOfRepeatedStep = "state-of-a-repeated-step"
	StateOfRefusedStep  = "state-of-a-refused-step"
	UpdatePastItsRule   = "update-past-its-rule"
	UpdateTwice         = "update-twice"
	KeptEventTwice      = "kept-event-twice"
)

// states are the faults of the state of runs, of their updates and of the events that they keep.
var states = []Fault{
	{
		StateOfRepeatedStep,
		"a step that is sent again sets the state again",
		[]Edit{
			{
				"fsm/workflow/submit.go",
				`	if won, ok := s.earlierEntry(r, n); ok {
		out := Receipt{`,
				`	if won, ok := s.earlierEntry(r, n); ok {
		k := s.edit(e, q, r)
		k.tell(n, told{state: n.State})
		k.store()
		out := Receipt{`,
			},
		},
	},
	{
		StateOfRefusedStep,
		"a step whose commands are refused sets the state",
		[]Edit{
			{
				"fsm/workflow/submit.go",
				`	return r.CommitAs, r.Hops
}
`,
				`	if says, wrong := readTold(n); wrong == nil { // before the commands, and so not undone with them
		k := s.edit(&env.Env{}, nil, r)
		k.tell(n, says)
		k.store()
	}
	return r.CommitAs, r.Hops
}
`,
			},
		},
	},
	{
		UpdatePastItsRule,
		"an update is accepted whatever its rule says",
		[]Edit{
			{
				"fsm/workflow/update.go",
				`	if v.Rule, v.Refused, err = s.judge(r, n); err != nil || v.Refused != "" {
`,
				`	if v.Rule, v.Refused, err = s.judge(r, n); err != nil {
`,
			},
		},
	},
	{
		UpdateTwice,
		"an update that is sent again is taken again",
		[]Edit{
			{
				"fsm/workflow/update.go",
				`		v.Accepted, v.Deduplicated = true, true
		return out, nil
`,
				`		v.Deduplicated = true
`,
			},
		},
	},
	{
		KeptEventTwice,
		"an event that is kept for a run stays when a wait has taken it",
		[]Edit{
			{
				"fsm/workflow/notify.go",
				`	wo.s.saved.Delete(at)
	wo.r.saved--
	wo.r.kept -= n.size()
	wo.count(-n.size())
`,
				`	if !wo.r.Active() {
		wo.s.saved.Delete(at)
		wo.r.saved--
		wo.r.kept -= n.size()
		wo.count(-n.size())
	}
`,
			},
		},
	},
}
