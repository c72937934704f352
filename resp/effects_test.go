package resp_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/resp"
	"github.com/trireme-dev/trireme/resp/resptest"
)

// effects are calls that count in the key n and answer the new count, in some form.
var effects = []string{
	"INCR n",
	"EVAL return_redis.call('INCR',KEYS[1]) 1 n",
	"EVAL for_i=1,2000_do_end_return_redis.call('INCR','n') 0",
	"EVALSHA $ 1 n",
	"FCALL count 1 n",
	"MULTI;GET n;INCR n;EXEC",
	"MULTI;EVALSHA $ 1 n;EXEC",
	"SET other v;INCR n",
}

// plainCalls are calls between them, which have no effect that counts.
var plainCalls = []string{"GET n", "PING", "EVAL_RO return_redis.call('GET','n') 0", "SET other v", "EVAL return_redis.call('NOSUCH') 0", "NOSUCH", "GET", "EVAL return_{1,2} 0"}

// pipelineOf is random calls of both kinds, as they are sent, and how many of them count.
func pipelineOf(r *rand.Rand, calls int, digest string) (text string, count int64) {
	var b strings.Builder
	for range calls {
		from := effects
		if r.IntN(3) == 0 {
			from = plainCalls
		} else {
			count++
		}
		for _, line := range strings.Split(from[r.IntN(len(from))], ";") {
			b.WriteString(resptest.Encode(inWords(strings.Replace(line, "$", digest, 1))...))
		}
	}
	return b.String(), count
}

// lastCount is the greatest number that a reply holds: the counts are the only ones above two.
func lastCount(v reply.Value) (n int64) {
	for _, e := range v.Elems() {
		n = max(n, lastCount(e))
	}
	if v.Kind() == reply.KindInt {
		n = max(n, v.Int())
	}
	return n
}

// TestEffectsAreAnswered sends random pipelines of scripts, transactions and single commands. The
// log goes on only when the client has read the reply of what the log has applied: a
// server that keeps replies back until its input is empty would wait for ever.
func TestEffectsAreAnswered(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			e := resptest.NewEngine(t, 1_700_000_000_000)
			var read atomic.Int64
			var held atomic.Bool
			e.Before = func() {
				applied := counted(e)
				for end := time.Now().Add(time.Minute); read.Load() < applied; time.Sleep(time.Millisecond) {
					if time.Now().After(end) {
						held.Store(true)
						return
					}
				}
			}
			c := resptest.Login(t, e.Serve(t, resp.Options{}))
			digest := c.Do("SCRIPT", "LOAD", "return redis.call('INCR',KEYS[1])").Text()
			c.Want(`"lib"`, "FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('count',function(keys) return redis.call('INCR',keys[1]) end)")
			text, count := pipelineOf(rand.New(rand.NewPCG(seed, 16)), 150, digest)
			go c.Send(text)
			for read.Load() < count && !held.Load() {
				read.Store(max(read.Load(), lastCount(c.Next())))
			}
			if held.Load() {
				t.Errorf("the log has counted to %d, but the replies only to %d", counted(e), read.Load())
			}
		})
	}
}

// counted is the count as anybody sees it.
func counted(e *resptest.SingleNode) (n int64) {
	e.Local(func(v *fsm.View) {
		n, _ = command.ParseInt([]byte(v.Exec(acl.Trusted(acl.DefaultName), command.RESP, inByteWords("GET n")).Text()))
	})
	return n
}

func inByteWords(line string) (words [][]byte) {
	for _, w := range inWords(line) {
		words = append(words, []byte(w))
	}
	return words
}
