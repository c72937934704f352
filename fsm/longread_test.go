package fsm_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// applied is a machine that entries are applied to by hand.
type applied struct {
	*fsm.Machine
	index uint64
}

func (a *applied) write(t testing.TB, rows ...[][]byte) {
	t.Helper()
	a.index++
	body := fsm.Exec.Body(fsm.Batch{As: acl.Trusted(acl.DefaultName), Mode: fsm.Pipeline, Rows: rows})
	e := fsm.Entry{Stamp: int64(a.index), Term: 1, Requests: []fsm.Request{{Code: fsm.Exec.Code, Body: body}}}
	if _, err := a.Apply(a.index, 1, e.Encode()); err != nil {
		t.Fatal(err)
	}
}

func (a *applied) fill(t testing.TB, keys int) {
	for from := 0; from < keys; from += 10_000 {
		var rows [][][]byte
		for i := from; i < min(keys, from+10_000); i++ {
			rows = append(rows, set(fmt.Sprint("key", i), "value"))
		}
		a.write(t, rows...)
	}
}

func set(key, value string) [][]byte { return [][]byte{[]byte("SET"), []byte(key), []byte(value)} }

func get(v *fsm.View, words ...string) string {
	var argv [][]byte
	for _, w := range words {
		argv = append(argv, []byte(w))
	}
	return v.Exec(acl.Trusted(acl.DefaultName), command.OriginInternal, argv).Text()
}

// TestLongReadsSeeOneStateWhileWritesGoOn writes in the middle of a long read.
func TestLongReadsSeeOneStateWhileWritesGoOn(t *testing.T) {
	m := &applied{Machine: fsm.NewMachine()}
	m.write(t, set("k", "before"))
	m.ViewFork(env.At(0), [16]byte{}, func(v *fsm.View) {
		m.write(t, set("k", "after")) // would wait for ever for the end of a View
		if got := get(v, "GET", "k"); got != "before" || v.Index() != 1 {
			t.Errorf("the fork at %d says %q", v.Index(), got)
		}
	})
	m.View(0, [16]byte{}, func(v *fsm.View) {
		if got := get(v, "GET", "k"); got != "after" {
			t.Errorf("the state says %q", got)
		}
	})
}

// words cuts a command line at blanks.
func words(line string) (argv [][]byte) {
	for _, w := range strings.Fields(line) {
		argv = append(argv, []byte(w))
	}
	return argv
}

