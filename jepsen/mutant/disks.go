package mutant

// The faults that no client sees in its replies: experiments on real nodes find them (package slowdisks).
const (
	SlowLeader      = "slow-leader-stays"
	SnapshotsAtOnce = "snapshots-at-once"
)

// disks are the faults of what nodes do about slow disks.
var disks = []Fault{
	{
		SlowLeader,
		"a leader whose disk is much slower than the others' goes on leading",
		[]Edit{
			{
				"cluster/slowdisk/leader.go",
				`	if !l.streak.lasts(now) || now.Before(l.next) {
`,
				`	if true {
`,
			},
		},
	},
	{
		SnapshotsAtOnce,
		"nodes write their snapshots at the same time",
		[]Edit{
			{
				"cluster/snapshotturn.go",
				`	if len(others) == 0 || waited >= longestTurn || bytes > overdueBytes {
`,
				`	if true {
`,
			},
		},
	},
}
