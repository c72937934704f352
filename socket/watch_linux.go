package socket

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Watch tells which of many sockets have something to be read, to one goroutine that
// waits for all of them. A socket is told of when bytes, the end or an error come, and
// again only when more has come since: who is told reads until there is less than was
// asked for. Add and Remove may be called by any goroutine, Wait by one.
type Watch struct {
	file   *os.File
	raw    syscall.RawConn
	events []unix.EpollEvent
}

// eventsAtOnce is how many sockets one Wait tells of at most.
const eventsAtOnce = 256

// NewWatch makes a Watch of no sockets. The error is errors.ErrUnsupported where the
// system has none.
func NewWatch() (*Watch, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	// One that blocks would not be waited for by the runtime's poller, but by a thread.
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, errors.Join(fmt.Errorf("epoll: %w", err), unix.Close(fd))
	}
	w := &Watch{file: os.NewFile(uintptr(fd), "epoll"), events: make([]unix.EpollEvent, eventsAtOnce)}
	if w.raw, err = w.file.SyscallConn(); err != nil {
		return nil, errors.Join(fmt.Errorf("epoll: %w", err), w.file.Close())
	}
	return w, nil
}

// Add has nc watched under a number; what has come already is told of too. The error is
// errors.ErrUnsupported if nc is more than a socket, and net.ErrClosed if it is closed.
func (w *Watch) Add(nc net.Conn, number uint64) error {
	e := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLET, Fd: int32(uint32(number)), Pad: int32(uint32(number >> 32))}
	return w.control(nc, unix.EPOLL_CTL_ADD, &e)
}

// Remove ends the watching of a socket, which closing it does as well.
func (w *Watch) Remove(nc net.Conn) error {
	return w.control(nc, unix.EPOLL_CTL_DEL, &unix.EpollEvent{})
}

func (w *Watch) control(nc net.Conn, op int, e *unix.EpollEvent) error {
	socket := rawOf(nc)
	if socket == nil {
		return errors.ErrUnsupported
	}
	var failed error
	err := w.raw.Control(func(epoll uintptr) {
		failed = socket.Control(func(fd uintptr) {
			failed = unix.EpollCtl(int(epoll), op, int(fd), e)
		})
	})
	return errors.Join(err, failed)
}

// Wait puts the numbers of sockets that have something behind numbers[:0]. It returns at
// least one, or os.ErrClosed after Close.
func (w *Watch) Wait(numbers []uint64) ([]uint64, error) {
	var n int
	var failed error
	err := w.raw.Read(func(epoll uintptr) bool {
		for {
			if n, failed = unix.EpollWait(int(epoll), w.events, 0); !errors.Is(failed, unix.EINTR) {
				return n > 0 || failed != nil
			}
		}
	})
	switch {
	case err != nil: // nothing else ends waiting
		return nil, fmt.Errorf("epoll: %w: %w", os.ErrClosed, err)
	case failed != nil:
		return nil, fmt.Errorf("epoll: %w", failed)
	}
	numbers = numbers[:0]
	for _, e := range w.events[:n] {
		numbers = append(numbers, uint64(uint32(e.Pad))<<32|uint64(uint32(e.Fd)))
	}
	return numbers, nil
}

// Close ends Wait. The sockets stay open.
func (w *Watch) Close() error { return w.file.Close() }
