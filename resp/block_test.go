package resp_test

import (
	"flag"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/resp/resptest"
)

var (
	waiting = flag.Int("waiting", 30, "how many clients wait in TestTakenOnce")
	pushed  = flag.Int("pushed", 1500, "how many elements TestTakenOnce pushes")
)

// TestTakenOnce has clients of three nodes wait for the elements of one list while others
// push them: each element is taken by exactly one client.
func TestTakenOnce(t *testing.T) {
	nodes := resptest.Serve(t, 3, nil)
	taken := make(chan string, *pushed)
	var takers sync.WaitGroup
	for i := range *waiting {
		c := resptest.Login(t, nodes.Addrs[i%3])
		takers.Go(func() {
			for {
				v := c.Do("BLPOP", "other", "l", "0")
				if len(v.Elems()) != 2 {
					t.Errorf("got %s", scripttest.Print(v))
					return
				}
				element := v.Elems()[1].Text()
				if element == "end" {
					return
				}
				taken <- element
			}
		})
	}
	var pushers sync.WaitGroup
	for p := range 3 {
		c := resptest.Login(t, nodes.Addrs[p])
		pushers.Go(func() {
			for i := p; i < *pushed; i += 3 {
				if v := c.Do("RPUSH", "l", fmt.Sprint(i)); v.IsError() {
					t.Errorf("push: %s", v.Text())
				}
			}
		})
	}
	pushers.Wait()
	seen := map[string]bool{}
	for range *pushed {
		select {
		case element := <-taken:
			if seen[element] {
				t.Fatalf("%s was taken twice", element)
			}
			seen[element] = true
		case <-time.After(time.Minute):
			t.Fatalf("%d of %d elements were taken", len(seen), *pushed)
		}
	}
	end := resptest.Login(t, nodes.Addrs[0])
	for range *waiting {
		end.Do("RPUSH", "l", "end")
	}
	takers.Wait()
	if v := end.Do("EXISTS", "l"); v.Int() != 0 {
		t.Errorf("something is left: %s", scripttest.Print(end.Do("LRANGE", "l", "0", "-1")))
	}
}

// TestFirstComeFirstServed has clients of one node wait in a known order: they are served
// in it, one element each, also when several come at once.
func TestFirstComeFirstServed(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	push := resptest.Login(t, nodes.Addrs[0])
	const n = 12
	clients := make([]*resptest.Client, n)
	for i := range clients {
		clients[i] = resptest.Login(t, nodes.Addrs[0])
		clients[i].Start("BLPOP", "l", "0")
		push.AwaitBlocked(fmt.Sprint(i + 1))
	}
	push.Want("(integer) 1", "RPUSH", "l", "0")
	push.Do("RPUSH", "l", "1", "2", "3", "4", "5") // how many there are now depends on whether 0 is taken yet
	push.Send(resptest.Encode("RPUSH", "l", "6", "7") + resptest.Encode("RPUSH", "l", "8") + resptest.Encode("RPUSH", "l", "9", "10", "11"))
	for i, c := range clients {
		c.WantNext(fmt.Sprintf("1) \"l\"\n2) \"%d\"", i))
	}
}

// TestWaitEnds ends waits by a timeout, by CLIENT UNBLOCK, by the client's leaving and by
// the server's end: nothing is taken for those who are gone.
func TestWaitEnds(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	admin := resptest.Login(t, nodes.Addrs[0])
	c := resptest.Login(t, nodes.Addrs[0])
	id := fmt.Sprint(c.Do("CLIENT", "ID").Int())
	admin.Want("(integer) 0", "CLIENT", "UNBLOCK", id)
	c.Start("BLPOP", "l", "0")
	admin.AwaitBlocked("1")
	admin.Want("(integer) 1", "CLIENT", "UNBLOCK", id)
	c.WantNext("(nil array)")
	c.Start("BLPOP", "l", "0")
	admin.AwaitBlocked("1")
	admin.Want("(integer) 1", "CLIENT", "UNBLOCK", id, "ERROR")
	c.WantNext("(error) UNBLOCKED client unblocked via CLIENT UNBLOCK")
	admin.Want("(integer) 0", "CLIENT", "UNBLOCK", id)
	c.Want("(nil array)", "BLPOP", "l", "0.02")
	c.Want("PONG", "PING")

	c.Start("BLPOP", "l", "0")
	admin.AwaitBlocked("1")
	c.Close()
	admin.AwaitBlocked("0")
	admin.Want("(integer) 1", "RPUSH", "l", "kept")
	admin.Want(`"kept"`, "LPOP", "l")

	k := resptest.Login(t, nodes.Addrs[0])
	id = fmt.Sprint(k.Do("CLIENT", "ID").Int())
	k.Start("BLPOP", "l", "0")
	admin.AwaitBlocked("1")
	admin.Want("(integer) 1", "CLIENT", "KILL", "ID", id)
	if !k.Gone() {
		t.Error("a killed connection is open")
	}
	admin.AwaitBlocked("0")

	w := resptest.Login(t, nodes.Addrs[0])
	w.Start("BLPOP", "l", "0")
	admin.AwaitBlocked("1")
	if err := nodes.Servers[0].Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if !w.Gone() || !admin.Gone() {
		t.Error("connections outlive their server")
	}
}
