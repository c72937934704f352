package command_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// dialectCase holds the answers to a command through both entry points, and from a script that was called over HTTP. An
// expectation "not x" is any reply but x, and "refused" any error.
type dialectCase struct {
	difference string // the field of dialect.go that it shows
	setup      []string
	calls      []string // the reply of the last one is compared
	http       string
	resp       string
	script     string
}

const (
	entries150  = `EVAL "for i = 1, 150 do redis.call('XADD', 's', i, 'a', '1') end" 0`
	entries99   = `EVAL "for i = 1, 99 do redis.call('XADD', 's', i, 'a', '1') end" 0`
	keys34      = `EVAL "for i = 1, 34 do redis.call('SET', i, 'v') end" 0`
	elements700 = `EVAL "for i = 1, 700 do redis.call('HSET', 'h', i, i) redis.call('SADD', 'e', 'm' .. i) redis.call('ZADD', 'z', i, i) end" 0`
	wholeScan   = "1) \"0\"\n2) (empty array)"
)

var dialectCases = []dialectCase{
	{"longNumbers", []string{"ZADD z 0.1 m"}, []string{"ZSCORE z m"}, `"0.1"`, "(double) 0.10000000000000001", `"0.1"`},
	{"longNumbers", []string{"GEOADD g 13.361389 38.115556 m"}, []string{"GEOPOS g m"}, "1) 1) \"13.361389338970184\"\n   2) \"38.1155563954963\"",
		"1) 1) (double) 13.36138933897018433\n   2) (double) 38.11555639549629859", "1) 1) \"13.361389338970184\"\n   2) \"38.1155563954963\""},
	{"configuredEncodings", []string{"HSET h f v", "CONFIG SET hash-max-listpack-entries 0"}, []string{"OBJECT ENCODING h"}, `"listpack"`, `"hashtable"`, `"hashtable"`},
	{"approximate", []string{entries150}, []string{"XTRIM s MAXLEN ~ 30"}, "(integer) 120", "(integer) 100", "(integer) 100"},
	{"approximate", []string{entries150}, []string{"XTRIM s MAXLEN ~ 51"}, "(integer) 0", "(integer) 0", "(integer) 0"},
	{"approximate", []string{entries99}, []string{"XTRIM s MAXLEN ~ 0"}, "(integer) 0", "(integer) 99", "(integer) 99"},
	{"approximate", []string{entries99}, []string{"XTRIM s MINID ~ 1000"}, "(integer) 0", "(integer) 99", "(integer) 99"},
	{"approximate", []string{entries150}, []string{"XTRIM s MINID ~ 121"}, "(integer) 120", "(integer) 100", "(integer) 100"},
	{"approximate", []string{entries150}, []string{"XADD s MAXLEN ~ 30 * a 1", "XLEN s"}, "(integer) 30", "(integer) 51", "(integer) 51"},
	{"approximate", []string{entries99}, []string{"XADD s MAXLEN ~ 1 * a 1", "XLEN s"}, "(integer) 100", "(integer) 100", "(integer) 100"},
	{"approximate", []string{entries150}, []string{"XTRIM s MAXLEN 149"}, "(integer) 1", "(integer) 1", "(integer) 1"},
	{"scanCount", []string{keys34}, []string{"SCAN 0 MATCH none"}, wholeScan, "not " + wholeScan, "not " + wholeScan},
	{"scanCount", []string{keys34}, []string{"SCAN 0 MATCH none COUNT 5"}, "not " + wholeScan, "not " + wholeScan, "not " + wholeScan},
	{"scanCount", []string{elements700}, []string{"HSCAN h 0 MATCH none"}, wholeScan, "not " + wholeScan, "not " + wholeScan},
	{"scanCount", []string{elements700}, []string{"SSCAN e 0 MATCH none"}, wholeScan, "not " + wholeScan, "not " + wholeScan},
	{"scanCount", []string{elements700}, []string{"ZSCAN z 0 MATCH none"}, wholeScan, "not " + wholeScan, "not " + wholeScan},
	{"limitsRanks", []string{"ZADD z 1 a 2 b 3 c"}, []string{"ZRANGESTORE d z 0 2 LIMIT 1 1"}, "(integer) 1", "refused", "refused"},
	{"limitsRanks", []string{"ZADD z 1 a 2 b 3 c"}, []string{"ZRANGESTORE d z 0 2 REV LIMIT 0 1", "ZRANGE d 0 -1"}, `1) "c"`, "(empty array)", "(empty array)"},
	{"limitsRanks", []string{"ZADD z 1 a 2 b 3 c"}, []string{"ZRANGESTORE d z 0 2 LIMIT 1 -1"}, "(integer) 2", "(integer) 3", "(integer) 3"},
	{"limitsRanks", []string{"ZADD z 1 a 2 b 3 c"}, []string{"ZRANGE z 0 2 LIMIT 1 1"}, "refused", "refused", "refused"},
	{"groupless", []string{"XADD s 1-1 a 1"}, []string{"XINFO CONSUMERS s none"}, "(empty array)", "refused", "refused"},
	{"groupless", nil, []string{"XINFO CONSUMERS none none"}, "refused", "refused", "refused"},
	{"deletesAcknowledged", []string{"XADD s 1-1 a 1", "XADD s 1-2 a 1", "XGROUP CREATE s g 0", "XREADGROUP GROUP g c COUNT 1 STREAMS s >", "XACK s g 1-1"},
		[]string{"XACKDEL s g IDS 3 1-1 1-2 9-9"}, "1) (integer) 1\n2) (integer) -1\n3) (integer) -1", "1) (integer) -1\n2) (integer) -1\n3) (integer) -1", "1) (integer) -1\n2) (integer) -1\n3) (integer) -1"},
	{"deletesAcknowledged", []string{"XADD s 1-1 a 1", "XGROUP CREATE s g 0", "XREADGROUP GROUP g c STREAMS s >", "XACK s g 1-1"}, []string{"XACKDEL s g IDS 1 1-1", "XLEN s"},
		"(integer) 0", "(integer) 1", "(integer) 1"},
	{"deletesAcknowledged", []string{"XADD s 1-1 a 1", "XGROUP CREATE s g 0", "XGROUP CREATE s other 0", "XREADGROUP GROUP g c STREAMS s >", "XACK s g 1-1"}, []string{"XACKDEL s g ACKED IDS 1 1-1"},
		"1) (integer) 2", "1) (integer) -1", "1) (integer) -1"},
	{"fieldSeconds", []string{"HSET h f v g v", "HPEXPIREAT h 1900000000001 FIELDS 1 f", "HPEXPIREAT h 1900000000999 FIELDS 1 g"}, []string{"HEXPIRETIME h FIELDS 2 f g"},
		"1) (integer) 1900000000\n2) (integer) 1900000000", "1) (integer) 1900000001\n2) (integer) 1900000001", "1) (integer) 1900000001\n2) (integer) 1900000001"},
	{"reportsLostPath", []string{"JSON.SET d $ {}"}, []string{"JSON.SET d $.a.b 1"}, "(error) ERR Path '$.a.b' does not exist", "(nil)", "(nil)"},
	{"reportsLostPath", []string{"JSON.SET d $ {}"}, []string{"JSON.MERGE d $.a.b 1"}, "(error) ERR Path '$.a.b' does not exist", "(nil)", "(nil)"},
	{"copiesToItself", []string{"SET k v"}, []string{"COPY k k"}, "(integer) 0", "refused", "refused"},
	{"fiveUserFields", []string{"ACL SETUSER u"}, []string{"ACL GETUSER u"}, "10 elements", "12 elements", "refused"},
	{"hidesCommands", nil, []string{"COMMAND"}, "(empty array)", "not (empty array)", "not (empty array)"},
	{"allSections", nil, []string{"INFO nosuch"}, `not ""`, `(verbatim) ""`, "refused"},
	{"oneParameter", nil, []string{"CONFIG GET appendonly"}, "(empty array)", `1# "appendonly" => "yes"`, "refused"},
	{"anonymousReaders", []string{"XADD s 1-1 a 1", "XGROUP CREATE s g 0"}, []string{"XREADGROUP GROUP g c NOACK STREAMS s >", "XINFO CONSUMERS s g"}, "(empty array)", "not (empty array)", "not (empty array)"},
	{"unknownFlags", nil, []string{`EVAL "#!lua flags=only-theirs\nreturn 1" 0`}, "(integer) 1", "refused", "refused"},
}

