//go:build linux

package socket_test

import (
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/internal/socket"
)

// BenchmarkEcho sends 40 bytes over loopback and back, on 32 connections at once: by package
// net, and by this package. doc.go has the figures.
func BenchmarkEcho(b *testing.B) {
	for name, wrap := range map[string]func(net.Conn) (read, write func([]byte) (int, error)){
		"net":    func(c net.Conn) (read, write func([]byte) (int, error)) { return c.Read, c.Write },
		"socket": func(c net.Conn) (read, write func([]byte) (int, error)) { return socket.Read(c), socket.Write(c) },
	} {
		b.Run(name, func(b *testing.B) { echo(b, wrap) })
	}
}

func echo(b *testing.B, wrap func(net.Conn) (read, write func([]byte) (int, error))) {
	const connections = 32
	var all sync.WaitGroup
	began := processorTime(b)
	for range connections {
		near, far := pair(b)
		all.Go(func() {
			read, write := wrap(far)
			buf := make([]byte, 64)
			for {
				n, err := read(buf)
				if err == nil {
					_, err = write(buf[:n])
				}
				if err != nil {
					return // closed at the end
				}
			}
		})
		all.Go(func() {
			defer near.Close()
			read, write := wrap(near)
			buf := make([]byte, 64)
			for range b.N / connections {
				if _, err := write(buf[:40]); err != nil {
					b.Error(err)
				}
				for got := 0; got < 40; {
					n, err := read(buf)
					if err != nil {
						b.Error(err)
						return
					}
					got += n
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(processorTime(b)-began)/float64(b.N), "cpu-ns/op")
}

// processorTime returns the processor time of this process. Unlike elapsed time it hardly depends on
// other programs.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
