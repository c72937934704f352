package main

import (
	"log/slog"
	"os"
	"runtime"
)

// spareProcessor lets Go run on one processor more than it may use. A goroutine that waits
// for a disk sync keeps its processor until the runtime's monitor takes it away, which may
// be longer than the sync: on two cores half of a node stood still during each commit, and
// SET over 64 connections of RESP is a tenth faster with a third. GOMAXPROCS of the
// environment wins.
func spareProcessor(log *slog.Logger) {
	if _, chosen := os.LookupEnv("GOMAXPROCS"); chosen {
		return
	}
	n := runtime.GOMAXPROCS(0) + 1 // from the container's limit, or the machine's cores
	runtime.GOMAXPROCS(n)
	log.Debug("processors", "go", n)
}