// TestDialects takes every difference of the dialects through both entry points: over RESP, and over HTTP as single
// commands, in a pipeline, in a transaction and from a script.
func TestDialects(t *testing.T) {
	shown := map[string]bool{}
	for i, c := range dialectCases {
		if c.http != c.resp {
			shown[c.difference] = true
		}
		for way, run := range map[string]struct {
			want string
			run  func(*testing.T, *dialectCase) reply.Value
		}{
			"RESP": {c.resp, callOverRESP}, "HTTP": {c.http, callOverHTTP}, "pipeline": {c.http, callInBatch("pipeline")},
			"transaction": {c.http, callInBatch("multi-exec")}, "script": {c.script, callFromScript},
		} {
			t.Run(fmt.Sprintf("%d %s %s", i, c.difference, way), func(t *testing.T) {
				v := run.run(t, &c)
				got := scripttest.Print(v)
				if strings.HasSuffix(run.want, " elements") {
					got = fmt.Sprintf("%d elements", len(v.Elems()))
				}
				other, not := strings.CutPrefix(run.want, "not ")
				switch {
				case run.want == "refused" && v.IsError():
				case run.want == "refused", v.IsError() && !strings.HasPrefix(run.want, "(error)"), not == (got == other):
					t.Errorf("%s\ngot:\n%s\nwant:\n%s", strings.Join(c.calls, "; "), got, run.want)
				}
			})
		}
	}
	names := command.DialectDifferences()
	for _, name := range names {
		if !shown[name] {
			t.Errorf("no case shows %s: it has to be answered differently over HTTP and RESP", name)
		}
	}
	for _, c := range dialectCases {
		if !slices.Contains(names, c.difference) {
			t.Errorf("%s is no difference of the dialects", c.difference)
		}
	}
}

