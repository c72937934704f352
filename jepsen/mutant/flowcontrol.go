package mutant

// The names of the faults of flow control. Tests find them.
const (
	WeightIgnored       = "weight-ignored"
	IdleTenantSavesUp   = "idle-tenant-saves-up"
	DebtOfTenantForgot  = "debt-of-a-tenant-forgotten"
	NoAging             = "no-aging"
	UrgentStarveTheDue  = "urgent-starve-the-due"
	LeastUrgentUnparked = "least-urgent-unparked"
	ParallelismByCount  = "parallelism-counts-messages"
	BucketByCount       = "bucket-counts-messages"
	RateFillsBucket     = "rate-fills-bucket"
	DebounceWithoutEnd  = "debounce-without-end"
	BatchWaitsAnew      = "batch-waits-anew"
	BatchOverItsBytes   = "batch-over-its-bytes"
	BegunBatchJoined    = "begun-batch-joined"
	StoppingLives       = "stopping-lives"
	SingletonBeside     = "singleton-beside-another"
	SingletonRunStays   = "singleton-run-stays-behind"
	AttachAnswersNewID  = "attach-answers-new-id"
	PauseLetsDueThrough = "pause-lets-due-through"
	ResumedWithoutTries = "resumed-without-retries"
	PausedRunGoesOn     = "paused-run-goes-on"
	PausedRunBegins     = "paused-run-begins"
	SleepsAnew          = "sleeps-anew"
)

