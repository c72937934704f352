package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// loadCheck is the interval between two checks of the machine's load.
const loadCheck = 5 * time.Second

// busy keeps the machine's load average up by processes that compute, at the priority of everything else.
type busy struct {
	stop  func() // ends the processes
	ended sync.WaitGroup
}

// holdLoad begins to hold the load average of a minute at about want: as many processes compute as that takes.
func holdLoad(s *session, want float64) *busy {
	ctx, cancel := context.WithCancel(context.Background())
	b := &busy{}
	b.stop = func() {
		cancel()
		b.ended.Wait()
	}
	b.ended.Go(func() {
		var idle []context.CancelFunc // one of each process
		last := time.Now()
		for t := time.NewTicker(loadCheck); ; {
			load, err := loadAverage()
			switch {
			case err != nil:
				s.printf("the load is not known: %v", err)
				return
			case load < want && len(idle) < int(want):
				idle = append(idle, b.compute(ctx))
			case load > want+1 && len(idle) > 0:
				idle[len(idle)-1]()
				idle = idle[:len(idle)-1]
			}
			if time.Since(last) > time.Minute {
				last = time.Now()
				s.printf("the load is %.1f, %d processes of it for the load alone", load, len(idle))
			}
			select {
			case <-ctx.Done():
				t.Stop()
				return
			case <-t.C:
			}
		}
	})
	return b
}

// compute starts a process that computes until the returned function is called.
func (b *busy) compute(ctx context.Context) context.CancelFunc {
	ctx, cancel := context.WithCancel(ctx)
	b.ended.Go(func() { _ = exec.CommandContext(ctx, "sh", "-c", "while :; do :; done").Run() }) // it ends by being killed
	return cancel
}

// loadAverage is the machine's load average of the last minute.
func loadAverage() (load float64, err error) {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, err
	}
	if _, err := fmt.Sscan(string(text), &load); err != nil {
		return 0, fmt.Errorf("read /proc/loadavg: %w", err)
	}
	return load, nil
}

// newcomer is an environment with an empty home directory: without caches and settings of Go and npm.
func newcomer(home string) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return name == "HOME" || strings.HasPrefix(name, "XDG_") || strings.HasPrefix(strings.ToLower(name), "npm_config_") ||
			slices.Contains([]string{"GOPATH", "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOENV", "MAKEFLAGS"}, name)
	})
	return append(env, "HOME="+home)
}
