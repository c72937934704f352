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
	{
		"snapshot-shares-databases",
		"a database is changed in place although a snapshot that is being written has it too",
		[]Edit{
			{
				"fsm/open.go",
				`	s.generation = new(generation)
	for _, d`,
				`	for _, d`,
			},
		},
	},
	{
		"deadline-not-summed-up",
		"the summary of a database does not tell of a new deadline of its keys, until the state is read from a snapshot",
		[]Edit{
			{
				"fsm/open.go",
				`		if now := s.summarize(d); now != d.summary {
			d.summary = now
			s.put(d)
		}
	}
}

// close`,
				`		if now := s.summarize(d); now.keys == d.summary.keys && now != d.summary {
			d.summary = now
			s.put(d)
		}
	}
}

// close`,
			},
		},
	},
}
