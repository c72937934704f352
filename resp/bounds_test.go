package resp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/resp"
	"github.com/trireme-dev/trireme/resp/resptest"
)

// TestWatchedKeysAreBounded watches keys until there are as many bytes of them as a request may have.
func TestWatchedKeysAreBounded(t *testing.T) {
	nodes := resptest.Serve(t, 1, func(o *resp.Options) { o.Limits.RequestBytes = 10_000 })
	c := resptest.Login(t, nodes.Addrs[0])
	key := strings.Repeat("k", 1000)
	for i := range 9 {
		c.Want("OK", "WATCH", fmt.Sprint(i, key))
	}
	c.Want("(error) ERR watched keys are longer than 10000 bytes. Setting: max-request-size", "WATCH", key)
	c.Want("OK", "UNWATCH")
	c.Want("OK", "WATCH", key)
	c.Want("OK", "MULTI")
	c.Want("QUEUED", "PING")
	c.Want("1) PONG", "EXEC")
}

// TestPrefixesAreBounded asks for more prefixes than a client may have.
func TestPrefixesAreBounded(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	c := resptest.Login(t, nodes.Addrs[0])
	c.Do("HELLO", "3")
	track := func(from, to int) []string {
		words := []string{"CLIENT", "TRACKING", "ON", "BCAST"}
		for i := from; i < to; i++ {
			words = append(words, "PREFIX", fmt.Sprintf("%05d", i))
		}
		return words
	}
	const refused = "(error) ERR too many prefixes: a client has at most 1000"
	c.Want(refused, track(0, 1001)...)
	c.Want("OK", track(0, 900)...)
	c.Want(refused, track(900, 1001)...)
	c.Want("OK", track(900, 1000)...)
}

// TestTrackedKeysAreBounded tracks a few keys with long names where there may be many with short ones: the older ones are
// invalidated.
func TestTrackedKeysAreBounded(t *testing.T) {
	nodes := resptest.Serve(t, 1, func(o *resp.Options) { o.Limits.TrackedKeys = 100 }) // 25,600 bytes
	c := resptest.Login(t, nodes.Addrs[0])
	c.Do("HELLO", "3")
	c.Want("OK", "CLIENT", "TRACKING", "ON")
	// read reads keys, and waits until the client was told of so many that are forgotten.
	read := func(keys int, name func(int) string, atLeast int) (forgotten int) {
		for i := range keys {
			c.Start("GET", name(i))
		}
		for answers := 0; answers < keys || forgotten < atLeast; {
			switch v := c.Next(); v.Kind() {
			case reply.KindPush:
				forgotten += len(v.Elems()[1].Elems())
			default:
				answers++
			}
		}
		return forgotten
	}
	if n := read(80, func(i int) string { return fmt.Sprint("short", i) }, 0); n != 0 {
		t.Errorf("%d of 80 keys with short names are forgotten", n)
	}
	// 13 of the long names have more bytes than there may be.
	read(50, func(i int) string { return fmt.Sprint(i, strings.Repeat("long", 500)) }, 50-13)
}

// TestSubscriptionsAreBounded has a database subscribe to as much as it may. What it has goes on, another database is not
// concerned, and there is room again when the subscriber has gone.
func TestSubscriptionsAreBounded(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	admin := resptest.Login(t, nodes.Addrs[0])
	admin.Want("OK", "SET", "k", "v")
	hog := resptest.Login(t, nodes.Addrs[0])
	name := strings.Repeat("c", 500_000) // takes twice that of the 4 MiB that these nodes have
	subscribed := 0
	for ; subscribed < 20; subscribed++ {
		if v := hog.Do("SUBSCRIBE", fmt.Sprint(subscribed, name)); v.IsError() {
			if !strings.HasPrefix(v.Text(), "ERR too many subscriptions of the database on this node") {
				t.Errorf("refused: %s", v.Text())
			}
			break
		}
	}
	if subscribed < 3 || subscribed > 4 {
		t.Fatalf("%d subscriptions of 1 MB", subscribed)
	}
	admin.Want("(integer) 1", "PUBLISH", fmt.Sprint(0, name), "m")
	hog.Next()
	if v := hog.Do("SUBSCRIBE", "short"); v.IsError() {
		t.Errorf("a short one: %s", v.Text())
	}
	for range subscribed {
		hog.Start("UNSUBSCRIBE", fmt.Sprint(subscribed-1, name))
		hog.Next()
		subscribed--
	}
	if v := hog.Do("SUBSCRIBE", "again"+name); v.IsError() {
		t.Errorf("after others have ended: %.100s", v.Text())
	}
}
