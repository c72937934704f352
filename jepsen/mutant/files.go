package mutant

// Faults that tests of their packages find: neither the simulation nor a workload cuts the power of a machine.
const (
	SnapshotBeforePayloads = "snapshot-before-payloads"
	PinIgnored             = "pin-ignored"
	InstalledBeforeFetched = "installed-before-fetched"
)

// files are the faults of payloads in files and of the snapshots that name them.
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
}
