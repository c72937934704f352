package sim

import (
	"math/rand/v2"
	"slices"
)

// weights say how often a kind is drawn.
var weights = [kinds]int{
	Push: 6, PushOnce: 6, Count: 4, SetUntil: 8, Read: 6, ReadUntil: 12, Publish: 6, PublishOnce: 5, Enqueue: 6, CancelMessage: 1, Schedule: 2,
	StartRun: 3, Await: 3, Notify: 3, CancelRun: 1, Revive: 2, Again: 8, Send: 10, Receive: 14, Form: 8, Propose: 8, Commit: 10, Apply: 14,
	Elect: 5, Learn: 4, Crash: 2, Restart: 4, Snapshot: 3, Install: 3, Pass: 14, Claim: 10, Renew: 4, Answer: 12, HandIn: 7, Sweep: 3, Reboot: 4, Register: 2, Flow: 14,
	Work: 4, Cut: 3, Mend: 4, SetWall: 2, Keep: 5, Gather: 4, Linger: 4, Outlast: 1, Lag: 3,
}

// A theme makes rare combinations frequent: kinds of steps that belong together, and scenes, which are orders of them that
// exercise two parts of the product that depend on one another.
type theme struct {
	kinds  []Kind
	scenes [][]Kind
}

var themes = []theme{
	{ // the keyspace
		[]Kind{Push, PushOnce, Count, Again, Read, Elect, Learn, Crash, Restart, Snapshot, Install, Reboot, Register, Cut, Mend, Gather, Lag},
		[][]Kind{
			{Push, Lag, Register, Lag, Flow},               // a process gets another session while it has not heard of its request
			{PushOnce, Lag, Reboot, Flow, Again, Flow},     // an answer is lost, and with it the process
			{Push, Snapshot, Flow, Snapshot, Reboot, Flow}, // a snapshot is written while its state goes on
			{Count, Gather, Elect, Lag, Elect, Flow, Read}, // leaders follow one another while an entry is under way
		},
	},
	{ // expiry
		[]Kind{SetUntil, Keep, ReadUntil, Pass, Linger, Elect, Learn, Sweep, SetWall, Gather, Flow},
		[][]Kind{
			{SetUntil, Flow, Keep, Gather, Linger, ReadUntil, Flow, ReadUntil},  // a read meets an entry that is under way
			{SetUntil, Flow, Linger, ReadUntil, Elect, Flow, ReadUntil, Linger}, // the next leader knows no read of the one before
			{SetUntil, SetWall, Flow, ReadUntil, Elect, Flow, ReadUntil},        // it has another clock
			{SetWall, SetUntil, Flow, Linger, ReadUntil, Flow, ReadUntil},       // all clocks are set
		},
	},
	{ // messages
		[]Kind{Publish, PublishOnce, Enqueue, CancelMessage, Schedule, Elect, Pass, Claim, Renew, Answer, HandIn, Reboot, Cut, Mend, Flow},
		[][]Kind{
			{Enqueue, Enqueue, Flow, Claim, Flow, Cut, Elect, Flow, Claim, Flow, Claim, Flow, Mend}, // a leader that nobody hears still delivers
			{Publish, Flow, Claim, Lag, Elect, Flow, Claim, Flow, Answer, HandIn, Flow},             // a leader falls between claim and delivery
			{Schedule, Flow, Pass, Elect, Flow, Claim, Flow, Pass, Claim, Flow},                     // a time comes while nobody leads
			{PublishOnce, Lag, Reboot, Flow, Again, Flow},                                           // an answer is lost, and with it the process
			{Enqueue, Flow, Claim, Flow, SetWall, Flow, Claim, Flow},                                // time is set forward while an attempt runs
			{Schedule, Flow, Outlast, Claim, Gather, Outlast, Claim, Flow, Claim, Flow},             // an entry comes after it was given up
		},
	},
	{ // workflows
		[]Kind{StartRun, Await, Notify, CancelRun, Revive, Elect, Pass, Claim, Answer, HandIn, Reboot, Flow, Work},
		[][]Kind{
			{Await, Work, Work, Work, Work, Notify, Flow, Notify, Flow},                     // two notify one waiter
			{Notify, Await, Work, Work, Work, Work, Notify, Pass, Work},                     // somebody notifies nobody
			{StartRun, Work, Claim, Flow, Reboot, Elect, Claim, Flow},                       // a run's delivery is lost
			{Claim, Flow, CancelRun, Flow, Answer, HandIn, Flow, Reboot},                    // a run ends while it is delivered to
			{Answer, HandIn, Flow, Pass, Claim, Flow, Answer, HandIn, Revive, Revive, Flow}, // a dead run is revived by two
		},
	},
}

