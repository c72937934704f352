package sim

import (
	"fmt"
	"strings"
)

// Kind is the action of a step.
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
	Claim // mostly by the leader
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
	SetWall // a node's wall clock is set
	Keep    // a key that was set for a while is to stay
	Gather  // all batches reach the leader, which makes an entry of them and gives it to raft later
	Linger  // a little time passes, less than reads may be ahead of the log
	Outlast // more time passes than a request waits and a lease lasts
	Lag     // the same as Flow, but a node applies nothing, and may not hear what it is answered
	kinds
)

var kindNames = [kinds]string{
	"push", "push once", "count", "set until", "read", "read until", "publish", "publish once", "enqueue", "cancel message", "schedule",
	"start run", "await", "notify", "cancel run", "revive", "again", "send", "receive", "form", "propose", "commit", "apply",
	"elect", "learn", "crash", "restart", "snapshot", "install", "pass", "claim", "renew", "answer", "hand in", "sweep", "reboot", "register", "flow",
	"work", "cut", "mend", "set wall", "keep", "gather", "linger", "outlast", "lag",
}

func (k Kind) String() string { return kindNames[k] }

// Step is one step of a history.
type Step struct {
	Kind    Kind
	A, B, C uint16
}

func (s Step) String() string { return fmt.Sprintf("{%v %d %d %d}", s.Kind, s.A, s.B, s.C) }

// A History is the input of a simulation: the steps, and the seed of the machines' random numbers.
type History struct {
	Seed  uint64
	Steps []Step
}

func (h History) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, %d steps:", h.Seed, len(h.Steps))
	for _, s := range h.Steps {
		fmt.Fprintf(&b, "\n  %v", s)
	}
	return b.String()
}
