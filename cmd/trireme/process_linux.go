package main

import (
	"bufio"
	"bytes"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/trireme-dev/trireme/fsm/command"
)

// processStats returns the operating system's figures for this process, which INFO shows. A figure
// that can't be read is 0; no decision depends on them.
func processStats() command.Process {
	status, memory := procFile("/proc/self/status"), procFile("/proc/meminfo")
	p := command.Process{
		ID: os.Getpid(), OS: "Linux", Arch: runtime.GOARCH,
		Resident: status["VmRSS"], Peak: status["VmHWM"], Total: memory["MemTotal"],
	}
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) == nil {
		p.UserMicros, p.SystemMicros = used.Utime.Nano()/1000, used.Stime.Nano()/1000
	}
	return p
}

// procFile reads the sizes in a file of /proc, in bytes by name. The file has them in kB.
func procFile(path string) map[string]int64 {
	sizes := map[string]int64{}
	text, err := os.ReadFile(path)
	if err != nil {
		return sizes
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ":")
		number, unit := strings.CutSuffix(strings.TrimSpace(value), " kB")
		if n, err := strconv.ParseInt(number, 10, 64); unit && err == nil {
			sizes[name] = n << 10
		}
	}
	return sizes
}
