package doctor

import "golang.org/x/sys/unix"

// unsafeDisks are file systems on which a sync promises less than a log needs.
var unsafeDisks = map[int64]string{
	unix.TMPFS_MAGIC:           "tmpfs: what is there is gone when the machine stops",
	0x858458f6:                 "ramfs: what is there is gone when the machine stops", // RAMFS_MAGIC
	unix.NFS_SUPER_MAGIC:       "NFS: a sync says little, and locks may not hold",
	unix.OVERLAYFS_SUPER_MAGIC: "overlay: what is there is gone with the container",
}
