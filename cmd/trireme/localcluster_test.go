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
	if checkFree(at, false) != nil {
		t.Skip("another program listens at the same number") // for connections
	}
	if checkFree(at, true) == nil {
		t.Errorf("%s is in use for packets", at)
	}
}

// A stop of all nodes hides their warnings about each other, and no other line.
func TestWarningsAboutOtherNodes(t *testing.T) {
	for line, want := range map[string]bool{ // unordered: each by itself
		`time=T level=WARN msg="failed to heartbeat to" node=n1 part=raft peer=127.0.0.1:7081`:        true,
		`time=T level=WARN msg="leadership was not transferred yet" node=n1 error="cannot find peer"`: true,
		`time=T level=WARN msg="Suspect n2 has failed" node=n1 part=gossip`:                           true,
		`time=T level=ERROR msg="memberlist: Failed fallback TCP ping" node=n1 part=gossip`:           true,
		`time=T level=ERROR msg="failed to take snapshot" node=n1 part=raft`:                          false,
		`time=T level=WARN msg="requests in flight were cut off" node=n1`:                             false,
		`trireme: the disk of the data directory is full`:                                             false,
	} {
		if warnsOfOthers(line) != want {
			t.Errorf("%s: %v", line, !want)
		}
	}
}
