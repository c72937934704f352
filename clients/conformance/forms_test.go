package conformance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/resp"
	"github.com/trireme-dev/trireme/resp/resptest"
)

const (
	formsDocument = `{"n":1,"f":1.5,"s":"x","a":[1,2],"o":{"n":2},"b":true,"z":null}`
	nil2, nil3    = "$-1\r\n", "_\r\n"
	integer       = "$7\r\ninteger\r\n"
)

func bulk(text string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(text), text) }

// jsonForms are the replies of the JSON commands in both protocols, byte by byte, as RedisJSON documents them. Each call
// finds formsDocument under d, and a string under s. Without a second form both are the same.
var jsonForms = []struct{ call, resp2, resp3 string }{
	{"JSON.ARRAPPEND d $.a 3", "*1\r\n:3\r\n", ""},
	{"JSON.ARRAPPEND d a 3", ":3\r\n", ""},
	{"JSON.ARRAPPEND d $.s 3", "*1\r\n" + nil2, "*1\r\n" + nil3},
	{"JSON.ARRINDEX d $.a 2", "*1\r\n:1\r\n", ""},
	{"JSON.ARRINSERT d $.a 0 9", "*1\r\n:3\r\n", ""},
	{"JSON.ARRLEN d $.a", "*1\r\n:2\r\n", ""},
	{"JSON.ARRLEN d a", ":2\r\n", ""},
	{"JSON.ARRLEN none", nil2, nil3},
	{"JSON.ARRPOP d $.a", "*1\r\n$1\r\n2\r\n", ""},
	{"JSON.ARRPOP d a", "$1\r\n2\r\n", ""},
	{"JSON.ARRTRIM d $.a 0 0", "*1\r\n:1\r\n", ""},
	{"JSON.CLEAR d $.a", ":1\r\n", ""},
	{"JSON.DEBUG MEMORY none", nil2, nil3},
	{"JSON.DEL d $.n", ":1\r\n", ""},
	{"JSON.FORGET d $.n", ":1\r\n", ""},
	{"JSON.GET d $.n", "$3\r\n[1]\r\n", ""},
	{"JSON.GET d n", "$1\r\n1\r\n", ""},
	{"JSON.GET d", bulk(formsDocument), ""},
	{"JSON.GET none", nil2, nil3},
	{"JSON.MERGE d $.o {}", "+OK\r\n", ""},
	{"JSON.MGET d none $.n", "*2\r\n$3\r\n[1]\r\n" + nil2, "*2\r\n$3\r\n[1]\r\n" + nil3},
	{"JSON.MSET d $.n 5", "+OK\r\n", ""},
	{"JSON.NUMINCRBY d $.n 2", "$3\r\n[3]\r\n", "*1\r\n:3\r\n"},
	{"JSON.NUMINCRBY d $..n 2", "$5\r\n[4,3]\r\n", "*2\r\n:4\r\n:3\r\n"},
	{"JSON.NUMINCRBY d \"$['n','f','s']\" 1", bulk("[2,2.5,null]"), "*3\r\n:2\r\n,2.5\r\n" + nil3},
	{"JSON.NUMINCRBY d n 2", "$1\r\n3\r\n", "*1\r\n:3\r\n"},
	{"JSON.NUMINCRBY d ..n 2", "$1\r\n3\r\n", "*2\r\n:4\r\n:3\r\n"},
	{"JSON.NUMINCRBY d \"['n','f','s']\" 1", "$3\r\n2.5\r\n", "*3\r\n:2\r\n,2.5\r\n" + nil3},
	{"JSON.NUMINCRBY d $.s 1", bulk("[null]"), "*1\r\n" + nil3},
	{"JSON.NUMINCRBY d $.none 1", "$2\r\n[]\r\n", "*0\r\n"},
	{"JSON.NUMINCRBY d none 1", "-ERR Path '$.none' does not exist\r\n", ""},
	{"JSON.NUMINCRBY d s 1", "-WRONGTYPE wrong type of path value - expected number but found string\r\n", ""},
	{"JSON.NUMINCRBY none $ 1", "-ERR could not perform this operation on a key that doesn't exist\r\n", ""},
	{"JSON.NUMMULTBY d $.n 3", "$3\r\n[3]\r\n", "*1\r\n:3\r\n"},
	{"JSON.NUMMULTBY d f 2", "$3\r\n3.0\r\n", "*1\r\n,3\r\n"},
	{"JSON.NUMPOWBY d $.f 2", bulk("[2.25]"), "*1\r\n,2.25\r\n"},
	{"JSON.OBJKEYS d $.o", "*1\r\n*1\r\n$1\r\nn\r\n", ""},
	{"JSON.OBJKEYS d o", "*1\r\n$1\r\nn\r\n", ""},
	{"JSON.OBJKEYS d none", nil2, nil3},
	{"JSON.OBJLEN d $.o", "*1\r\n:1\r\n", ""},
	{"JSON.RESP d $.f", "*1\r\n$3\r\n1.5\r\n", ""},
	{"JSON.RESP d o", "*3\r\n+{\r\n$1\r\nn\r\n:2\r\n", ""},
	{"JSON.RESP d b", "+true\r\n", ""},
	{"JSON.RESP d z", nil2, nil3},
	{"JSON.SET d $.x 1", "+OK\r\n", ""},
	{"JSON.SET d $.n 1 NX", nil2, nil3},
	{`JSON.STRAPPEND d $.s '"y"'`, "*1\r\n:2\r\n", ""},
	{"JSON.STRLEN d $.s", "*1\r\n:1\r\n", ""},
	{"JSON.TOGGLE d $.b", "*1\r\n:0\r\n", ""},
	{"JSON.TOGGLE d b", ":0\r\n", ""},
	{"JSON.TYPE d $.n", "*1\r\n" + integer, "*1\r\n*1\r\n" + integer},
	{"JSON.TYPE d $..n", "*2\r\n" + integer + integer, "*1\r\n*2\r\n" + integer + integer},
	{"JSON.TYPE d $.none", "*0\r\n", "*1\r\n*0\r\n"},
	{"JSON.TYPE d n", integer, "*1\r\n" + integer},
	{"JSON.TYPE d", "$6\r\nobject\r\n", "*1\r\n$6\r\nobject\r\n"},
	{"JSON.TYPE d none", nil2, "*1\r\n" + nil3},
	{"JSON.TYPE none $", nil2, "*1\r\n" + nil3},
	{"JSON.TYPE s", "-ERR Existing key has wrong Redis type\r\n", ""},
}

