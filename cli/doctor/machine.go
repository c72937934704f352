package doctor

import (
	"net"

	"golang.org/x/sys/unix"
)

// spareFiles are descriptors that a node needs in addition to connections of clients and
// deliveries: its log, snapshots, and the other nodes.
const spareFiles = 256

// fewFiles is the greatest limit of open files that is too low for a node.
const fewFiles = 1024

// OpenFiles judges this process's limit of open files against how many connections the
// settings allow at a time. 0 connections = unlimited.
func OpenFiles(connections int) Finding {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return found(checkFiles, "", Warning, "look at `ulimit -n` by hand", "the limit of open files can't be read: %v", err)
	}
	return fileFinding(limit.Max, connections)
}

func fileFinding(limit uint64, connections int) Finding {
	const raise = "raise it (LimitNOFILE= of systemd, ulimits of a container), or lower --max-connections, --resp-max-connections and --senders"
	wanted := uint64(connections + spareFiles)
	switch {
	case limit <= fewFiles:
		return found(checkFiles, "", Failure, raise, "%d open files are allowed", limit)
	case limit < wanted:
		return found(checkFiles, "", Warning, raise, "%d open files are allowed, the settings let clients and deliveries take %d", limit, wanted)
	}
	return found(checkFiles, "", OK, "", "%d open files are allowed, at most %d are needed", limit, wanted)
}

// Memory judges --max-memory, 0 for none, against the memory that this process may have,
// both in bytes. The data is held once more while a snapshot is written under load, and
// Go's collector needs room too, so half is a good start.
func Memory(limit, most int64) Finding {
	const do = "set --max-memory (later POST /admin/settings) to about half of the memory, the same on all nodes"
	switch {
	case limit <= 0:
		return found(checkMemory, "", Warning, "look at the machine's memory by hand", "how much memory there is can't be read")
	case most == 0:
		return found(checkMemory, "", Warning, do, "%s of memory and no --max-memory: data may grow until the system kills the process", size(uint64(limit)))
	case most > limit*9/10:
		return found(checkMemory, "", Failure, do, "--max-memory is %s, of %s of memory", size(uint64(most)), size(uint64(limit)))
	case most > limit*2/3:
		return found(checkMemory, "", Warning, do, "--max-memory is %s, of %s of memory", size(uint64(most)), size(uint64(limit)))
	}
	return found(checkMemory, "", OK, "", "--max-memory is %s, of %s of memory", size(uint64(most)), size(uint64(limit)))
}

// Address reports whether the address of a flag can be listened on; off and empty ones are
// passed over.
func Address(flag, addr string) []Finding {
	if addr == "" || addr == "off" {
		return nil
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return []Finding{found(checkAddress, addr, Failure, "stop the process that uses it, or choose another address with --"+flag, "--%s can't be listened on: %v", flag, err)}
	}
	l.Close()
	return []Finding{found(checkAddress, addr, OK, "", "free for --%s", flag)}
}