// TestReadsThatTurnOutLong runs commands on large and on small values, and of large ones
// small parts: those that look at a lot are run on a fork, where writes don't wait for
// them, and answer there; the others on the state itself.
func TestReadsThatTurnOutLong(t *testing.T) {
	m := &applied{Machine: fsm.NewMachine()}
	for i := range 50 {
		var list, set, hash, zset, geo, stream [][][]byte
		for j := range 200 {
			n := fmt.Sprint(i*200 + j)
			list = append(list, words("RPUSH l "+n))
			set = append(set, words("SADD s m"+n))
			hash = append(hash, words("HSET h f"+n+" v"))
			zset = append(zset, words("ZADD z "+n+" m"+n))
			geo = append(geo, words("GEOADD g 13."+n+" 38."+n+" m"+n))
			stream = append(stream, words("XADD x "+n+"-1 a b"))
		}
		m.write(t, slices.Concat(list, set, hash, zset, geo, stream)...)
	}
	m.write(t, words("SET bits "+strings.Repeat("x", 2_000_000)), words("SET a "+strings.Repeat("ab", 600)), words("SET b "+strings.Repeat("ba", 600)),
		words(`JSON.SET j $ ["`+strings.Repeat("x", 200_000)+`"]`), words("XGROUP CREATE x grp 0"), words("XREADGROUP GROUP grp c STREAMS x >"),
		words("SETRANGE pages 1999999 x"))
	long := func(line string) (forked bool, answer reply.Value) {
		calls := 0
		m.View(0, [16]byte{}, func(v *fsm.View) {
			if calls++; calls == 2 {
				m.write(t, words("SET meanwhile "+line[:1])) // would wait for ever for a View
			}
			answer = v.Exec(acl.Trusted(acl.DefaultName), command.OriginInternal, words(line))
			if v.Exec(acl.Trusted(acl.DefaultName), command.OriginInternal, words("EXISTS l")).Int() != 1 && calls == 2 {
				t.Errorf("%s: what follows on the fork is not answered", line)
			}
		})
		return calls == 2, answer
	}
	for _, line := range []string{
		"LRANGE l 0 -1", "SMEMBERS s", "HGETALL h", "HKEYS h", "ZRANGE z 0 -1", "ZRANGEBYSCORE z -inf +inf", "ZUNION 2 z z", "SINTER s s", "SORT_RO l",
		"GEOSEARCH g FROMLONLAT 13.5 38.5 BYRADIUS 200 km", "XRANGE x - +", "XREAD STREAMS x 0", "XPENDING x grp - + 100000", "XINFO STREAM x FULL COUNT 0",
		"BITCOUNT bits", "DUMP l", "LCS a b", "JSON.GET j", "SRANDMEMBER s -100000", "HSCAN h 0 COUNT 100000", "LPOS l none MAXLEN 0", "EVAL_RO return{1} 0",
		"GET pages", "MGET missing pages", "GETRANGE pages 1 -1", // whose pages are copied
	} {
		if forked, answer := long(line); !forked || answer.IsError() || answer.IsNil() && !strings.HasPrefix(line, "LPOS") {
			t.Errorf("%s: on a fork: %v, answers %v", line, forked, answer.Kind())
		}
	}
	for _, line := range []string{
		"LRANGE l 0 9", "LINDEX l 5000", "SISMEMBER s m1", "HGET h f1", "HLEN h", "ZRANGE z 0 9", "ZRANGEBYSCORE z -inf +inf LIMIT 5000 10", "ZCOUNT z -inf +inf",
		"GEOSEARCH g FROMLONLAT 13.5 38.5 BYRADIUS 10 m", "XRANGE x - + COUNT 5", "XLEN x", "XPENDING x grp", "STRLEN bits", "GET bits", "SRANDMEMBER s 5",
		"HSCAN h 0", "SCAN 0", "LPOS l 7", "DBSIZE", "GETRANGE pages 1000000 1000009", "MGET bits bits",
	} {
		if forked, answer := long(line); forked || answer.IsError() {
			t.Errorf("%s: on a fork: %v, answers %v", line, forked, answer.Kind())
		}
	}
}

// TestBytesOfRepliesCount: a view that keeps writes waiting is over its cost when its caller has looked at many bytes, and a
// fork, for which none waits, never is.
func TestBytesOfRepliesCount(t *testing.T) {
	m := &applied{Machine: fsm.NewMachine()}
	for bytes, want := range map[int64][]bool{100 << 10: {true}, 10 << 20: {true, false}} { // unordered: each by itself
		var bounded []bool
		m.View(0, [16]byte{}, func(v *fsm.View) {
			bounded = append(bounded, v.Bounded())
			if over := v.LookAt(bytes); over != (v.Bounded() && bytes > 1<<20) {
				t.Errorf("%d bytes on a bounded view, %v: over its cost, %v", bytes, v.Bounded(), over)
			}
		})
		if !slices.Equal(bounded, want) {
			t.Errorf("%d bytes: the views were bounded, %v, want %v", bytes, bounded, want)
		}
	}
}

// BenchmarkWritesBesideKeys times single writes while KEYS runs over and over on a
// million keys, on the state itself and on forks.
func BenchmarkWritesBesideKeys(b *testing.B) {
	m := &applied{Machine: fsm.NewMachine()}
	m.fill(b, 1_000_000)
	for _, how := range []struct {
		name string
		show func(env.Time, [16]byte, func(*fsm.View))
	}{{"view", func(now env.Time, seed [16]byte, fn func(*fsm.View)) { m.View(now.Now, seed, fn) }}, {"fork", m.ViewFork}} {
		b.Run(how.name, func(b *testing.B) {
			stop := make(chan struct{})
			var wg sync.WaitGroup
			wg.Go(func() { // ends with the benchmark
				for {
					select {
					case <-stop:
						return
					default:
						how.show(env.Time{}, [16]byte{}, func(v *fsm.View) { get(v, "KEYS", "none*") })
					}
				}
			})
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				m.write(b, set(fmt.Sprint("key", len(took)*7919%1_000_000), "new"))
				took = append(took, time.Since(began))
				time.Sleep(100 * time.Microsecond)
			}
			close(stop)
			wg.Wait()
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
			b.ReportMetric(float64(took[len(took)-1].Microseconds()), "max-µs")
		})
	}
}
