package main

import (
	"log/slog"
	"math"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

const (
	// ampleMemory is the memory limit from which on the collector runs less often:
	// it then has room for several times what is alive.
	ampleMemory = 2 << 30
	// amplePercent lets the heap grow to five times what is alive before a collection.
	// The memory limit overrides it as the heap comes near.
	amplePercent = 400
)

// limitMemory sets Go's memory limit from the container's or the machine's, and lets
// the collector rest while there is room. GOMEMLIMIT and GOGC of the environment win.
func limitMemory(log *slog.Logger) {
	limit, err := memlimit.Set(
		memlimit.WithProvider(memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)),
		memlimit.WithRatio(0.9),
	)
	if err != nil {
		log.Warn("no memory limit could be found", "error", err)
	}
	_, chosen := os.LookupEnv("GOGC")
	if !chosen && limit >= ampleMemory && limit != math.MaxInt64 {
		debug.SetGCPercent(amplePercent)
	}
	log.Debug("memory", "limit", limit, "gogc_from_environment", chosen)
}
