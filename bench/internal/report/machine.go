package report

import (
	"os"
	"runtime"
	"strings"
)

// Machine says where a run took place: figures of different machines, or of
// one under other load, do not compare.
type Machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Memory string `json:"memory"`
	Kernel string `json:"kernel"`
	Go     string `json:"go"`
	Load   string `json:"load_before"` // load averages when the run began
}

// ThisMachine reads /proc; what it can't read stays empty.
func ThisMachine() Machine {
	return Machine{
		CPU: procField("/proc/cpuinfo", "model name"), Cores: runtime.NumCPU(), Memory: procField("/proc/meminfo", "MemTotal"),
		Kernel: procText("/proc/sys/kernel/osrelease"), Go: runtime.Version(), Load: procText("/proc/loadavg"),
	}
}

// procText is the content of a one-line file.
func procText(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// procField is the first value of name in a file of "name : value" lines.
func procField(path, name string) string {
	for line := range strings.Lines(procText(path)) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == name {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
