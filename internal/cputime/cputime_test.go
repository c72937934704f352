package cputime

import (
	"runtime"
	"testing"
	"time"
)

// TestWaitingIsNotUsed compares a stretch that computes with one that waits.
func TestWaitingIsNotUsed(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	m := Begin()
	wake := make(chan struct{})
	time.AfterFunc(50*time.Millisecond, func() { close(wake) })
	<-wake
	passed, used := m.End()
	if passed < 50*time.Millisecond || used <= 0 || used > passed {
		t.Errorf("%v passed, %v used", passed, used)
	}
	if runtime.GOOS == "linux" && used > passed/2 {
		t.Errorf("of %v that it has waited, %v count as used", passed, used)
	}
	m = Begin()
	sum := 0
	for n := range 30_000_000 {
		sum += n * n
	}
	runtime.KeepAlive(sum)
	if passed, used := m.End(); used <= 0 || used > passed {
		t.Errorf("computing: %v passed, %v used", passed, used)
	}
}

func BenchmarkMeter(b *testing.B) {
	for b.Loop() {
		Begin().End()
	}
}