// prepare runs the setup of a case as a client of RESP does.
func prepare(t *testing.T, e *httpapitest.Engine, c *dialectCase) {
	t.Helper()
	for _, line := range c.setup {
		batch := fsm.Batch{As: acl.Trusted(acl.DefaultName), Origin: command.RESP, Mode: fsm.Single, Rows: [][][]byte{dialectWords(t, line)}}
		results, err := fsm.Do(context.Background(), e, fsm.Exec, batch)
		if err != nil || results.Values[0].IsError() {
			t.Fatalf("%s: %v, %v", line, results.Values, err)
		}
	}
}

func dialectWords(t *testing.T, line string) [][]byte {
	t.Helper()
	steps, err := scripttest.Parse("> " + line)
	if err != nil {
		t.Fatal(err)
	}
	return steps[0].Argv
}

func callOverRESP(t *testing.T, c *dialectCase) (v reply.Value) {
	o := openRESP(t).(*overRESP)
	prepare(t, o.engine, c)
	for _, line := range c.calls {
		v = o.run(scripttest.Start, &scripttest.Step{Argv: dialectWords(t, line)})
	}
	return v
}

func callOverHTTP(t *testing.T, c *dialectCase) (v reply.Value) {
	h := openHTTP(t).(*overHTTP)
	prepare(t, h.engine, c)
	for _, line := range c.calls {
		v = h.run(scripttest.Start, &scripttest.Step{Argv: dialectWords(t, line)})
	}
	return v
}

func callFromScript(t *testing.T, c *dialectCase) (v reply.Value) {
	h := openHTTP(t).(*overHTTP)
	prepare(t, h.engine, c)
	for _, line := range c.calls {
		argv := append([][]byte{[]byte("EVAL"), []byte("return redis.pcall(unpack(ARGV))"), []byte("0")}, dialectWords(t, line)...)
		v = h.run(scripttest.Start, &scripttest.Step{Argv: argv})
	}
	return v
}

// callInBatch sends the calls of a case in one request.
func callInBatch(path string) func(*testing.T, *dialectCase) reply.Value {
	return func(t *testing.T, c *dialectCase) reply.Value {
		h := openHTTP(t).(*overHTTP)
		h.now = scripttest.Start
		prepare(t, h.engine, c)
		var batch [][]string
		for _, line := range c.calls {
			var row []string
			for _, w := range dialectWords(t, line) {
				row = append(row, string(w))
			}
			batch = append(batch, row)
		}
		body, err := json.Marshal(batch)
		if err != nil {
			t.Fatal(err)
		}
		q, err := http.NewRequest(http.MethodPost, h.url+path, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Authorization", "Bearer "+httpapitest.Token)
		q.Header.Set("Svc-Encoding", "base64")
		res, err := h.client.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var replies []json.RawMessage
		if err := json.NewDecoder(res.Body).Decode(&replies); err != nil || len(replies) != len(batch) {
			t.Fatalf("status %d, %d replies: %v", res.StatusCode, len(replies), err)
		}
		v, err := readJSON(replies[len(replies)-1])
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestOnePlaceKnowsTheDialects keeps what commands do differently over HTTP in dialect.go: other files may ask for the
// origin only to say in whose words something is refused, or to whose budget it counts.
func TestOnePlaceKnowsTheDialects(t *testing.T) {
	allowed := map[string]string{
		"dialect.go": "the dialects", "command.go": "the origins", "origin.go": "words of refusals", "permit.go": "words of refusals",
		"limits.go": "words of refusals", "work.go": "rows of one HTTP request share its budget",
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") || allowed[file] != "" {
			continue
		}
		for _, word := range []string{"OriginHTTP", ".isREST()", "Origin == RESP", "Origin != RESP"} {
			if bytes.Contains(text, []byte(word)) {
				t.Errorf("%s asks for the origin (%s): a difference between the entry points belongs in dialect.go", file, word)
			}
		}
	}
}
