package proc

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Written returns the bytes that all processes together have written so far to the disk of a directory, after it has flushed the
// page cache. It fails for file systems without a block device.
//
// The account of a process (write_bytes of /proc/PID/io) would leave out others, but counts whole folios of the page cache, half a
// megabyte and more for a synced write of one block (Linux 6.18, ext4).
func Written(dir string) (int64, error) {
	var s syscall.Stat_t
	if err := syscall.Stat(dir, &s); err != nil {
		return 0, fmt.Errorf("%s: %w", dir, err)
	}
	syscall.Sync()
	// Major and minor number as glibc takes them apart.
	major, minor := s.Dev>>8&0xfff|s.Dev>>32&^0xfff, s.Dev&0xff|s.Dev>>12&^0xff
	text, err := os.ReadFile(fmt.Sprintf("/sys/dev/block/%d:%d/stat", major, minor))
	if err != nil {
		return 0, fmt.Errorf("%s is on no block device: %w", dir, err)
	}
	const sector, sectorsWritten = 512, 6 // Documentation/block/stat.rst: always 512 bytes
	fields := strings.Fields(string(text))
	if len(fields) <= sectorsWritten {
		return 0, fmt.Errorf("the statistics of the disk of %s are not understood: %q", dir, text)
	}
	n, err := strconv.ParseInt(fields[sectorsWritten], 10, 64)
	return n * sector, err
}
