package mutant

// requests are the faults of requests, their sessions and their outcomes.
var requests = []Fault{
	{
		"applied-twice",
		"a repeated request is applied again",
		[]Edit{
			{
				"fsm/entry.go",
				`		case owner.has(q.Seq):
`,
				`		case false:
`,
			},
		},
	},
	{
		"sessions-forgotten-by-snapshot",
		"snapshots lack which requests of a session were applied",
		[]Edit{
			{
				"fsm/session.go",
				`		bits = bits[:len(bits)-1]
	}
	return bits
`,
				`		bits = bits[:len(bits)-1]
	}
	return nil
`,
			},
		},
	},
	{
		"replies-forgotten-by-snapshot",
		"snapshots lack the replies kept for clients that try again",
		[]Edit{
			{
				"fsm/snapshot.go",
				`func(record []byte) error { return out.record(sectionRetries, record) }`,
				`func([]byte) error { return nil }`,
			},
		},
	},
	{
		"dedup-forgotten-by-snapshot",
		"snapshots lack the deduplication ids of messages",
		[]Edit{
			{
				"fsm/queue/save.go",
				`	saving.Each(out, kindDedup, s.dedups.byKey,`,
				`	if out != nil { // always
		return out.Err
	}
	saving.Each(out, kindDedup, s.dedups.byKey,`,
			},
		},
	},
	{
		"dedup-not-looked-up",
		"a message is made although its deduplication id is known",
		[]Edit{
			{
				"fsm/queue/publish.go",
				`d, found := s.dedups.published(key, e.Now); found {`,
				`d, found := s.dedups.published(key, e.Now); found && false {`,
			},
		},
	},
	{
		"unknown-said-to-be-refused",
		"a request that was sent and has no answer is said to be not applied",
		[]Edit{
			{
				"cluster/session/life.go",
				`	if c.attempts > 0 {
		return Result{nil, fsm.ErrUnknown}
	}
`,
				"",
			},
		},
	},
	{
		"sent-again-under-another-session",
		"what was sent under an ended session is sent again under the next",
		[]Edit{
			{
				"cluster/session/life.go",
				`	for _, c := range t.pending { // unordered: each is answered alone
		if c.attempts > 0 {
			t.settle(c, Result{nil, fsm.ErrUnknown})
		}
	}
	t.resend()
`,
				`	t.resend()
`,
			},
		},
	},
	{
		"acknowledged-before-commit",
		"a write is acknowledged when it is sent, before it is committed",
		[]Edit{
			{
				"cluster/session/tracker.go",
				`	"github.com/trireme-dev/trireme/fsm"
`,
				`	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/reply"
`,
			},
			{
				"cluster/session/tracker.go",
				`		b.databases = append(b.databases, c.db)
	}
`,
				`		b.databases = append(b.databases, c.db)
	}
	if c.code == fsm.Exec.Code {
		t.settle(c, Result{Value: fsm.Results{Values: []reply.Value{reply.OK()}}})
	}
`,
			},
		},
	},
}
