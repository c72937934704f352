package mutant

// Faults that tests of their packages find: neither the simulation nor a workload cuts the power of a machine.
const (
	SnapshotBeforePayloads = "snapshot-before-payloads"
	PinIgnored             = "pin-ignored"
	InstalledBeforeFetched = "installed-before-fetched"
	NameMissing            = "name-missing"
	PinShort               = "pin-short"
	SegmentEarly           = "segment-early"
	PackRemovedAtOnce      = "pack-removed-at-once"
	CondemnedUsed          = "condemned-used"
	ManifestEarly          = "manifest-early"
	ShiftUnchecked         = "shift-unchecked"
	LackForgotten          = "lack-forgotten"
	ColdUncounted          = "cold-uncounted"
	ColdUnpinned           = "cold-unpinned"
	FetchedForgotten       = "fetched-forgotten"
	NeededGoes             = "needed-goes"
	ShelfForgotten         = "shelf-forgotten"
	SumUnchecked           = "sum-unchecked"
)

// files are the faults of payloads in files, and of the snapshots and backups that name them.
var files = []Fault{
	{
		SnapshotBeforePayloads,
		"a snapshot is complete before what it names is durable",
		[]Edit{
			{
				"fsm/frozen.go",
				`	return files.Sync()
`,
				`	return nil
`,
			},
		},
	},
	{
		PinIgnored,
		"what nothing in memory refers to is removed, although a snapshot names it",
		[]Edit{
			{
				"cluster/payloads/move.go",
				`	if !removable(g.emptied) {
		return nil
	}
`,
				"",
			},
		},
	},
	{
		InstalledBeforeFetched,
		"another node's snapshot is installed before what it names is on the disk",
		[]Edit{
			{
				"cluster/receive.go",
				`		if ar.end = ar.wait(); ar.end == nil {
			ar.end = io.EOF
		}
`,
				`		ar.end = io.EOF
`,
			},
		},
	},
	{
		NameMissing,
		"a snapshot names one payload less than its records need",
		[]Edit{
			{
				"fsm/snapshot_frames.go",
				`	for _, k := range list {
		d := k.Digest()
`,
				`	for _, k := range list[1:] {
		d := k.Digest()
`,
			},
		},
	},
	{
		PinShort,
		"what a snapshot names is kept until the snapshot is on the disk, and no longer",
		[]Edit{
			{
				"cluster/payloads/pins.go",
				`		p.waits = append([]string{}, names...)
	}
}
`,
				`		p.waits = names[:0:0]
	}
}
`,
			},
		},
	},
	{
		SegmentEarly,
		"a segment is removed although a snapshot that began before it was empty is there",
		[]Edit{
			{
				"cluster/payloads/pins.go",
				`	return func(emptied uint64) bool { return emptied < oldest }
`,
				`	return func(emptied uint64) bool { return emptied <= oldest }
`,
			},
		},
	},
	{
		FetchedForgotten,
		"what a node has fetched for a snapshot is removed when the snapshot comes again (this was a fault of the product)",
		[]Edit{
			{
				"cluster/payloads/gather.go",
				`		if former.cancel(); former.letGo.Stop() {
			return former.pin
		}
`,
				`		former.Done()
`,
			},
		},
	},
	{
		NeededGoes,
		"a segment is removed although the snapshot that is coming names what is in it",
		[]Edit{
			{
				"cluster/payloads/gather.go",
				`	g.empty = false
	return true
`,
				`	return true
`,
			},
		},
	},
	{
		PackRemovedAtOnce,
		"a pack of an archive is removed when no backup names it, although one that is under way may be about to",
		[]Edit{
			{
				"internal/archive/prune.go",
				`		if now.Sub(l.at) < condemnedFor {
			continue
		}
`,
				"",
			},
		},
	},
	{
		CondemnedUsed,
		"a backup names a pack that is about to be removed",
		[]Edit{
			{
				"internal/archive/incremental.go",
				" || condemned.has(p)",
				" || condemned == nil",
			},
		},
	},
	{
		ManifestEarly,
		"a backup is listed before the last of its packs is there",
		[]Edit{
			{
				"internal/archive/incremental.go",
				`	if err == nil {
		err = w.flush(ctx)
	}
`,
				"",
			},
		},
	},
	{
		ShelfForgotten,
		"a segment is removed although strings on the disk are in it",
		[]Edit{
			{
				"cluster/payloads/move.go",
				`	if g.bodies = nil; g.shelf.Value() != nil {
		return nil
	}
`,
				`	g.bodies = nil
`,
			},
		},
	},
	{
		SumUnchecked,
		"a digest from a damaged list of a segment is taken for that of a string",
		[]Edit{
			{
				"cluster/payloads/table.go",
				`				if payload.SpotSum(&d) == sp.Sum {
					return d, true
				}
`,
				`				return d, true
`,
			},
		},
	},
	{
		ShiftUnchecked,
		"a string that has gone to the disk takes the place of what was written meanwhile",
		[]Edit{
			{
				"fsm/keyspace/cold.go",
				`	if db.get(key) != s.of {
		return false
	}
`,
				`	if db.get(key) == nil {
		return false
	}
`,
			},
		},
	},
	{
		LackForgotten,
		"a read that may not wait for the disk takes a string there for an empty one",
		[]Edit{
			{
				"fsm/keyspace/cold.go",
				`			l.e.Lacks = append(l.e.Lacks, l.text)
`,
				"",
			},
		},
	},
	{
		ColdUncounted,
		"a string on the disk counts for nothing",
		[]Edit{
			{
				"fsm/keyspace/object.go",
				`		return int64(o.coldLen())
`,
				`		return 0
`,
			},
		},
	},
	{
		ColdUnpinned,
		"a snapshot has the length of a string on the disk, and does not name it",
		[]Edit{
			{
				"fsm/keyspace/cold.go",
				`func (lt largeText) Fields(c *wire.Codec) { lt.Field(c) }
`,
				`func (lt largeText) Fields(c *wire.Codec) { lt.Payload = payload.Payload{}; lt.Field(c) }
`,
			},
		},
	},
}
