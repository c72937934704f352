package main

import (
	"net"
	"testing"
)

func TestGossipPortIsFreeForPacketsToo(t *testing.T) {
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	at := socket.LocalAddr().String()
	if free(at, false) != nil {
		t.Skip("another program listens at the same number") // for connections
	}
	if free(at, true) == nil {
		t.Errorf("%s is in use for packets", at)
	}
}