// TestJSONForms asks for every JSON reply over connections of RESP2 and of RESP3: by itself, in a transaction, and from a
// script that speaks the protocol. Every JSON command must have an example.
func TestJSONForms(t *testing.T) {
	called := map[string]bool{}
	for version := 2; version <= 3; version++ {
		c := resptest.Login(t, resptest.NewEngine(t, scripttest.Start).Serve(t, resp.Options{}))
		c.Do("HELLO", fmt.Sprint(version))
		for _, f := range jsonForms {
			steps, err := scripttest.Parse("> " + f.call)
			if err != nil {
				t.Fatal(err)
			}
			words, want := texts(steps[0].Argv), f.resp2
			called[strings.ToLower(words[0])] = true
			if version == 3 && f.resp3 != "" {
				want = f.resp3
			}
			t.Logf("RESP%d: %s", version, f.call)
			prepared := func() {
				c.Do("FLUSHALL")
				c.Do("JSON.SET", "d", "$", formsDocument)
				c.Do("SET", "s", "text")
			}
			answers := func(want string, words ...string) {
				t.Helper()
				c.Start(words...)
				c.WantBytes(want)
			}
			prepared()
			answers(want, words...)
			prepared()
			answers("+OK\r\n", "MULTI")
			answers("+QUEUED\r\n", words...)
			answers("*1\r\n"+want, "EXEC")
			if strings.Contains(want, nil3) {
				continue // null is the end of a list of Lua
			}
			prepared()
			answers(want, append([]string{"EVAL", fmt.Sprintf("redis.setresp(%d) return redis.pcall(unpack(ARGV))", version), "0"}, words...)...)
		}
	}
	for _, row := range rows.Rows() {
		if row.Group() == "json" && !called[row.Name] {
			t.Errorf("no example of %s", row.Name)
		}
	}
}
