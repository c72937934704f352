package testports

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// Ports are drawn in blocks from a range below the kernel's ephemeral one (32768 and up on Linux), so that no outgoing connection
// can take the port of a node that is down for a moment.
const (
	firstPort = 10000
	lastPort  = 32000
	// BlockSize is the number of ports of a block.
	BlockSize = 12
)

const loopbackHost = "127.0.0.1"

// ErrNoPorts is returned when every block is taken.
var ErrNoPorts = errors.New("no free block of ports")

// Block is a reserved run of TCP and UDP ports on loopback. Other harnesses on
// this machine do not draw the same block while it is held.
type Block struct {
	base int
	lock *os.File
}

// Reserve draws a free block. The reservation is a file lock, so that it ends with this process, however it ends.
func Reserve() (*Block, error) {
	blocks := (lastPort - firstPort) / BlockSize
	start := rand.IntN(blocks)
	for i := range blocks {
		base := firstPort + (start+i)%blocks*BlockSize
		lock, err := lockBlock(base)
		if err != nil {
			return nil, err
		}
		if lock == nil {
			continue
		}
		if blockFree(base) {
			return &Block{base: base, lock: lock}, nil
		}
		lock.Close()
	}
	return nil, ErrNoPorts
}

// Addr is the loopback address of the i-th port of the block.
func (b *Block) Addr(i int) string { return loopback(b.Port(i)) }

// Size is the number of ports of the block.
func (b *Block) Size() int { return BlockSize }

// Port is the number of the i-th port. It panics behind the last one, which is another block's.
func (b *Block) Port(i int) int {
	if i < 0 || i >= BlockSize {
		panic(fmt.Sprintf("testports: port %d of a block of %d", i, BlockSize))
	}
	return b.base + i
}

// Release gives the block back.
func (b *Block) Release() { b.lock.Close() }

// lockBlock takes the lock file of a block; nil without an error if it is held.
func lockBlock(base int) (*os.File, error) {
	dir := filepath.Join(os.TempDir(), "trireme-test-ports")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("reserve ports: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, strconv.Itoa(base)), os.O_CREATE|os.O_RDWR|syscall.O_CLOEXEC, 0o666)
	if err != nil {
		return nil, fmt.Errorf("reserve ports: %w", err)
	}
	switch err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case err == nil:
		return file, nil
	case errors.Is(err, syscall.EWOULDBLOCK):
		file.Close()
		return nil, nil
	default:
		file.Close()
		return nil, fmt.Errorf("reserve ports: %w", err)
	}
}

// blockFree reports whether all ports of the block are free.
func blockFree(base int) bool {
	for port := base; port < base+BlockSize; port++ {
		tcp, err := net.Listen("tcp", loopback(port))
		if err != nil {
			return false
		}
		tcp.Close()
		udp, err := net.ListenPacket("udp", loopback(port))
		if err != nil {
			return false
		}
		udp.Close()
	}
	return true
}

func loopback(port int) string { return net.JoinHostPort(loopbackHost, strconv.Itoa(port)) }
