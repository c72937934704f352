package command

import (
	"testing"

	"github.com/trireme-dev/trireme/fsm/script"
)

// TestReadingTheEndOfAStreamIsCheap: who waits for new entries, or reads a few, pays for these, however long the stream is, and a
// stream of any length can be read so.
func TestReadingTheEndOfAStreamIsCheap(t *testing.T) {
	s := &scaling{t: t, table: NewTable(), engine: script.NewEngine()}
	for _, c := range []struct {
		call string
		more int64 // steps for a stream that is ten times as long, at most
	}{
		{"XREAD STREAMS v $", 0},
		{"XREAD STREAMS v +", 4},
		{"XREAD COUNT 2 STREAMS v 0", 8},
		{"XREADGROUP GROUP g c STREAMS v >", 0},
		{"XREADGROUP GROUP g other STREAMS v 0", 0},
		{"XREADGROUP GROUP g c COUNT 2 STREAMS v 0", 24},
	} {
		charged := func(n int) float64 {
			tx, argv := s.prepared([]string{"%n*XADD v #-1 f value", "XGROUP CREATE v g 0", "XREADGROUP GROUP g c STREAMS v >", c.call}, n)
			v, steps := tx.chargeOf(argv)
			if v.IsError() {
				t.Fatalf("%s: %s", c.call, v.Text())
			}
			return steps
		}
		if few, many := charged(200), charged(2000); many > few+float64(c.more) {
			t.Errorf("%s is charged %.0f steps in a stream of 200 entries, and %.0f in one of 2,000", c.call, few, many)
		}
	}
}
