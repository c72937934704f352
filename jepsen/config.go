package jepsen

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/internal/certs"
	"github.com/trireme-dev/trireme/jepsen/nemesis"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
	"github.com/trireme-dev/trireme/jepsen/workload"
)

// Config defines a run. The same seed and settings give the same schedule and
// the same client programs; the interleaving stays the machine's.
type Config struct {
	Binary    string        // the product
	Nodes     int           // of the cluster; 0 means 3
	Dir       string        // everything the run leaves: schedule, logs, data, histories
	Seed      uint64        // draws schedule and operations
	Duration  time.Duration // of load and faults
	Workloads []string      // names, see Workloads
	Faults    []nemesis.Fault
	Schedule  *nemesis.Schedule // played instead of a drawn one
	Gap       time.Duration     // mean time between faults; 0 means 2 s
	Clients   int               // of each workload; 0 means 10
	Pause     time.Duration     // mean time between two operations of a client
	Persist   time.Duration     // how long a request with an id is sent again; 0 means a minute
	Heartbeat time.Duration     // of the cluster; 0 means its default
	Env       []string          // further environment of the nodes
	Trust     string            // how nodes trust each other: certificates, secret, or empty for neither
	Network   testcluster.Kind  // what stands between the nodes
	Disks     bool              // every node has a file system of its own
	Snapshots int               // log entries between snapshots; 0 means the product's default
}

// Have lists what faults may need of the cluster that the settings make.
func (c Config) Have() (needs []nemesis.Need) {
	if c.Network != testcluster.Loopback {
		needs = append(needs, nemesis.Links)
	}
	if c.Network == testcluster.Switched {
		needs = append(needs, nemesis.Frames)
	}
	if c.Disks {
		needs = append(needs, nemesis.Disks)
	}
	return needs
}

// options returns the options of the cluster.
func (c Config) options() testcluster.Options {
	o := testcluster.Options{Binary: c.Binary, Dir: c.Dir, Size: c.Nodes, Heartbeat: c.Heartbeat, Env: c.Env, Network: c.Network, Disks: c.Disks, Secure: c.Trust == "certificates"}
	if c.Trust == "secret" {
		o.Secret = certs.NewSecret()
	}
	if c.Network == testcluster.Loopback && slices.ContainsFunc(c.Workloads, func(name string) bool { return scenarios[name] != nil }) {
		o.Args = append(o.Args, "--egress-allow", "127.0.0.0/8") // where the sinks are
	}
	if c.Snapshots > 0 {
		o.Args = append(o.Args, "--snapshot-threshold", strconv.Itoa(c.Snapshots))
	}
	return o
}

// ErrUnknownWorkload is returned for a name that is not a workload's.
var ErrUnknownWorkload = errors.New("unknown workload")

// Workloads lists the names of the workloads of the keyspace.
func Workloads() []string { return []string{"register", "counter", "append", "set", "bank", "ttl"} }

// Everything lists the names of all workloads.
func Everything() []string { return append(Workloads(), slices.Sorted(maps.Keys(scenarios))...) }

// newWorkload makes the workload of that name.
func newWorkload(name string, s workload.Settings, c *testcluster.Cluster) (workload.Workload, error) {
	if p := scenarios[name]; p != nil {
		return newRounds(name, s, c, p), nil
	}
	switch name {
	case "register":
		return workload.NewRegister(s), nil
	case "counter":
		return workload.NewCounter(s), nil
	case "append":
		return workload.NewAppend(s), nil
	case "set":
		return workload.NewSet(s), nil
	case "bank":
		return workload.NewBank(s), nil
	case "ttl":
		return workload.NewTTL(s), nil
	default:
		return nil, fmt.Errorf("%w %q, known are %s", ErrUnknownWorkload, name, strings.Join(Everything(), ", "))
	}
}

// workloads makes every workload of a run that begins now.
func (c Config) workloads(began time.Time, cluster *testcluster.Cluster) ([]workload.Workload, error) {
	clients := c.Clients
	if clients == 0 {
		clients = 10
	}
	persist := c.Persist
	if persist == 0 {
		persist = time.Minute
	}
	var all []workload.Workload
	for i, name := range c.Workloads {
		w, err := newWorkload(name, workload.Settings{Seed: c.Seed + uint64(i)<<32, Began: began, Clients: clients, Pause: c.Pause, Persist: persist}, cluster)
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
