package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Kind is what a step does.
type Kind uint8

// The kinds of steps. What they act on is chosen by the step's numbers among what there is.
const (
	Push Kind = iota // append to a list
	PushOnce
	Count
	SetUntil
	Read
	ReadUntil
	Publish
	PublishOnce
	Enqueue
	CancelMessage
	Schedule
	StartRun
	Await
	Notify
	CancelRun
	Revive
	Again // repeat a request of which the outcome is unknown, by its id
	Send
	Receive
	Form
	Propose
	Commit
	Apply
	Elect
	Learn
	Crash
	Restart
	Snapshot
	Install
	Pass
	Claim
	Renew
	Answer
	HandIn
	Sweep
	Reboot   // a process saves its state, ends, and starts again
	Register // a registration arrives that was given up
	Flow     // lets everything that is on its way arrive
	Work     // the same, and has everything that is due delivered and answered
	Cut      // nothing reaches or leaves a node
	Mend
	SetWall // somebody sets a node's wall clock
	Keep    // a key that was set for a while is to stay
	Gather  // all packs reach the leader, which makes an entry of them and gives it to raft later
	kinds
)

var kindNames = [kinds]string{
	"push", "push once", "count", "set until", "read", "read until", "publish", "publish once", "enqueue", "cancel message", "schedule",
	"start run", "await", "notify", "cancel run", "revive", "again", "send", "receive", "form", "propose", "commit", "apply",
	"elect", "learn", "crash", "restart", "snapshot", "install", "pass", "claim", "renew", "answer", "hand in", "sweep", "reboot", "register", "flow",
	"work", "cut", "mend", "set wall", "keep", "gather",
}

func (k Kind) String() string { return kindNames[k] }

// weights say how often a kind is drawn.
var weights = [kinds]int{
	Push: 6, PushOnce: 6, Count: 4, SetUntil: 8, Read: 6, ReadUntil: 12, Publish: 6, PublishOnce: 5, Enqueue: 6, CancelMessage: 1, Schedule: 2,
	StartRun: 3, Await: 3, Notify: 3, CancelRun: 1, Revive: 2, Again: 8, Send: 10, Receive: 14, Form: 8, Propose: 8, Commit: 10, Apply: 14,
	Elect: 5, Learn: 4, Crash: 2, Restart: 4, Snapshot: 3, Install: 3, Pass: 14, Claim: 10, Renew: 4, Answer: 12, HandIn: 7, Sweep: 3, Reboot: 4, Register: 2, Flow: 14,
	Work: 4, Cut: 3, Mend: 4, SetWall: 2, Keep: 5, Gather: 4,
}

// themes are kinds that together make something that hardly comes about among all the others.
var themes = [][]Kind{
	{Push, PushOnce, Count, Again, Read, Elect, Learn, Crash, Restart, Snapshot, Install, Reboot, Register, Cut, Mend, Gather},
	{SetUntil, Keep, ReadUntil, Pass, Elect, Learn, Sweep, SetWall, Gather, Flow},
	{Publish, PublishOnce, Enqueue, CancelMessage, Schedule, Elect, Pass, Claim, Renew, Answer, HandIn, Reboot, Cut, Mend, Flow},
	{StartRun, Await, Notify, CancelRun, Revive, Elect, Pass, Claim, Answer, HandIn, Reboot, Flow, Work},
}

// table has each kind as often as it is to be drawn: by its weight, or otherwise. A quarter of the histories leaves out
// some kinds and has more of others, as it falls; half of them keep to a theme, of which all kinds come alike.
func table(r *rand.Rand) (t []Kind) {
	often := func(k Kind) int { return weights[k] }
	switch r.IntN(4) {
	case 1:
		often = func(k Kind) int { return weights[k] * factors[r.IntN(len(factors))] / 2 }
	case 2, 3:
		theme, others := themes[r.IntN(len(themes))], r.IntN(2)
		often = func(k Kind) int {
			if slices.Contains(theme, k) {
				return thematic
			}
			return others * weights[k] * factors[r.IntN(3)] / 4
		}
	}
	for k := range kinds {
		n := often(k)
		if needed(k) {
			n = max(n, 4)
		}
		for range n {
			t = append(t, k)
		}
	}
	return t
}

// thematic is the weight of what belongs to a theme.
const thematic = 12

// factors are the halves by which a kind's weight may be multiplied.
var factors = []int{0, 0, 1, 2, 2, 4, 8}

// needed tells whether nothing comes about without a kind.
func needed(k Kind) bool {
	switch k {
	case Send, Receive, Form, Propose, Commit, Apply:
		return true
	}
	return false
}

// Step is one step of a history.
type Step struct {
	Kind    Kind
	A, B, C uint16
}

func (s Step) String() string { return fmt.Sprintf("{%v %d %d %d}", s.Kind, s.A, s.B, s.C) }

// History is what is simulated: the steps, and the seed of what the machines draw.
type History struct {
	Seed  uint64
	Steps []Step
}

// Draw makes the history of a seed.
func Draw(seed uint64) History {
	r := rand.New(rand.NewPCG(seed, 0x7472697265))
	h := History{Seed: seed, Steps: make([]Step, 40+r.IntN(160))}
	table := table(r)
	for i := range h.Steps {
		v := r.Uint64()
		h.Steps[i] = Step{table[r.IntN(len(table))], uint16(v), uint16(v >> 16), uint16(v >> 32)}
	}
	return h
}

func (h History) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, %d steps:", h.Seed, len(h.Steps))
	for _, s := range h.Steps {
		fmt.Fprintf(&b, "\n  %v", s)
	}
	return b.String()
}
