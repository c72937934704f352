package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestBindWaitsForAnAddressInUse has an address become free while a node asks for it.
func TestBindWaitsForAnAddressInUse(t *testing.T) {
	former, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := former.Addr().String()
	if l, err := bind(addr); !errors.Is(err, syscall.EADDRINUSE) {
		t.Fatalf("bound %v, %v while the address is in use", l, err)
	}
	released := time.AfterFunc(3*bindPause, func() { former.Close() })
	defer released.Stop()
	l, err := bindWithin(addr, 30*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}

// TestExplainedStarts: what keeps a node from its directory or its port is said with what to do.
func TestExplainedStarts(t *testing.T) {
	s := &settings{diskSettings: diskSettings{DataDir: "/data"}}
	for cause, says := range map[syscall.Errno]string{
		syscall.EROFS: "can't be written", syscall.EACCES: "can't be written", syscall.EPERM: "can't be written", syscall.ENOTDIR: "can't be written",
		syscall.ENOSPC: "is full: free space", syscall.EDQUOT: "is full: free space",
	} {
		err := s.explainStart(fmt.Errorf("log store: %w", &fs.PathError{Op: "open", Path: "/data/raft.db", Err: cause}))
		if !errors.Is(err, cause) || !strings.Contains(err.Error(), "/data (--data-dir) "+says) {
			t.Errorf("%v: %v", cause, err)
		}
	}
	taken := fmt.Errorf("cluster port: %w", &net.OpError{Op: "listen", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7080}, Err: syscall.EADDRINUSE})
	if err := s.explainStart(taken); err.Error() != "127.0.0.1:7080 is in use by another process: stop it, or choose another address with --cluster" {
		t.Error(err)
	}
	if other := errors.New("something else"); s.explainStart(other) != other {
		t.Error("another error was changed")
	}
}
