package main

import (
	"log/slog"
	"os"
	"runtime/debug"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// TestMemoryOfTheProcess: Go's memory limit is nine tenths of the container's or the machine's memory unless the environment says
// another one, and the collector is paced if that is enough and GOGC is not set.
func TestMemoryOfTheProcess(t *testing.T) {
	all, err := memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)()
	if err != nil {
		t.Skip("no memory limit can be found: ", err)
	}
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	unset := func(name string) {
		t.Setenv(name, "") // puts it back in the end
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	unset("GOMEMLIMIT")
	unset("GOGC")
	limit := uint64(float64(all) * 0.9)
	if ample := limitMemory(slog.Default()); uint64(debug.SetMemoryLimit(-1)) != limit || ample != (limit >= ampleMemory) {
		t.Errorf("of %d bytes the limit is %d, ample: %v", all, debug.SetMemoryLimit(-1), ample)
	}
	if got := indexMemory(0); uint64(got) != limit/4 {
		t.Errorf("indexes may take %d of %d bytes", got, limit)
	}
	t.Setenv("GOGC", "100")
	if limitMemory(slog.Default()) {
		t.Error("GOGC is set, and the collector is paced")
	}
	unset("GOGC")
	t.Setenv("GOMEMLIMIT", "3GiB")
	debug.SetMemoryLimit(3 << 30) // as Go does at the start
	if ample := limitMemory(slog.Default()); debug.SetMemoryLimit(-1) != 3<<30 || !ample {
		t.Errorf("GOMEMLIMIT is 3 GiB, the limit %d, ample: %v", debug.SetMemoryLimit(-1), ample)
	}
}
