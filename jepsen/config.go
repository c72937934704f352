// Package jepsen runs workloads against a real cluster while a nemesis hurts it,
// and has the checkers judge what the clients saw.
package jepsen

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"trireme/jepsen/nemesis"
	"trireme/jepsen/workload"
)

// Config defines a run. The same seed and settings give the same schedule and
// the same client programs; the interleaving stays the machine's.
type Config struct {
	Binary    string        // the product
	Dir       string        // everything the run leaves: schedule, logs, data, histories
	Seed      uint64        // draws schedule and operations
	Duration  time.Duration // of load and faults
	Workloads []string      // names, see Workloads
	Faults    []nemesis.Fault
	Schedule  *nemesis.Schedule // played instead of a drawn one
	Gap       time.Duration     // mean time between faults; 0 means 2 s
	Clients   int               // of each workload; 0 means 10
	Pause     time.Duration     // mean time between two operations of a client
	Heartbeat time.Duration     // of the cluster; 0 means its default
	Env       []string          // further environment of the nodes
}

// ErrUnknownWorkload is returned for a name that is not a workload's.
var ErrUnknownWorkload = errors.New("unknown workload")

// Workloads lists the names of all workloads.
func Workloads() []string { return []string{"register", "counter"} }

// newWorkload makes the workload of that name.
func newWorkload(name string, s workload.Settings) (workload.Workload, error) {
	switch name {
	case "register":
		return workload.NewRegister(s), nil
	case "counter":
		return workload.NewCounter(s), nil
	default:
		return nil, fmt.Errorf("%w %q, known are %s", ErrUnknownWorkload, name, strings.Join(Workloads(), ", "))
	}
}

// workloads makes every workload of a run that begins now.
func (c Config) workloads(began time.Time) ([]workload.Workload, error) {
	clients := c.Clients
	if clients == 0 {
		clients = 10
	}
	var all []workload.Workload
	for i, name := range c.Workloads {
		w, err := newWorkload(name, workload.Settings{Seed: c.Seed + uint64(i)<<32, Began: began, Clients: clients, Pause: c.Pause})
		if err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	return all, nil
}

// schedule draws the run's schedule, or takes the one given, and stores it.
func (c Config) schedule(nodes int) (nemesis.Schedule, error) {
	s := nemesis.Generate(nemesis.Plan{Seed: c.Seed, Duration: c.Duration, Nodes: nodes, Faults: c.Faults, Gap: c.Gap})
	if c.Schedule != nil {
		s = *c.Schedule
	}
	return s, s.Save(filepath.Join(c.Dir, "schedule.json"))
}
