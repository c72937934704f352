package scenario

import (
	"testing"

	"github.com/trireme-dev/trireme/bench/internal/report"
)

func TestRestartRow(t *testing.T) {
	b := bench(t, "")
	b.Pairs = 1
	r := b.Restart(t.Context())
	if !installed("redis-server") {
		if r.Verdict != report.NoPeer {
			t.Errorf("without redis: %s %s", r.Verdict, r.Reason)
		}
		return
	}
	if len(r.Pairs) != 1 || r.Pairs[0].Ours <= 0 || r.Pairs[0].Peer <= 0 {
		t.Errorf("%+v %s", r.Pairs, r.Reason)
	}
}
