package mutant

// messages are the faults of messages, their attempts and their schedules.
var messages = []Fault{
	{
		"order-not-kept-across-leaders",
		"a new leader takes over at once what is delivered one at a time",
		[]Edit{
			{
				"fsm/queue/lease.go",
				`		return !c.exclusive && (c.Epoch`,
				`		return (c.Epoch`,
			},
		},
	},
	{
		"queue-too-wide",
		"one message more of a queue is delivered at a time than its parallelism allows",
		[]Edit{
			{
				"fsm/queue/move.go",
				`	free := q.Parallelism -`,
				`	free := 1 + q.Parallelism -`,
			},
		},
	},
	{
		"claim-without-term",
		"an Advance of a leader that was deposed claims attempts, and takes over those of its successor",
		[]Edit{
			{
				"fsm/deliver.go",
				`	if n.Deliver && n.Term == s.applier.term && n.Epoch`,
				`	if n.Deliver && n.Epoch`,
			},
		},
	},
	{
		"failed-without-dead-letter",
		"a message that has failed makes no dead letter",
		[]Edit{
			{
				"fsm/queue/delivery.go",
				`	s.setDead(nil, d)
	s.finishMessage(e, m, Failed, d, "")
`,
				`	s.finishMessage(e, m, Failed, nil, "")
`,
			},
		},
	},
	{
		"dead-without-an-answer",
		"a lost attempt that was the last one allowed makes a dead letter",
		[]Edit{
			{
				"fsm/queue/lease.go",
				`	if m.retried < m.retries {
		m.retried++
`,
				`	if m.retried >= m.retries {
		s.fail(e, m, &Result{}, &eventDetail{response: &Response{}}, "")
		return Disposition{State: Failed}
	}
	if m.retried < m.retries {
		m.retried++
`,
			},
		},
	},
	{
		"result-of-another-attempt",
		"a result of an earlier attempt is taken for the current one",
		[]Edit{
			{
				"fsm/queue/lease.go",
				` || uint64(m.attempts) != ref.Number {`,
				` {`,
			},
		},
	},
	{
		"tick-fires-twice",
		"a tick that was dealt with fires again",
		[]Edit{
			{
				"fsm/queue/tick.go",
				` || old.Next > now || t.Next <= old.Next {`,
				` {`,
			},
			{
				"fsm/queue/tick.go",
				`	for i, at := range times {
		if i >= MaxTicks || at > now || at <= old.Last || at < old.Next || at >= t.Next || i > 0 && at <= times[i-1] {
			return
		}
	}
`,
				"",
			},
		},
	},
	{
		"ticks-skipped-by-a-new-leader",
		"a new leader passes over the ticks of the time before it",
		[]Edit{
			{
				"scheduler/ticks.go",
				`	for ; next <= now && len(nominals) < queue.MaxTicks; next = after(next) {`,
				`	if next <= now-1000 {
		return nil, after(now)
	}
	for ; next <= now && len(nominals) < queue.MaxTicks; next = after(next) {`,
			},
		},
	},
	{
		"lost-attempt-of-a-dropped-message",
		"the word that an attempt was lost meets a message that is over (this was a fault of the product)",
		[]Edit{
			{
				"fsm/queue/delivery.go",
				`		return s.abortAttempt(e, old.Seq, "the attempt's outcome was lost: its sender had to end it")
`,
				`		f := s.abortAttempt(e, old.Seq, "the attempt's outcome was lost: its sender had to end it")
		f.State = s.find(n.ID).state
		return f
`,
			},
		},
	},
}
