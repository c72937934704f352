package mutant

// Faults of what is sealed, which tests of its packages find.
const (
	SealedEventLost      = "sealed-event-lost"
	FilterMissesLabel    = "filter-misses-label"
	VolumeCursorSkips    = "volume-cursor-skips"
	FrontDroppedEarly    = "front-dropped-early"
	SealedBodiesForgot   = "sealed-bodies-forgotten"
	DeletedDeadRunStays  = "deleted-dead-run-stays"
	SweepSealsMany       = "sweep-seals-many"
	RunVolumesOutOfOrder = "run-volumes-out-of-order"
)

// histories are the faults of history in volumes.
var histories = []Fault{
	{
		SealedEventLost,
		"the event behind those that go into a volume goes, too",
		[]Edit{
			{
				"fsm/queue/seal.go",
				`	for no := v.First; no <= v.Last; no++ {
		old, _ := s.events.byNo.Get(no)
		s.removeEvent(no, old)
	}
`,
				`	for no := v.First; no <= v.Last+1; no++ {
		if old, ok := s.events.byNo.Get(no); ok {
			s.removeEvent(no, old)
		}
	}
`,
			},
		},
	},
	{
		FilterMissesLabel,
		"the filter of a volume has all labels of a message but the first",
		[]Edit{
			{
				"fsm/queue/volume.go",
				`	for _, l := range c.Labels {
`,
				`	for _, l := range c.Labels[min(1, len(c.Labels)):] {
`,
			},
		},
	},
	{
		VolumeCursorSkips,
		"a page that begins in a volume lacks its first event",
		[]Edit{
			{
				"fsm/queue/past.go",
				`e.Seq >= from && !visit`,
				`e.Seq > from && !visit`,
			},
		},
	},
	{
		FrontDroppedEarly,
		"a volume goes when the time of its oldest event is over",
		[]Edit{
			{
				"fsm/queue/seal.go",
				`addTime(v.To, s.settings`,
				`addTime(v.From, s.settings`,
			},
		},
	},
	{
		SealedBodiesForgot,
		"snapshots have volumes without the bodies that they refer to",
		[]Edit{
			{
				"fsm/sealed/volume.go",
				`	wire.Each(c, &v.Apart, func(c *wire.Codec, p *payload.Payload) { p.Field(c) })
`,
				``,
			},
		},
	},
	{
		DeletedDeadRunStays,
		"a run whose dead letter was deleted stays in memory",
		[]Edit{
			{
				"fsm/workflow/revive.go",
				`	s.sealAgain(at)
`,
				``,
			},
		},
	},
	{
		SweepSealsMany,
		"a sweep makes as many volumes as it can, and holds the state meanwhile",
		[]Edit{
			{
				"fsm/queue/memory.go",
				`s.seal(e, 0)`,
				`s.seal(e, 8*sealedTogether)`,
			},
		},
	},
	{
		RunVolumesOutOfOrder,
		"volumes of runs go in the order in which they were made",
		[]Edit{
			{
				"fsm/workflow/seal.go",
				`AddByTime(v)`,
				`Add(v)`,
			},
		},
	},
}
