package command_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/keyspace"
)

// TestEvictionParameters sets and reads the parameters of eviction, and asks what each policy keeps of a key, as
// redis-server does.
func TestEvictionParameters(t *testing.T) {
	real, ours := startRedis(t), newAccessed(t)
	tick(t, real, ours.now)
	lines := []string{
		"CONFIG GET maxmemory-policy", "CONFIG GET maxmemory-samples", "SET k v", "OBJECT FREQ k", "OBJECT IDLETIME k", "OBJECT FREQ none",
		"CONFIG SET maxmemory-policy none", "CONFIG SET maxmemory-policy lru", "CONFIG SET maxmemory-samples many", "CONFIG SET maxmemory-samples 64", "CONFIG GET maxmemory-samples", "CONFIG SET maxmemory-samples 5",
		"CONFIG SET maxmemory-policy allkeys-lru maxmemory-policy noeviction", "CONFIG GET maxmemory-policy",
		"CONFIG SET maxmemory-samples 7 maxmemory-policy bogus", "CONFIG GET maxmemory-samples", "CONFIG SET maxmemory-policy ALLKEYS-LFU",
		"CONFIG GET maxmemory-policy", "SET new v", "OBJECT FREQ new", "OBJECT IDLETIME new", "OBJECT FREQ none", "OBJECT IDLETIME none",
	}
	for p := keyspace.NoEviction; p <= keyspace.VolatileTTL; p++ {
		lines = append(lines, "CONFIG SET maxmemory-policy "+p.String(), "CONFIG GET maxmemory-policy", "DEL k", "SET k v", "OBJECT FREQ k", "OBJECT IDLETIME k",
			"OBJECT FREQ", "OBJECT FREQ k k")
	}
	lines = append(lines, "CONFIG SET maxmemory-policy noeviction")
	for _, line := range lines {
		if we, they := scripttest.Print(ours.do(line)), scripttest.Print(real.do(bytes.Fields([]byte(line))...)); we != they {
			t.Errorf("%s:\nwe answer     %s\nredis-server %s", line, we, they)
		}
	}
}

// TestEvictionParametersTravel takes a policy and a size of samples through a snapshot.
func TestEvictionParametersTravel(t *testing.T) {
	r := newAccessed(t)
	if v := r.do("CONFIG SET maxmemory-policy volatile-ttl maxmemory-samples 9"); v.Text() != "OK" {
		t.Fatal(v.Text())
	}
	r.restore()
	for line, want := range map[string]string{"CONFIG GET maxmemory-policy": "volatile-ttl", "CONFIG GET maxmemory-samples": "9", "INFO memory": "maxmemory_policy:volatile-ttl\r\n"} {
		if got := scripttest.Print(r.do(line)); !strings.Contains(got, strings.TrimSpace(want)) {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}
