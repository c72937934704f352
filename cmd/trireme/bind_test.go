package main

import (
	"errors"
	"net"
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
