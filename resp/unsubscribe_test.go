package resp_test

import (
	"fmt"
	"strings"
	"testing"

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
