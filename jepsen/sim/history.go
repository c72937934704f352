package sim

import (
	"fmt"
	"math/rand/v2"
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
	kinds
)

var kindNames = [kinds]string{
	"push", "push once", "count", "set until", "read", "read until", "publish", "publish once", "enqueue", "cancel message", "schedule",
	"start run", "await", "notify", "cancel run", "revive", "again", "send", "receive", "form", "propose", "commit", "apply",
	"elect", "learn", "crash", "restart", "snapshot", "install", "pass", "claim", "renew", "answer", "hand in", "sweep", "reboot", "register", "flow",
}

func (k Kind) String() string { return kindNames[k] }

// weights say how often a kind is drawn.
var weights = [kinds]int{
	Push: 6, PushOnce: 6, Count: 4, SetUntil: 8, Read: 6, ReadUntil: 12, Publish: 6, PublishOnce: 5, Enqueue: 6, CancelMessage: 1, Schedule: 2,
	StartRun: 3, Await: 3, Notify: 3, CancelRun: 1, Revive: 2, Again: 8, Send: 10, Receive: 14, Form: 8, Propose: 8, Commit: 10, Apply: 14,
	Elect: 5, Learn: 4, Crash: 2, Restart: 4, Snapshot: 3, Install: 3, Pass: 14, Claim: 10, Renew: 4, Answer: 12, HandIn: 7, Sweep: 3, Reboot: 4, Register: 2, Flow: 14,
}

// table is weights, so that a kind is drawn by one number.
var table = func() (t []Kind) {
	for k, n := range weights {
		for range n {
			t = append(t, Kind(k))
		}
	}
	return t
}()

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