// flowControl are the faults of priorities, shares, rates, of what gathers, and of the end of retries.
var flowControl = []Fault{
	{
		WeightIgnored,
		"tenants of one line get the same, whatever their weights are",
		[]Edit{
			{
				"fsm/queue/share.go",
				`l.now, cost, sh.Weight)`,
				`l.now, cost, 1)`,
			},
		},
	},
	{
		IdleTenantSavesUp,
		"a tenant that had nothing to send has saved up its share",
		[]Edit{
			{
				"fsm/queue/share.go",
				`	if pass < now {
		pass, rest = now, 0
	}
`,
				``,
			},
		},
	},
	{
		DebtOfTenantForgot,
		"a tenant that has had more than the others owes nothing as soon as it has no messages",
		[]Edit{
			{
				"fsm/queue/share.go",
				`	if l, _ := st.lines.Get(of); alone || sh.Pass <= l.now {
		st.forget(sh)
		return
	}
	sh.idle = roundUp(now + flowKept)
	st.store(sh)
`,
				`	st.forget(sh)
`,
			},
		},
	},
	{
		NoAging,
		"the most urgent message comes first, however long the others have waited",
		[]Edit{
			{
				"fsm/queue/line.go",
				`{ return created - int64(priority)*PriorityStep }`,
				`{ return -int64(priority) * PriorityStep }`,
			},
		},
	},
	{
		UrgentStarveTheDue,
		"of what is due the most urgent message gets the sender that is free, however long the others have waited",
		[]Edit{
			{
				"fsm/queue/due.go",
				`rank(h.At, p)`,
				`rank(0, p)`,
			},
		},
	},
	{
		LeastUrgentUnparked,
		"of what waits for a busy host the least urgent message goes on first",
		[]Edit{
			{
				"fsm/queue/host.go",
				`s.head(s.places.parked, h.no, 0)`,
				`from(s.places.parked, inLine{of: h.no})`,
			},
		},
	},
	{
		ParallelismByCount,
		"the parallelism of a key counts messages, not what they cost",
		[]Edit{
			{
				"fsm/queue/flow.go",
				`	used := count(s.places.running, f.no) + f.extra
	return used >= f.Parallelism || used > 0 && used+s.nextCost(f) > f.Parallelism
`,
				`	return count(s.places.running, f.no) >= f.Parallelism
`,
			},
		},
	},
	{
		BucketByCount,
		"a message takes one token of a bucket, whatever it costs",
		[]Edit{
			{
				"fsm/queue/rate.go",
				`fk.credit -= int64(cost) * fk.Period`,
				`fk.credit -= fk.Period`,
			},
		},
	},
	{
		RateFillsBucket,
		"a publication that names the rate of its key fills the bucket",
		[]Edit{
			{
				"fsm/queue/rate.go",
				`	if fk.Burst == 0 {
		fk.credit, fk.filled = full, now
	} else {
		fk.fill(now)
		fk.credit = min(fk.credit/fk.Period*period+fk.credit%fk.Period*period/fk.Period, full)
	}
`,
				`	fk.credit, fk.filled = full, now
`,
			},
		},
	},
	{
		DebounceWithoutEnd,
		"publications put off a debounced message for longer than it may wait",
		[]Edit{
			{
				"fsm/queue/gathering.go",
				`	if most := c.Gather.MaxWait; most > 0 {
		c.FirstAt = max(min(c.FirstAt, addTime(first, most)), e.Now)
	}
`,
				``,
			},
		},
	},
	{
		BatchWaitsAnew,
		"a batch waits after its newest publication, not after its first",
		[]Edit{
			{
				"fsm/queue/batch.go",
				`	s.recordPart(m, e.Now, Created, id)
	s.store(m)
`,
				`	s.recordPart(m, e.Now, Created, id)
	if m.place == placeDue {
		s.places.remove(m)
		s.enter(m, m.place, addTime(e.Now, c.Gather.Wait), e.Now)
	}
	s.store(m)
`,
			},
		},
	},
	{
		BatchOverItsBytes,
		"a batch takes the publication that makes its body longer than it may be",
		[]Edit{
			{
				"fsm/queue/batch.go",
				`n.bytes+int64(len(line)) > s.batchBytes(c.Gather)`,
				`n.bytes > s.batchBytes(c.Gather)`,
			},
		},
	},
	{
		BegunBatchJoined,
		"a publication joins the batch that is being delivered, and is lost",
		[]Edit{
			{
				"fsm/queue/gathering.go",
				`	if !n.full {
		s.gathered.keys.Delete(c.gatherKey())
	}
	s.setGathering(m.Seq, nil)
	if !c.Gather.batches() {
`,
				`	if !c.Gather.batches() {
		s.gathered.keys.Delete(c.gatherKey())
		s.setGathering(m.Seq, nil)
`,
			},
		},
	},
	{
		StoppingLives,
		"a singleton's message that is to be cancelled counts as the one that lives",
		[]Edit{
			{
				"fsm/queue/singleton.go",
				`m, _ := s.messages.Get(seq); !m.stopping {`,
				`m, found := s.messages.Get(seq); found {`,
			},
		},
	},
	{
		SingletonBeside,
		"a singleton's key is forgotten when nothing waits behind the message that lives",
		[]Edit{
			{
				"fsm/queue/singleton.go",
				` || s.places.taken(m.queue) > 0 {`,
				` {`,
			},
		},
	},
	{
		SingletonRunStays,
		"a run of a singleton does not go on when the one before it is over",
		[]Edit{
			{
				"fsm/workflow/keyed.go",
				`		k.release()
`,
				``,
			},
		},
	},
	{
		AttachAnswersNewID,
		"a publication that is attached is answered with an id of its own",
		[]Edit{
			{
				"fsm/queue/singleton.go",
				`			return Published{ID: m.ID, Attached: attach`,
				`			if attach {
				return Published{ID: s.NewID(e), Attached: true}, true
			}
			return Published{ID: m.ID, Attached: attach`,
			},
		},
	},
	{
		PauseLetsDueThrough,
		"a queue that stops at the end of retries still delivers what has a slot",
		[]Edit{
			{
				"fsm/queue/onfailure.go",
				`		s.setQueue(e, q, q.Parallelism, true)
`,
				`		paused := *q
		paused.Paused = true
		s.queues.byNo.Set(q.no, &paused)
`,
			},
		},
	},
	{
		ResumedWithoutTries,
		"what has stopped a queue or a key has no retries left when that is resumed",
		[]Edit{
			{
				"fsm/queue/onfailure.go",
				`	m.retried = 0
`,
				``,
			},
		},
	},
	{
		PausedRunGoesOn,
		"what happens to a run that is paused is delivered all the same",
		[]Edit{
			{
				"fsm/workflow/work.go",
				`	if wo.r.Hold != NotHeld {
		wo.hold(at, n)`,
				`	if wo.r.Hold == HeldBehind {
		wo.hold(at, n)`,
			},
		},
	},
	{
		PausedRunBegins,
		"a run that is paused has its other steps delivered",
		[]Edit{
			{
				"fsm/workflow/pause.go",
				`old.State != Held && wo.withhold(&n)`,
				`old.State == Delivered && wo.withhold(&n)`,
			},
		},
	},
	{
		SleepsAnew,
		"a sleep of a run that was paused begins anew",
		[]Edit{
			{
				"fsm/workflow/pause.go",
				`	if n.State != Pending || n.Next <= wo.e.Now {`,
				`	if n.Next > 0 {`,
			},
		},
	},
}
