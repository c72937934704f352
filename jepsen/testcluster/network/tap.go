package network

import (
	"encoding/binary"
	"fmt"
	"os"
	"syscall"
	"unsafe"
)

// What the TUN driver's ioctl takes (linux/if_tun.h).
const (
	tunSetIff = 0x400454ca
	iffTap    = 0x0002
	iffNoInfo = 0x1000
)

// openTap makes a device whose frames are read and written here.
func openTap(name string) (*os.File, error) {
	fd, err := syscall.Open("/dev/net/tun", syscall.O_RDWR|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open the TUN driver: %w", err)
	}
	var request [40]byte
	copy(request[:15], name)
	binary.NativeEndian.PutUint16(request[16:], iffTap|iffNoInfo)
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), tunSetIff, uintptr(unsafe.Pointer(&request[0]))); errno != 0 {
		syscall.Close(fd)
		return nil, fmt.Errorf("make the device %s: %w", name, errno)
	}
	return os.NewFile(uintptr(fd), name), nil
}
