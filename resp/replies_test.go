package resp_test

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/trireme-dev/trireme/resp/resptest"
)

// effectSlack is by how many commands an effect may be seen before its reply, and
// effectAdvance by how many the pipeline may go on until that reply comes.
const (
	pipelined     = 300
	effectSlack   = 10
	effectAdvance = 60
)

// TestPipelinedEffects pipelines scripts that increment a counter and publish it, and watches
// the messages over another connection: what a script does is not seen long before its
// reply. A server that holds replies back until its input is empty shows the effects of the
// whole pipeline first.
func TestPipelinedEffects(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	writer, subscriber := resptest.Login(t, nodes.Addrs[0]), resptest.Login(t, nodes.Addrs[0])
	subscriber.Do("SUBSCRIBE", "seen")
	var published, replies atomic.Int64
	messages, answers := make(chan int64, pipelined), make(chan struct{}, pipelined)
	go func() {
		for range pipelined {
			if v := subscriber.Next(); len(v.Elems()) == 3 {
				n, _ := strconv.ParseInt(v.Elems()[2].Text(), 10, 64) // the script's own number
				published.Store(n)
				messages <- n
			}
		}
	}()
	const script = "for i = 1, 20000 do end local n = redis.call('INCR', KEYS[1]) redis.call('PUBLISH', 'seen', n) return n"
	go writer.Send(strings.Repeat(resptest.Encode("EVAL", script, "1", "n"), pipelined))
	go func() {
		for i := range int64(pipelined) {
			if v := writer.Next(); v.Int() != i+1 {
				t.Errorf("reply %d is %d", i+1, v.Int())
			}
			replies.Store(i + 1)
			answers <- struct{}{}
		}
	}()
	for range pipelined {
		seen := <-messages
		for replies.Load() < seen-effectSlack {
			<-answers
		}
		if now := published.Load(); now-seen > effectAdvance && seen > effectSlack {
			t.Fatalf("message %d was seen, and %d more before reply %d", seen, now-seen, seen-effectSlack)
		}
	}
	for replies.Load() < pipelined {
		<-answers
	}
}

// TestReplyMemory pipelines reads of a large value, singly and in one command, and reads
// nothing of it at first: the server holds about what its limit allows, and not all replies.
func TestReplyMemory(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	admin := resptest.Login(t, nodes.Addrs[0])
	const size, times = 8 << 20, 60 // within the budget of one request's work
	admin.Want("OK", "SET", "large", strings.Repeat("x", size))
	for name, words := range map[string][]string{
		"pipeline": {"GET", "large"},
		"command":  append([]string{"MGET"}, strings.Split(strings.Repeat("large ", times-1)+"large", " ")...),
	} {
		t.Run(name, func(t *testing.T) {
			c := resptest.Login(t, nodes.Addrs[0])
			for range warmUpRounds {
				c.Want("(nil)", "GET", "none") // the event loop has to cope too
			}
			runtime.GC()
			before := heap()
			if name == "pipeline" {
				c.Send(strings.Repeat(resptest.Encode(words...), times))
			} else {
				c.Send(resptest.Encode(words...))
			}
			queued := ""
			until(t, "nothing is queued for the client", func() bool {
				_, after, _ := strings.Cut(admin.Do("CLIENT", "LIST").Text(), "addr="+c.Addr())
				_, after, _ = strings.Cut(after, " omem=")
				queued, _, _ = strings.Cut(after, " ")
				n, _ := strconv.Atoi(queued)
				return n >= 30<<20
			})
			if grown := int64(heap()) - int64(before); grown > 300<<20 {
				t.Errorf("%d MiB for %s bytes in the queue", grown>>20, queued)
			}
			got := 0
			for got < size*times {
				v := c.Next()
				got += len(v.Text())
				for _, e := range v.Elems() {
					got += len(e.Text())
				}
			}
			if got != size*times {
				t.Errorf("%d bytes came", got)
			}
			c.Want("PONG", "PING")
		})
	}
}

const warmUpRounds = 6

// heap is the memory in use, garbage included.
func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestLargeViews pipelines reads of long lists: they are run on several views, and every one
// is answered whole; a transaction of them is refused beyond its limit.
func TestLargeViews(t *testing.T) {
	nodes := resptest.Serve(t, 1, nil)
	c := resptest.Login(t, nodes.Addrs[0])
	const length = 20_000
	push := []string{"RPUSH", "list"}
	for i := range length {
		push = append(push, fmt.Sprint(i))
	}
	c.Do(push...)
	c.Send(strings.Repeat(resptest.Encode("LRANGE", "list", "0", "-1")+resptest.Encode("PING"), 60))
	for range 60 {
		if v := c.Next(); len(v.Elems()) != length {
			t.Fatalf("%d elements", len(v.Elems()))
		}
		c.WantNext("PONG")
	}
}
