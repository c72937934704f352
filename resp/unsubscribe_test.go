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

// TestUnsubscribedIsNotCounted publishes, over another connection, as soon as the reply of an
// unsubscription was read: whoever has unsubscribed is not counted, whether by name or of
// everything, and in whatever way the subscriptions came about.
func TestUnsubscribedIsNotCounted(t *testing.T) {
	nodes := resptest.Serve(t, 3, nil)
	try := func(t *testing.T, sub, pub *resptest.Client) {
		for i := range 15 {
			for _, c := range []struct {
				subscribe, unsubscribe []string
				names                  int
			}{
				{[]string{"SUBSCRIBE", "a", "b", "c"}, []string{"UNSUBSCRIBE"}, 3},
				{[]string{"PSUBSCRIBE", "a*", "b*", "*"}, []string{"PUNSUBSCRIBE"}, 3},
				{[]string{"SUBSCRIBE", "a"}, []string{"UNSUBSCRIBE", "a"}, 1},
				{[]string{"SUBSCRIBE", "a", "a"}, []string{"UNSUBSCRIBE"}, 2},
				{[]string{"PSUBSCRIBE", "*"}, []string{"PUNSUBSCRIBE"}, 1},
				{[]string{"SUBSCRIBE", "a"}, []string{"UNSUBSCRIBE"}, 1},
			} {
				sub.Start(c.subscribe...)
				for range c.names {
					sub.Next()
				}
				if i%2 == 0 {
					if n := pub.Do("PUBLISH", "a", "m").Int(); n == 0 {
						t.Errorf("%s: nobody received the message", c.subscribe)
					} else {
						for range n {
							sub.Next()
						}
					}
				}
				sub.Start(c.unsubscribe...)
				for left := int64(-1); left != 0; {
					v := sub.Next()
					left = v.Elems()[2].Int()
				}
				pub.Want("(integer) 0", "PUBLISH", "a", fmt.Sprint(i))
			}
		}
	}
	for i, addr := range nodes.Addrs {
		t.Run(fmt.Sprint("node ", i), func(t *testing.T) {
			try(t, resptest.Login(t, addr), resptest.Login(t, addr))
		})
	}
	t.Run("redis-server", func(t *testing.T) {
		addr := resptest.RedisServer(t)
		try(t, resptest.Dial(t, addr), resptest.Dial(t, addr))
	})
}

// TestUnansweredUnsubscription publishes while an unsubscription on the same node is not
// answered yet: it is not counted as soon as the node has dealt with it.
func TestUnansweredUnsubscription(t *testing.T) {
	nodes := resptest.Serve(t, 3, nil)
	for i, addr := range nodes.Addrs {
		t.Run(fmt.Sprint("node ", i), func(t *testing.T) {
			sub, pub, other := resptest.Login(t, addr), resptest.Login(t, addr), resptest.Login(t, addr)
			stop, stopped := make(chan struct{}), make(chan struct{})
			go func() { // keeps announcements under way, which others have to wait for
				defer close(stopped)
				for {
					select {
					case <-stop:
						return
					default:
						other.Do("SUBSCRIBE", "other")
						other.Do("UNSUBSCRIBE")
					}
				}
			}()
			defer func() { close(stop); <-stopped }()
			list := func() string {
				_, line, _ := strings.Cut(pub.Do("CLIENT", "LIST").Text(), "addr="+sub.Addr())
				line, _, _ = strings.Cut(line, "\n")
				return line
			}
			for i, c := range [][2]string{{"SUBSCRIBE", "UNSUBSCRIBE"}, {"PSUBSCRIBE", "PUNSUBSCRIBE"}} {
				for range 8 {
					sub.Do(c[0], "a")
					sub.Start(c[1])
					until(t, "it stays subscribed", func() bool { return strings.Contains(list(), []string{" sub=0 ", " psub=0 "}[i]) })
					pub.Want("(integer) 0", "PUBLISH", "a", "m")
					sub.Next()
					sub.Do(c[0], "a")
					sub.Start(c[1])
					until(t, "it stays subscribed", func() bool { return strings.Contains(list(), []string{" sub=0 ", " psub=0 "}[i]) })
					pub.Want("OK", "MULTI")
					pub.Want("QUEUED", "PUBLISH", "a", "m")
					pub.Want("1) (integer) 0", "EXEC")
					sub.Next()
				}
			}
		})
	}
}

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
