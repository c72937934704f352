package network

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// Owner says which of the processes owns the end from of a connection from one address of
// loopback to another, by what the kernel tells of its sockets; -1 if none does.
func Owner(pids []int, from, to net.Addr) int {
	inode := socket(from.(*net.TCPAddr).Port, to.(*net.TCPAddr).Port)
	if inode == "" {
		return -1
	}
	link := "socket:[" + inode + "]"
	for i, pid := range pids {
		if pid == 0 {
			continue
		}
		files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		if err != nil {
			continue
		}
		for _, file := range files {
			if target, err := os.Readlink(file); err == nil && target == link {
				return i
			}
		}
	}
	return -1
}

// socket finds the inode of the socket between two ports.
func socket(from, to int) string {
	local, remote := fmt.Sprintf(":%04X", from), fmt.Sprintf(":%04X", to)
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		file, err := os.Open(table)
		if err != nil {
			continue
		}
		defer file.Close()
		for lines := bufio.NewScanner(file); lines.Scan(); {
			f := strings.Fields(lines.Text())
			if len(f) > 9 && strings.HasSuffix(f[1], local) && strings.HasSuffix(f[2], remote) {
				return f[9]
			}
		}
	}
	return ""
}