const (
	// thematic is the weight of what belongs to a theme.
	thematic = 12
	// sceneEvery is the average number of steps between the beginnings of scenes in a history with a theme.
	sceneEvery = 12
	// sceneGap: once in so many steps of a scene, one is left out, and another one that does not belong to it comes between.
	sceneGap = 8
)

// factors are the halves by which a kind's weight may be multiplied.
var factors = []int{0, 0, 1, 2, 2, 4, 8}

// needed reports whether nothing comes about without a kind.
func needed(k Kind) bool {
	switch k {
	case Send, Receive, Form, Propose, Commit, Apply:
		return true
	}
	return false
}

// A drawing draws the steps of one history.
type drawing struct {
	r      *rand.Rand
	often  []Kind   // each kind as often as it is to come
	scenes [][]Kind // of the history's theme
	steps  []Step
}

// Draw makes the history of a seed. In a quarter of the histories all kinds come as often as their weights say, a quarter
// leaves out some kinds and has more of others, as it falls; half of them keep to a theme, of which all kinds come alike,
// and have its scenes.
func Draw(seed uint64) History {
	d := &drawing{r: rand.New(rand.NewPCG(seed, 0x7472697265))}
	length := 40 + d.r.IntN(160)
	d.choose()
	for len(d.steps) < length {
		if len(d.scenes) > 0 && d.r.IntN(sceneEvery) == 0 {
			d.scene(d.scenes[d.r.IntN(len(d.scenes))])
			continue
		}
		d.step(d.often[d.r.IntN(len(d.often))])
	}
	return History{Seed: seed, Steps: d.steps}
}

// choose says how often each kind comes.
func (d *drawing) choose() {
	often := func(k Kind) int { return weights[k] }
	switch d.r.IntN(4) {
	case 1:
		often = func(k Kind) int { return weights[k] * factors[d.r.IntN(len(factors))] / 2 }
	case 2, 3:
		t, others := themes[d.r.IntN(len(themes))], d.r.IntN(2)
		d.scenes = t.scenes
		often = func(k Kind) int {
			if slices.Contains(t.kinds, k) {
				return thematic
			}
			return others * weights[k] * factors[d.r.IntN(3)] / 4
		}
	}
	for k := range kinds {
		n := often(k)
		if needed(k) {
			n = max(n, 4)
		}
		for range n {
			d.often = append(d.often, k)
		}
	}
}

// step adds a step.
func (d *drawing) step(k Kind) {
	v := d.r.Uint64()
	d.steps = append(d.steps, Step{k, uint16(v), uint16(v >> 16), uint16(v >> 32)})
}

// scene adds the steps of a scene, with what may come between. Half of them act on one node.
func (d *drawing) scene(kinds []Kind) {
	node := uint16(d.r.IntN(nodes))
	for _, k := range kinds {
		switch d.r.IntN(sceneGap) {
		case 0:
			continue
		case 1:
			d.step(d.often[d.r.IntN(len(d.often))])
		}
		d.step(k)
		if d.r.IntN(2) == 0 {
			d.steps[len(d.steps)-1].A = node
		}
	}
}
