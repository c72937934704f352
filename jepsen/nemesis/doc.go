// Package nemesis injects faults into a cluster by a schedule. The schedule is drawn from
// a seed before the run begins, so that it can be stored and replayed.
//
// faults.go names the faults, inject.go and links.go say how each is done and undone.
// Every fault is undone when the run ends or its context does.
package nemesis
