package peer

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/bench/internal/proc"
)

// TestHitRate has a real redis-server as a cache: it hits often, but not always, the same load has the same keys, and a
// server that evicts nothing is no cache.
func TestHitRate(t *testing.T) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("redis-server is not installed")
	}
	ports, err := proc.NewPorts()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	env := &Env{Data: dir + "/data", Logs: dir + "/logs", Ports: ports}
	load := CacheLoad{Keys: 20_000, Reads: 20_000, Value: 1000, Skew: 1.1, Seed: 1}
	for policy, want := range map[string]string{"allkeys-lru": "", "noeviction": "OOM"} {
		r, err := env.StartRedis(t.Context(), "redis-"+policy, false)
		if err != nil {
			t.Fatal(err)
		}
		percent, err := r.HitRate(t.Context(), load, 4<<20, policy)
		switch {
		case want != "":
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", policy, err, want)
			}
		case err != nil || percent < 40 || percent > 99:
			t.Errorf("%s: %.1f %%, %v", policy, percent, err)
		}
		if err := r.Stop(); err != nil {
			t.Error(err)
		}
	}
}
