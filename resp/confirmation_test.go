package resp_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/resp/resptest"
)

// TestConfirmations sends subscriptions and their ends, with names that are repeated, that are
// subscribed to already, and that never were: they are confirmed in the order of the words and
// with the counts of redis-server, in both protocols.
func TestConfirmations(t *testing.T) {
	ours, theirs := resptest.Serve(t, 1, nil).Addrs[0], resptest.RedisServer(t)
	for _, protocol := range []string{"2", "3"} {
		t.Run("RESP"+protocol, func(t *testing.T) {
			us, they := resptest.Login(t, ours), resptest.Dial(t, theirs)
			us.Do("HELLO", protocol)
			they.Do("HELLO", protocol)
			random := rand.New(rand.NewPCG(1, 2))
			subscribed := map[string][]string{} // names by the first letter of the command
			for i := range 120 {
				kind := []string{"", "P", "S"}[random.IntN(3)]
				leave := random.IntN(3) == 0
				words := []string{kind + "SUBSCRIBE"}
				if leave {
					words[0] = kind + "UNSUBSCRIBE"
				}
				for range random.IntN(5) {
					words = append(words, []string{"a", "b", "c", "d?"}[random.IntN(4)])
				}
				if i == 0 {
					words = []string{"SUBSCRIBE", "a", "b", "a"}
				}
				if len(words) == 1 && !leave {
					continue
				}
				replies := len(words) - 1
				if replies == 0 {
					replies = max(1, len(subscribed[kind]))
				}
				for _, name := range words[1:] {
					at := slices.Index(subscribed[kind], name)
					switch {
					case leave && at >= 0:
						subscribed[kind] = slices.Delete(subscribed[kind], at, at+1)
					case !leave && at < 0:
						subscribed[kind] = append(subscribed[kind], name)
					}
				}
				if len(words) == 1 {
					subscribed[kind] = nil
				}
				x, y := confirmations(us, words, replies), confirmations(they, words, replies)
				if x != y {
					t.Fatalf("%s:\n%s\nredis-server:\n%s", strings.Join(words, " "), x, y)
				}
			}
		})
	}
}

// confirmations are the answers to a command. Without names Redis takes them in any order.
func confirmations(c *resptest.Client, words []string, n int) string {
	c.Start(words...)
	var names, counts, all []string
	for range n {
		v := c.Next()
		all = append(all, scripttest.Print(v))
		if parts := v.Elems(); len(parts) == 3 {
			names, counts = append(names, scripttest.Print(parts[1])), append(counts, scripttest.Print(parts[2]))
		}
	}
	if len(words) == 1 {
		slices.Sort(names)
		return fmt.Sprint(names, counts)
	}
	return strings.Join(all, "\n")
}
