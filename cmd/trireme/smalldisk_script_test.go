package main

import (
	"os"
	"sync"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// mounts reports whether small file systems can be mounted here, which takes root and a machine that permits it.
var mounts = sync.OnceValue(func() bool {
	dir, err := os.MkdirTemp("", "trireme-mount-")
	if err != nil {
		return false
	}
	defer os.Remove(dir)
	return mountSmall(dir, "1m") == nil && syscall.Unmount(dir, syscall.MNT_DETACH) == nil
})

func mountSmall(dir, size string) error {
	return syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=0700,size="+size)
}

// smallDisk makes a folder that is a file system of its own, of that size.
func smallDisk(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	ts.Check(os.Mkdir(dir, 0o700))
	ts.Check(mountSmall(dir, args[1]))
	ts.Defer(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
}
