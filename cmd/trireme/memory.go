package main

import (
	"log/slog"
	"math"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// ampleMemory is the memory limit from which on the collector is paced by load (package
// gcpacer): below it, Go's own 100 % is safer.
const ampleMemory = 2 << 30

// limitMemory sets Go's memory limit from the container's or the machine's, and reports
// whether there is room to pace the collector. GOMEMLIMIT and GOGC of the environment win.
func limitMemory(log *slog.Logger) (ample bool) {
	limit, err := memlimit.Set(
		memlimit.WithProvider(memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)),
		memlimit.WithRatio(0.9),
	)
	if err != nil {
		log.Warn("no memory limit could be found", "error", err)
	}
	_, chosen := os.LookupEnv("GOGC")
	log.Debug("memory", "limit", limit, "gogc_from_environment", chosen)
	return !chosen && limit >= ampleMemory && limit != math.MaxInt64
}

// indexMemory returns the memory limit of search indexes in bytes: set, or a quarter of Go's memory limit if set is 0.
func indexMemory(set byteSize) int64 {
	if set > 0 {
		return int64(set)
	}
	return debug.SetMemoryLimit(-1) / 4
}
