package command_test

import (
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/glob"
)

// TestCostlyPatterns gives every command that matches names a pattern that would take
// more than linear time, and one that is as long and takes no longer than others.
func TestCostlyPatterns(t *testing.T) {
	r := newReplica(t)
	r.ask(inWords("HSET h f v")...)
	r.ask(inWords("SADD s m")...)
	r.ask(inWords("ZADD z 1 m")...)
	costly, plain := "*"+strings.Repeat("?", glob.MaxSearched+1)+"*", "*"+strings.Repeat("a", glob.MaxSearched+1)+"*"
	for _, line := range []string{"KEYS x", "SCAN 0 MATCH x", "HSCAN h 0 MATCH x", "SSCAN s 0 MATCH x", "ZSCAN z 0 MATCH x", "PUBSUB CHANNELS x", "PUBSUB SHARDCHANNELS x",
		"PSUBSCRIBE a x", "ACL SETUSER u ~x", "ACL SETUSER u &x"} {
		head, _ := strings.CutSuffix(line, "x")
		for pattern, refused := range map[string]bool{costly: true, plain: false} {
			argv := inWords(head + pattern)
			v := r.ask(argv...)
			if got := strings.Contains(v.Text(), "between two stars"); got != refused {
				t.Errorf("%s: %.100q", line, v.Text())
			}
		}
	}
}
