package command_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// reads are the commands that read the whole value of a type.
var reads = map[string][]string{
	"string": {"GET k"},
	"list":   {"LRANGE k 0 -1"},
	"set":    {"SMEMBERS k"},
	"zset":   {"ZRANGE k 0 -1 WITHSCORES"},
	"hash":   {"HGETALL k"},
	"stream": {"XLEN k", "XRANGE k - +", "XREAD STREAMS k $", "XINFO GROUPS k", "XPENDING k g", "XPENDING k g - + 9999", "XPENDING k g - + 9999 ann", "XPENDING k h"},
}

// inWords splits a line at blanks.
func inWords(line string) (argv [][]byte) {
	for _, w := range strings.Fields(line) {
		argv = append(argv, []byte(w))
	}
	return argv
}

// ask runs one command here.
func (r *replica) ask(argv ...[]byte) reply.Value {
	return r.run(scripttest.Start, &scripttest.Step{Argv: argv, Origin: command.RESP, As: acl.Trusted(acl.DefaultName)})
}

// told are the replies to what reads a value, in an order of their own for what has none.
func told(kind string, do func(argv ...[]byte) reply.Value) string {
	var out strings.Builder
	for _, line := range append(reads[kind], "TYPE k") {
		v := do(inWords(line)...)
		if kind == "set" || kind == "hash" {
			v = scripttest.Sorted(v)
		}
		v = without(v, []string{"lag"}) // which versions reckon in their own ways
		fmt.Fprintln(&out, strings.ReplaceAll(scripttest.Print(v), "(nil array)", "(nil)"))
	}
	return out.String()
}

// TestDumpsTravel makes values in a real redis-server, brings them here by their dumps,
// and back.
func TestDumpsTravel(t *testing.T) {
	real, ours := startRedis(t), newReplica(t)
	real.setClock(scripttest.Start)
	random := rand.New(rand.NewPCG(3, 5))
	for name, v := range dumpedValues(random) {
		t.Run(name, func(t *testing.T) {
			real.do([]byte("DEL"), []byte("k"))
			for _, argv := range v.make {
				if got := real.do(argv...); got.IsError() {
					t.Fatalf("%q: %s", argv[0], got.Text())
				}
			}
			want := told(v.kind, real.do)
			carry(t, real.do, ours.ask)
			if got := told(v.kind, ours.ask); got != want {
				t.Fatalf("here:\n%s\nRedis:\n%s", got, want)
			}
			real.do([]byte("SET"), []byte("k"), []byte("something else"))
			carry(t, ours.ask, real.do)
			if got := told(v.kind, real.do); got != want {
				t.Fatalf("back in Redis:\n%s\nbefore:\n%s", got, want)
			}
		})
	}
}

// carry brings the value of k from one server to another.
func carry(t *testing.T, from, to func(argv ...[]byte) reply.Value) {
	t.Helper()
	payload := from(inWords("DUMP k")...)
	if got := to([]byte("RESTORE"), []byte("k"), []byte("0"), []byte(payload.Text()), []byte("REPLACE")); got.Text() != "OK" {
		t.Fatalf("RESTORE of %x: %s", payload.Text()[:min(100, len(payload.Text()))], got.Text())
	}
}

// dumped is a value with the commands that make it.
type dumped struct {
	kind string
	make [][][]byte
}

// dumpedValues are values in every form that Redis has for them.
func dumpedValues(r *rand.Rand) map[string]dumped {
	noise := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return string(b)
	}
	all := map[string]dumped{}
	for i, text := range []string{"", "0", "-1", "127", "128", "-129", "32768", "2147483647", "2147483648", "9223372036854775807", "007", "1.5", noise(15), noise(50_000),
		strings.Repeat("ab", 40_000), strings.Repeat("x", 21), "aaaaaaaaaaaaaaaaaaaab" + noise(30)} {
		all[fmt.Sprint("string ", i)] = dumped{"string", [][][]byte{{[]byte("SET"), []byte("k"), []byte(text)}}}
	}
	element := func() string {
		return [...]string{"", "a", fmt.Sprint(r.IntN(300) - 150), fmt.Sprint(r.Int64()), noise(r.IntN(80)), strings.Repeat("y", r.IntN(6000)), fmt.Sprint(-r.IntN(100_000))}[r.IntN(7)]
	}
	for kind, verb := range map[string]string{"list": "RPUSH", "set": "SADD", "hash": "HSET", "zset": "ZADD"} {
		for _, n := range []int{1, 3, 60, 127, 600, 1000} {
			for _, form := range []string{"any", "short", "number"} {
				d := dumped{kind: kind}
				for i := range n {
					e := element()
					switch form {
					case "short":
						e = e[:min(len(e), 60)]
					case "number":
						e = fmt.Sprint(r.Int64() >> (r.IntN(4) * 16))
					}
					argv := [][]byte{[]byte(verb), []byte("k")}
					switch kind {
					case "zset":
						score := [...]string{"inf", "-inf", fmt.Sprint(r.NormFloat64()), fmt.Sprint(i), "-0", "1e300", "1.5e-300"}[r.IntN(7)]
						argv = append(argv, []byte(score))
					case "hash":
						argv = append(argv, fmt.Append(nil, "f", i))
					}
					d.make = append(d.make, append(argv, []byte(e)))
				}
				all[fmt.Sprint(kind, " ", form, " ", n)] = d
			}
		}
	}
	for _, n := range []int{0, 1, 5, 100, 101, 400} {
		all[fmt.Sprint("stream ", n)] = dumpedStream(r, n, element)
	}
	few, many := dumped{kind: "string"}, dumped{kind: "string"}
	for i := range 3000 {
		argv := [][]byte{[]byte("PFADD"), []byte("k"), fmt.Append(nil, "element ", i)}
		if many.make = append(many.make, argv); i < 20 {
			few.make = append(few.make, argv)
		}
	}
	all["sketch sparse"], all["sketch dense"] = few, many
	return all
}

// dumpedStream is a stream that had so many entries, with gaps, groups and what is pending.
func dumpedStream(r *rand.Rand, n int, element func() string) dumped {
	d := dumped{kind: "stream"}
	do := func(line string, more ...string) {
		argv := inWords(line)
		for _, w := range more {
			argv = append(argv, []byte(w))
		}
		d.make = append(d.make, argv)
	}
	do("XGROUP CREATE k g 0 MKSTREAM")
	for i := range n {
		id := fmt.Sprintf("%d-%d", 1+i/3, 5*(i%3))
		switch r.IntN(4) {
		case 0:
			do("XADD k "+id+" f", element(), "other", element())
		case 1:
			do("XADD k "+id, element(), "v")
		default:
			do("XADD k "+id+" f", element())
		}
	}
	do("XGROUP CREATE k h $ ENTRIESREAD 3")
	do("XGROUP CREATECONSUMER k h nobody")
	for i := range n / 10 {
		do(fmt.Sprintf("XREADGROUP GROUP g %s COUNT 3 STREAMS k >", [...]string{"ann", "bob", "cy"}[i%3]))
	}
	do("XACK k g 1-5 2-0")
	do("XDEL k 1-0 1-5 3-10 9-0")
	do("XTRIM k MAXLEN", fmt.Sprint(n*9/10))
	return d
}
