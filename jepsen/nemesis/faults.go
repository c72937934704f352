package nemesis

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Fault names one way to inject a cluster.
type Fault string

// Faults of a node's process.
const (
	// Kill is kill -9, and a restart at the end of the step.
	Kill Fault = "kill"
	// Restart is kill -9 and a start at once.
	Restart Fault = "restart"
	// Pause is SIGSTOP, and SIGCONT at the end of the step.
	Pause Fault = "pause"
	// Stop is SIGTERM, and a start at the end of the step.
	Stop Fault = "stop"
	// Failpoint makes a node end at a named place in its code, if it passes there
	// before the end of the step, and starts it again.
	Failpoint Fault = "failpoint"
	// Slow stops a node's process for Amount percent of the time, in short turns.
	Slow Fault = "slow"
	// LowMemory starts a node anew with Amount MiB for its heap.
	LowMemory Fault = "low-memory"
	// FewFiles lets a node's process open nothing more while it has Amount files and
	// connections.
	FewFiles Fault = "few-files"
	// Clock has a node believe in a wall clock that is wrong by Amount seconds. It takes a
	// binary with failpoints.
	Clock Fault = "clock"
)

// Faults of leadership.
const (
	// Transfer makes the leader hand over leadership.
	Transfer Fault = "transfer"
	// Storm makes the leader hand over again and again.
	Storm Fault = "storm"
)

// Faults of the network.
const (
	// Isolate cuts a node from the others, not from its clients.
	Isolate Fault = "isolate"
	// OneWay cuts what a node sends to the others, or with an Amount what it gets.
	OneWay Fault = "one-way"
	// Bridge cuts the others from each other, so that only the node sees all.
	Bridge Fault = "bridge"
	// CutClients cuts a node from its clients, not from the others.
	CutClients Fault = "cut-clients"
	// Delay holds up what a node sends and gets by Amount milliseconds, half as much more
	// by chance, and has some of it overtake the rest.
	Delay Fault = "delay"
	// Loss loses Amount percent of the frames from and to a node.
	Loss Fault = "loss"
	// Duplicate sends Amount percent of the frames from and to a node twice.
	Duplicate Fault = "duplicate"
	// Corrupt flips a bit in Amount percent of the frames from and to a node.
	Corrupt Fault = "corrupt"
	// Rate lets no more than Amount KiB a second through, from and to a node.
	Rate Fault = "rate"
)

// Faults of a node's disk.
const (
	// Freeze has the disk answer nothing until the end of the step.
	Freeze Fault = "freeze"
	// SlowDisk has every sync of the log take Amount milliseconds more. It takes a binary
	// with failpoints.
	SlowDisk Fault = "slow-disk"
	// Full leaves Amount KiB of room.
	Full Fault = "full"
	// PowerCut loses what was not synced and fails everything afterwards; the node is
	// killed and starts again on what is left.
	PowerCut Fault = "power-cut"
	// Damage flips a bit in a file of a node that was killed, or cuts the end of one off, as
	// Amount chooses. The node, started again, refuses to run or goes on as if nothing had
	// happened; at the end of the step another one, under a new id, takes its place.
	Damage Fault = "damage"
	// OldCopy has a node find an older state of its data directory: a copy that was made while it was down, since when it
	// has run for a while. It has to end by itself; at the end of the step another one, under a new id, takes its place.
	OldCopy Fault = "old-copy"
	// LostDisk loses the disk of a node for good; another one, under a new id, takes its
	// place.
	LostDisk Fault = "lost-disk"
)

// Faults that leave no majority.
const (
	// KillAll is kill -9 of all nodes at once, and their restart at the end.
	KillAll Fault = "kill-all"
	// ColdStart is KillAll, and a start of which one node is late.
	ColdStart Fault = "cold-start"
	// PowerCutAll is PowerCut of all nodes at once.
	PowerCutAll Fault = "power-cut-all"
	// SplitAll cuts every node from every other.
	SplitAll Fault = "split-all"
)

// class says how faults may be combined.
type class int

