package socket

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Poller waits until some of many sockets are readable. It is edge-triggered: a socket is reported when bytes, end of file or an
// error arrive, and again only when more arrives, so its owner has to read until a read returns less than was asked for. Add and
// Remove may be called by any goroutine, Wait by one.
type Poller struct {
	file   *os.File
	raw    syscall.RawConn
	events []unix.EpollEvent
}

// eventsAtOnce bounds the sockets that one Wait reports.
const eventsAtOnce = 256

// NewPoller returns a Poller without sockets. The error is errors.ErrUnsupported on systems without epoll.
func NewPoller() (*Poller, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	// The runtime's poller waits for nonblocking descriptors only; else a thread would block.
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, errors.Join(fmt.Errorf("epoll: %w", err), unix.Close(fd))
	}
	w := &Poller{file: os.NewFile(uintptr(fd), "epoll"), events: make([]unix.EpollEvent, eventsAtOnce)}
	if w.raw, err = w.file.SyscallConn(); err != nil {
		return nil, errors.Join(fmt.Errorf("epoll: %w", err), w.file.Close())
	}
	return w, nil
}

// Add registers nc under a number; input that is there already is reported too. The error
// is errors.ErrUnsupported if nc is more than a socket, and net.ErrClosed if it is closed.
func (p *Poller) Add(nc net.Conn, number uint64) error {
	return p.add(nc, number, unix.EPOLLET)
}

// AddLevel registers nc for Ready: it is reported as long as it has input that was not taken.
func (p *Poller) AddLevel(nc net.Conn, number uint64) error {
	return p.add(nc, number, 0)
}

func (p *Poller) add(nc net.Conn, number uint64, mode uint32) error {
	e := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLRDHUP | mode, Fd: int32(uint32(number)), Pad: int32(uint32(number >> 32))}
	return p.control(nc, unix.EPOLL_CTL_ADD, &e)
}

// Remove unregisters a socket, which closing it does as well.
func (p *Poller) Remove(nc net.Conn) error {
	return p.control(nc, unix.EPOLL_CTL_DEL, &unix.EpollEvent{})
}

func (p *Poller) control(nc net.Conn, op int, e *unix.EpollEvent) error {
	socket := rawOf(nc)
	if socket == nil {
		return errors.ErrUnsupported
	}
	var failed error
	err := p.raw.Control(func(epoll uintptr) {
		failed = socket.Control(func(fd uintptr) {
			failed = unix.EpollCtl(int(epoll), op, int(fd), e)
		})
	})
	return errors.Join(err, failed)
}

// Wait returns the numbers of readable sockets in the memory of numbers: at least one, or os.ErrClosed after Close.
func (p *Poller) Wait(numbers []uint64) ([]uint64, error) {
	var n int
	var failed error
	err := p.raw.Read(func(epoll uintptr) bool {
		for {
			if n, failed = unix.EpollWait(int(epoll), p.events, 0); !errors.Is(failed, unix.EINTR) {
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
	for _, e := range p.events[:n] {
		numbers = append(numbers, uint64(uint32(e.Pad))<<32|uint64(uint32(e.Fd)))
	}
	return numbers, nil
}

// readyRounds bounds how many system calls one Ready makes.
const readyRounds = 64

// Ready returns the numbers of the sockets of AddLevel that have input now, in the memory of numbers. It does not wait, and may
// be called by one goroutine at a time; a Poller is for Wait or for Ready.
func (p *Poller) Ready(numbers []uint64) ([]uint64, error) {
	numbers = numbers[:0]
	var failed error
	err := p.raw.Control(func(epoll uintptr) {
		for range readyRounds { // the kernel continues after those that it has reported
			var n int
			if n, failed = unix.EpollWait(int(epoll), p.events, 0); errors.Is(failed, unix.EINTR) {
				continue
			}
			for _, e := range p.events[:max(n, 0)] {
				numbers = append(numbers, uint64(uint32(e.Pad))<<32|uint64(uint32(e.Fd)))
			}
			if failed != nil || n < len(p.events) {
				return
			}
		}
	})
	return numbers, errors.Join(err, failed)
}

// Close ends Wait. The sockets stay open.
func (p *Poller) Close() error { return p.file.Close() }
