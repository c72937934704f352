package yield

import (
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// waiters are kept for the next call. More callers at a time than there are call runtime.Gosched instead.
var waiters = make(chan *waiter, 8)

func init() {
	for range cap(waiters) {
		waiters <- &waiter{}
	}
}

// Processor lets all goroutines run that are ready, and those whose connections have become ready. It takes about 2 µs if
// there are none.
//
// The caller waits, as for the network, for an event that it has made itself: so the scheduler finds its processor without
// work, looks at the network, and has the caller go on behind whatever else it finds.
func Processor() {
	select {
	case w := <-waiters:
		w.wait()
		waiters <- w
	default:
		runtime.Gosched()
	}
}

// waiter is a counter in the kernel that becomes readable when something is added to it.
type waiter struct {
	file   *os.File
	conn   syscall.RawConn
	failed bool
	added  bool
	poll   func(fd uintptr) (done bool)
	number [8]byte
}

func (w *waiter) wait() {
	if w.conn == nil && !w.failed {
		w.failed = w.open() != nil
	}
	if w.failed {
		runtime.Gosched()
		return
	}
	w.added = false
	if w.conn.Read(w.poll) != nil { // which only happens to a closed file
		runtime.Gosched()
	}
}

func (w *waiter) open() error {
	fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return err
	}
	w.file = os.NewFile(uintptr(fd), "yield")
	w.poll = w.once
	w.number[0] = 1
	w.conn, err = w.file.SyscallConn()
	return err
}

// once makes the event when it is called first, and takes it back when it is called again, because the file is readable.
func (w *waiter) once(fd uintptr) (done bool) {
	if w.added {
		var taken [8]byte
		_, _ = unix.Read(int(fd), taken[:]) // there may be nothing, if an earlier event came late
		return true
	}
	w.added = true
	_, err := unix.Write(int(fd), w.number[:])
	return err != nil
}