const (
	// severe faults take a node away: at a time only from one node, so that the others
	// are a healthy majority.
	severe class = iota
	// mild faults leave their node working, more or less; they go with any other.
	mild
	// exclusive faults never overlap another fault.
	exclusive
)

// kind holds the requirements and the parameters of one kind of fault.
type kind struct {
	class      class
	needs      []Need
	noMajority bool
}

// Need is something that not every cluster under test has.
type Need string

const (
	// Links is a network that can be cut, delayed and slowed down.
	Links Need = "links"
	// Frames is one of whose frames any can be lost, doubled or corrupted.
	Frames Need = "frames"
	// Disks is a file system for each node.
	Disks Need = "disks"
)

var kinds = map[Fault]kind{
	Kill: {}, Restart: {}, Pause: {}, Stop: {}, Failpoint: {},
	LowMemory: {}, FewFiles: {class: mild},
	Slow: {class: mild}, Clock: {class: mild}, Transfer: {class: mild}, SlowDisk: {class: mild}, Storm: {class: exclusive},
	Isolate: {needs: []Need{Links}}, OneWay: {needs: []Need{Links}},
	CutClients: {needs: []Need{Links}}, Bridge: {class: exclusive, needs: []Need{Links}},
	Delay: {class: mild, needs: []Need{Links}}, Rate: {class: mild, needs: []Need{Links}}, Loss: {class: mild, needs: []Need{Links}},
	Duplicate: {class: mild, needs: []Need{Links, Frames}}, Corrupt: {class: mild, needs: []Need{Links, Frames}},
	Freeze: {needs: []Need{Disks}}, Full: {needs: []Need{Disks}}, PowerCut: {needs: []Need{Disks}},
	KillAll: {class: exclusive, noMajority: true}, ColdStart: {class: exclusive, noMajority: true},
	LostDisk: {class: exclusive}, Damage: {class: exclusive}, OldCopy: {class: exclusive},
	SplitAll:    {class: exclusive, needs: []Need{Links}, noMajority: true},
	PowerCutAll: {class: exclusive, needs: []Need{Disks}, noMajority: true},
}

// order is the order in which faults are listed.
var order = []Fault{
	Kill, Restart, Pause, Stop, Transfer, Failpoint, KillAll, ColdStart, Storm, Slow, Clock, LowMemory, FewFiles,
	Isolate, OneWay, Bridge, CutClients, SplitAll, Delay, Loss, Duplicate, Corrupt, Rate,
	Freeze, SlowDisk, Full, PowerCut, PowerCutAll, LostDisk, Damage, OldCopy,
}

// Faults lists every fault that needs no more than is there.
func Faults(have ...Need) (all []Fault) {
	for _, f := range order {
		if !slices.ContainsFunc(kinds[f].needs, func(n Need) bool { return !slices.Contains(have, n) }) {
			all = append(all, f)
		}
	}
	return all
}

// Stalls says whether the fault takes the disk away without telling.
func (f Fault) Stalls() bool { return f == Freeze }

// NoMajority says whether the fault leaves no majority of healthy nodes.
func (f Fault) NoMajority() bool { return kinds[f].noMajority }

// ErrUnknownFault is returned for a name that is not a fault's.
var ErrUnknownFault = errors.New("unknown fault")

// ErrNeeds is returned for a fault that the cluster under test can't be inject by.
var ErrNeeds = errors.New("fault needs what is not there")

// ParseFaults reads a comma-separated list of faults; "all" names every one that needs no
// more than is there.
func ParseFaults(list string, have ...Need) ([]Fault, error) {
	possible := Faults(have...)
	if list == "all" {
		return possible, nil
	}
	var faults []Fault
	for _, name := range strings.Split(list, ",") {
		k, known := kinds[Fault(name)]
		switch {
		case name == "":
		case !known:
			return nil, fmt.Errorf("%w %q, known are %v", ErrUnknownFault, name, order)
		case !slices.Contains(possible, Fault(name)):
			return nil, fmt.Errorf("%w: %s: %v", ErrNeeds, name, k.needs)
		default:
			faults = append(faults, Fault(name))
		}
	}
	return faults, nil
}
