package mutant

// The names of the faults that the simulation can't see: they need real nodes.
const (
	UnfencedRead = "read-without-fence"
	LocalRead    = "read-without-waiting"
)

// times are the faults of cluster time and of reads.
var times = []Fault{
	{
		"clock-goes-back",
		"the state takes an entry's stamp although it is behind its own time",
		[]Edit{
			{
				"fsm/entry.go",
				`	s.clock = max(s.clock, n.Stamp)
`,
				`	s.clock = n.Stamp
`,
			},
		},
	},
	{
		"clock-begins-below-the-ceiling",
		"a new leader's clock begins where the log ends, below read times that were given",
		[]Edit{
			{
				"cluster/clock/clock.go",
				`	c.time, c.wall, c.inFlight = ms(floor.Now), ms(floor.Wall), nil
`,
				`	c.time, c.wall, c.inFlight = ms(floor.Now-4*ReadAhead), ms(floor.Wall-4*ReadAhead), nil
`,
			},
		},
	},
	{
		"reads-overtake-entries",
		"read times overtake the stamps of entries under way",
		[]Edit{
			{
				"cluster/clock/clock.go",
				`	if len(c.inFlight) > 0 {
		at = c.inFlight[0]
	}
`,
				"",
			},
		},
	},
	{
		"expiry-by-local-clock",
		"reads take the time of this node's wall clock, not of the cluster",
		[]Edit{
			{
				"cluster/clock/clock.go",
				`	if len(c.inFlight) > 0 {
		at = c.inFlight[0]
	}
`,
				`	at = env.At(c.show(c.now()))
`,
			},
		},
	},
	{
		"times-of-day-by-cluster-time",
		"what was given as a time of day comes by cluster time, which may be ahead of all wall clocks",
		[]Edit{
			{
				"cluster/clock/clock.go",
				`	c.time, c.wall, c.at = next, max(c.wall, min(next, wall)), t
`,
				`	c.time, c.wall, c.at = next, next, t
`,
			},
		},
	},
	{
		"leap-ends-leases",
		"leases end when cluster time is set forward, while their attempts run",
		[]Edit{
			{
				"fsm/entry.go",
				`	if n.Leapt {
`,
				`	if n.Leapt && n.SetBack > 0 { // never
`,
			},
		},
	},
	{
		UnfencedRead,
		"the leader gives read points without asking whether it still leads",
		[]Edit{
			{
				"cluster/consensus/readindex.go",
				`	if needed == 0 {
		end(nil)`,
				`	if needed >= 0 { // always
		end(nil)`,
			},
			{
				"cluster/readindex.go",
				`r.Done() == nil && said == term &&`,
				`r.Done() == nil && (said == term || true) &&`,
			},
		},
	},
	{
		LocalRead,
		"a node reads its own state without waiting for the index of the read",
		[]Edit{
			{
				"cluster/read.go",
				`	if err := n.await(ctx, p.Index); err != nil {`,
				`	p.Index = 0
	if err := n.await(ctx, p.Index); err != nil {`,
			},
		},
	},
}
