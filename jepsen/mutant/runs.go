package mutant

// runs are the faults of workflow runs.
var runs = []Fault{
	{
		"second-result-of-a-step",
		"a second result of a step is accepted",
		[]Edit{
			{
				"fsm/workflow/submit.go",
				`	for _, c := range classes {
`,
				`	for _, c := range classes {
		if c == markResult {
			continue
		}
`,
			},
		},
	},
	{
		"plain-notify-remembered",
		"a notification that meets no waiter is kept for the next",
		[]Edit{
			{
				"fsm/workflow/notify.go",
				`		return s.notifyAll(e, q, &n), nil
`,
				`		if len(s.Waiters(n.EventID, queue.NamePage{Limit: 1}).Elements) > 0 {
			return s.notifyAll(e, q, &n), nil
		}
		list, _, _ := s.Runs(&Filter{}, Page{Limit: 1000})
		for _, r := range list {
			if r.Active() {
				if err := s.save(e, q, r, &n); err != nil {
					return Notified{}, err
				}
			}
		}
		return Notified{}, nil
`,
			},
		},
	},
	// A waiter is taken out in two places: when it is woken and when its step has a result. Only without both does it stay.
	{
		"waiter-woken-twice",
		"a waiter that was notified stays, and is notified again",
		[]Edit{
			{
				"fsm/workflow/notify.go",
				`		k.forgetWaiter(w)
		id := k.wake`,
				`		id := k.wake`,
			},
			{
				"fsm/workflow/work.go",
				`	if w, found := wo.s.waiters.Get(no); waited && found {
		wo.forgetWaiter(w)`,
				`	if w, found := wo.s.waiters.Get(no); waited && found && false {
		wo.forgetWaiter(w)`,
			},
		},
	},
	{
		"dead-run-revived-twice",
		"a dead run is not consumed by its revival",
		[]Edit{
			{
				"fsm/workflow/revive.go",
				`		r := s.revive(e, q, old, &n)
		s.removeDeadLetter(old)
`,
				`		r := s.revive(e, q, old, &n)
`,
			},
		},
	},
}
