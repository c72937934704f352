package mutant

// The names of the faults of triggers. TriggerOfUndone is found by a test, the others by deliveries.Triggers on real nodes.
const (
	TriggerOfUndone   = "trigger-of-the-undone"
	FeedLosesNumber   = "feed-loses-a-number"
	LanesByChange     = "lanes-by-change"
	OldValueIsThatNow = "old-value-is-that-now"
)

// triggers are the faults of triggers.
var triggers = []Fault{
	{
		TriggerOfUndone,
		"the messages of triggers stay although the script that set them off is undone",
		[]Edit{
			{
				"fsm/command/trigger.go",
				`		tx.run.mark(messagesPart)
`,
				``,
			},
		},
	},
	{
		FeedLosesNumber,
		"one of fifty changes is not told",
		[]Edit{
			{
				"fsm/command/trigger.go",
				`	f := fired{tx: tx,`,
				`	if tx.Index%50 == 0 {
		return
	}
	f := fired{tx: tx,`,
			},
		},
	},
	{
		LanesByChange,
		"messages of one key go through several queues",
		[]Edit{
			{
				"fsm/queue/trigger_fire.go",
				`p.Queue, p.Given = t.queueOf(t.lane(key)), p.Given|GivenQueue`,
				`p.Queue, p.Given = t.queueOf(int(e.Index%uint64(t.Lanes))), p.Given|GivenQueue`,
			},
		},
	},
	{
		OldValueIsThatNow,
		"the value before a change is that after it",
		[]Edit{
			{
				"fsm/command/trigger_value.go",
				`	return f.tx.tellValue(f.tx.former.Last(f.tx.Env, []byte(f.key)))`,
				`	return f.after()`,
			},
		},
	},
}
