package searchindex_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/node/searchindex"
)

// node is a machine with search indexes that is fed a log of its own.
type node struct {
	t     *testing.T
	mu    sync.Mutex
	m     *fsm.Machine
	index uint64
	clock int64
}

func newNode(t *testing.T) *node {
	n := &node{t: t, m: fsm.NewMachine(), clock: 1_000_000}
	n.attach()
	n.propose(fsm.SetLevel.Code, fsm.SetLevel.Body(fsm.LevelChange{Level: fsm.MaxLevel}))
	return n
}

func (n *node) attach() {
	e := searchindex.Attach(n.m, 0)
	n.t.Cleanup(e.Close)
}

func (n *node) propose(code uint16, body []byte) any {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.index++
	entry := fsm.Entry{Stamp: n.clock, Term: 1, Requests: []fsm.Request{{Code: code, Body: body}}}
	binary.LittleEndian.PutUint64(entry.Seed[:], n.index)
	outcomes, err := n.m.Apply(n.index, 1, entry.Encode())
	if err != nil || outcomes[0].Err != nil {
		n.t.Errorf("apply: %v, %+v", err, outcomes)
		return fsm.Results{Values: []reply.Value{reply.Nil()}}
	}
	return outcomes[0].Value
}

func row(words ...string) (argv [][]byte) {
	for _, w := range words {
		argv = append(argv, []byte(w))
	}
	return argv
}

// who may do everything.
var who = acl.Identity{User: acl.DefaultName, By: acl.ByProcess}

// do runs a command as a node does: writes through the log, reads on a view.
func (n *node) do(words ...string) reply.Value {
	n.t.Helper()
	argv := row(words...)
	if n.m.Table().Find(argv).Flags&command.Write == 0 {
		var v reply.Value
		n.m.View(n.clock, [16]byte{}, func(view *fsm.View) { v = view.Exec(who, command.OriginHTTP, argv) })
		return v
	}
	batch := fsm.Batch{As: who, Origin: command.OriginHTTP, Rows: [][][]byte{argv}}
	v := n.propose(fsm.Exec.Code, fsm.Exec.Body(batch)).(fsm.Results).Values[0]
	if v.IsError() {
		n.t.Errorf("%v: %s", words, v.Text())
	}
	return v
}

func (n *node) count(index, filter string, want int64) {
	n.t.Helper()
	if got := n.do("SEARCH.COUNT", index, filter); got.IsError() || got.Int() != want {
		n.t.Errorf("%s %s: %d %s, want %d", index, filter, got.Int(), got.Text(), want)
	}
}

func (n *node) keys(words ...string) string {
	n.t.Helper()
	v := n.do(words...)
	if v.IsError() {
		n.t.Errorf("%v: %s", words, v.Text())
	}
	var keys []string
	for _, hit := range v.Elems() {
		keys = append(keys, hit.Elems()[0].Text())
	}
	return strings.Join(keys, " ")
}

// TestIndexFollowsTheState has writers change keys while the index is made, and expects of every count that it is that of a
// walk over the keys.
func TestIndexFollowsTheState(t *testing.T) {
	n := newNode(t)
	for i := range 2000 {
		n.do("HSET", fmt.Sprint("doc:", i), "n", fmt.Sprint(i%10))
	}
	n.do("SEARCH.CREATE", "i", "ON", "HASH", "PREFIX", "1", "doc:", "SCHEMA", "n", "U64", "FAST")
	for i := range 500 {
		n.do("HSET", fmt.Sprint("doc:", i), "n", "11")
		if i%100 == 0 {
			n.count("i", `{"n":11}`, int64(i+1))
		}
	}
	n.count("i", `{"n":11}`, 500)
	n.count("i", `{"n":3}`, 150)
	n.count("i", `{}`, 2000)
	n.do("PEXPIRE", "doc:0", "1000")
	n.clock += 1000
	n.count("i", `{"n":11}`, 499)
	n.do("DEL", "doc:1", "doc:2")
	n.do("RENAME", "doc:3", "moved:3")
	n.do("SET", "doc:4", "text")
	n.count("i", `{"n":11}`, 495)
	n.do("FLUSHALL")
	n.count("i", `{}`, 0)
	n.do("HSET", "doc:1", "n", "1")
	n.count("i", `{}`, 1)
}

// TestIndexAfterRestore compares the answers before and after a snapshot was restored, in another machine and in the same.
func TestIndexAfterRestore(t *testing.T) {
	n := newNode(t)
	n.do("HSET", "doc:old", "t", "old")
	n.do("SEARCH.CREATE", "i", "SKIPINITIALSCAN", "ON", "HASH", "PREFIX", "1", "doc:", "SCHEMA", "t", "TEXT")
	n.do("SEARCH.CREATE", "s", "ON", "STREAM", "log", "SCHEMA", "t", "TEXT")
	n.do("SEARCH.ALIASADD", "a", "i")
	n.do("HSET", "doc:1", "t", "one two")
	n.do("HSET", "doc:2", "t", "two three")
	n.do("XADD", "log", "1-1", "t", "two")
	var snapshot bytes.Buffer
	if err := n.m.Fork().Write(&snapshot); err != nil {
		t.Fatal(err)
	}
	before := n.m.Fork().Digest()
	saved := snapshot.Bytes()
	check := func(n *node) {
		t.Helper()
		if got := n.keys("SEARCH.QUERY", "a", `{"t":{"$eq":"two"}}`); got != "doc:1 doc:2" {
			t.Errorf("found %q", got)
		}
		if got := n.keys("SEARCH.QUERY", "s", `{"t":"two"}`); got != "1-1" {
			t.Errorf("found %q in the stream", got)
		}
		n.count("i", `{"t":"old"}`, 0)
	}
	check(n)
	n.do("HSET", "doc:3", "t", "two")
	n.do("SEARCH.DROP", "s")
	n.count("i", `{"t":"two"}`, 3)
	if err := n.m.Restore(bytes.NewReader(saved)); err != nil {
		t.Fatal(err)
	}
	check(n)
	if after := n.m.Fork().Digest(); after != before {
		t.Errorf("digest %s, restored %s", before, after)
	}
	other := &node{t: t, m: fsm.NewMachine(), clock: n.clock}
	if err := other.m.Restore(bytes.NewReader(saved)); err != nil {
		t.Fatal(err)
	}
	other.m.View(0, [16]byte{}, func(v *fsm.View) { other.index = v.Index() })
	other.attach() // as a node does that was restarted
	check(other)
	other.do("HSET", "doc:old", "t", "old again")
	other.count("i", `{"t":{"$eq":"old"}}`, 1)
}

// TestIndexOfAnotherState replaces the state of a machine, and then compares each index with one that is made anew in a machine
// that starts with that state: whatever has become of keys and definitions in between, nothing of the former state is found.
func TestIndexOfAnotherState(t *testing.T) {
	changes := map[string]func(*node){
		"nothing": func(*node) {},
		"add":     func(n *node) { n.do("HSET", "doc:4", "t", "two", "n", "4") },
		"change":  func(n *node) { n.do("HSET", "doc:1", "t", "three", "n", "9") },
		"delete":  func(n *node) { n.do("DEL", "doc:2") },
		"rename":  func(n *node) { n.do("RENAME", "doc:1", "doc:8") },
		"retype": func(n *node) {
			n.do("DEL", "doc:1")
			n.do("SET", "doc:1", "x")
		},
		"expire": func(n *node) { n.do("PEXPIRE", "doc:1", "1000000") },
		"flush":  func(n *node) { n.do("FLUSHDB") },
		"flush and add": func(n *node) {
			n.do("FLUSHDB")
			n.do("HSET", "doc:1", "t", "two four", "n", "8")
		},
		"drop": func(n *node) { n.do("SEARCH.DROP", "i") },
		"drop and create": func(n *node) {
			n.do("SEARCH.DROP", "i")
			n.do("SEARCH.CREATE", "i", "ON", "HASH", "PREFIX", "1", "doc:", "SCHEMA", "n", "U64", "FAST")
		},
		"create":         func(n *node) { n.do("SEARCH.CREATE", "j", "ON", "HASH", "PREFIX", "1", "doc:", "SCHEMA", "t", "TEXT") },
		"append entries": func(n *node) { n.do("XADD", "log", "2-1", "t", "two") },
		"delete entries": func(n *node) { n.do("XDEL", "log", "1-1") },
	}
	for name, change := range changes {
		for _, looked := range []bool{true, false} { // whether the indexes were up to date when the state was replaced
			t.Run(fmt.Sprintf("%s/%v", name, looked), func(t *testing.T) {
				n := newNode(t)
				n.do("SEARCH.CREATE", "i", "ON", "HASH", "PREFIX", "1", "doc:", "SCHEMA", "t", "TEXT", "n", "U64", "FAST")
				n.do("SEARCH.CREATE", "s", "ON", "STREAM", "log", "SCHEMA", "t", "TEXT")
				n.do("HSET", "doc:1", "t", "one two", "n", "1")
				n.do("HSET", "doc:2", "t", "two three", "n", "2")
				n.do("HSET", "doc:3", "t", "three", "n", "3")
				n.do("XADD", "log", "1-1", "t", "two")
				var snapshot bytes.Buffer
				if err := n.m.Fork().Write(&snapshot); err != nil {
					t.Fatal(err)
				}
				n.do("SEARCH.COUNT", "i", `{}`)
				change(n)
				if looked {
					n.do("SEARCH.COUNT", "i", `{}`)
					n.do("SEARCH.COUNT", "s", `{}`)
				}
				fresh := &node{t: t, m: fsm.NewMachine(), clock: n.clock}
				for _, m := range []*fsm.Machine{n.m, fresh.m} {
					if err := m.Restore(bytes.NewReader(snapshot.Bytes())); err != nil {
						t.Fatal(err)
					}
				}
				n.m.View(0, [16]byte{}, func(v *fsm.View) { n.index, fresh.index = v.Index(), v.Index() })
				fresh.attach()
				same := func(want int64) {
					t.Helper()
					for _, q := range [][]string{{"i", `{"t":"one"}`}, {"i", `{"t":"two"}`}, {"i", `{"t":"three"}`}, {"i", `{"t":"four"}`}, {"i", `{"n":{"$gte":0}}`}, {"i", `{}`}, {"s", `{"t":"two"}`}} {
						if got, want := n.keys("SEARCH.QUERY", q[0], q[1]), fresh.keys("SEARCH.QUERY", q[0], q[1]); got != want {
							t.Errorf("%v finds %q, in a new index %q", q, got, want)
						}
					}
					n.count("i", `{}`, want)
				}
				same(3)
				for _, one := range []*node{n, fresh} { // it goes on from there
					one.do("HSET", "doc:1", "t", "four", "n", "7")
					one.do("DEL", "doc:3")
				}
				same(2)
			})
		}
	}
}

// TestReadersSeeWrites has many read what they have just written.
func TestReadersSeeWrites(t *testing.T) {
	n := newNode(t)
	n.do("SEARCH.CREATE", "i", "ON", "JSON", "PREFIX", "1", "doc:", "SCHEMA", "w", "KEYWORD", "n", "U64")
	var wait sync.WaitGroup
	for w := range 4 {
		wait.Go(func() {
			for i := range 100 {
				n.do("JSON.SET", fmt.Sprintf("doc:%d", w), "$", fmt.Sprintf(`{"w":"w%d","n":%d}`, w, i))
				n.count("i", fmt.Sprintf(`{"w":"w%d","n":%d}`, w, i), 1)
			}
		})
	}
	wait.Wait()
	n.count("i", "{}", 4)
}

// TestStreamIndex trims and deletes at both ends and in the middle.
func TestStreamIndex(t *testing.T) {
	n := newNode(t)
	n.do("SEARCH.CREATE", "s", "ON", "STREAM", "log", "SCHEMA", "n", "U64")
	all := func(want string) {
		t.Helper()
		if got := n.keys("SEARCH.QUERY", "s", "{}", "NOCONTENT"); got != want {
			t.Errorf("found %q, want %q", got, want)
		}
	}
	for i := 1; i <= 6; i++ {
		n.do("XADD", "log", fmt.Sprintf("%d-0", i), "n", fmt.Sprint(i))
	}
	n.do("XADD", "log", "7-0", "other", "1")
	all("1-0 2-0 3-0 4-0 5-0 6-0")
	n.do("XDEL", "log", "3-0")
	all("1-0 2-0 4-0 5-0 6-0")
	n.do("XTRIM", "log", "MINID", "=", "4-0")
	n.do("XADD", "log", "8-0", "n", "8")
	all("4-0 5-0 6-0 8-0")
	n.do("XDEL", "log", "8-0", "4-0")
	all("5-0 6-0")
	n.do("DEL", "log")
	all("")
	n.do("XADD", "log", "1-0", "n", "1")
	all("1-0")
}

// TestSearchStaysOutOfWrites refuses what would make a result of the log depend on the node.
func TestSearchStaysOutOfWrites(t *testing.T) {
	n := newNode(t)
	n.do("SEARCH.CREATE", "i", "ON", "HASH", "PREFIX", "1", "doc:", "SCHEMA", "n", "U64")
	batch := fsm.Batch{As: who, Origin: command.OriginHTTP, Mode: fsm.Transaction, Rows: [][][]byte{row("SET", "k", "v"), row("SEARCH.COUNT", "i", "{}")}}
	values := n.propose(fsm.Exec.Code, fsm.Exec.Body(batch)).(fsm.Results).Values
	if len(values) != 2 || !values[1].IsError() || !strings.Contains(values[1].Text(), "cannot run together with writes") {
		t.Errorf("%+v", values)
	}
	script := row("EVAL", "return redis.call('SEARCH.COUNT', 'i', '{}')", "0")
	batch = fsm.Batch{As: who, Origin: command.OriginHTTP, Rows: [][][]byte{script}}
	if v := n.propose(fsm.Exec.Code, fsm.Exec.Body(batch)).(fsm.Results).Values[0]; !v.IsError() {
		t.Errorf("a script that may write: %+v", v)
	}
	if v := n.do("EVAL_RO", "return redis.call('SEARCH.COUNT', 'i', '{}')", "0"); v.IsError() || v.Int() != 0 {
		t.Errorf("a script that only reads: %s", v.Text())
	}
}

// TestCaseOfWords: every operator on a TEXT finds a word in whatever case it is written, as the words of a document are
// indexed in lower case. Where a field keeps its value whole its case counts.
func TestCaseOfWords(t *testing.T) {
	n := newNode(t)
	n.do("SEARCH.CREATE", "i", "ON", "HASH", "PREFIX", "1", "doc:", "SCHEMA", "t", "TEXT", "stem", "TEXT", "FROM", "t", "plain", "TEXT", "NOSTEM", "FROM", "t", "whole", "TEXT", "NOTOKENIZE", "FROM", "t", "k", "KEYWORD", "FROM", "t")
	n.do("HSET", "doc:1", "t", "Laptop Pro-X İstanbul ÖL")
	n.do("SEARCH.WAITINDEXING", "i")
	for _, field := range []string{"t", "plain"} {
		for _, form := range []string{
			`%s`, `{"$smart":%s}`, `{"$eq":%s}`, `{"$in":[%s]}`, `{"$phrase":%s}`, `{"$phrase":{"value":%s,"slop":1}}`, `{"$phrase":{"value":%s,"prefix":true}}`, `{"$fuzzy":%s}`,
			`{"$fuzzy":{"value":%s,"distance":0}}`, `{"$fuzzy":{"value":%s,"prefix":true}}`, `{"$contains":%s}`, `{"$regex":%s}`,
		} {
			for _, word := range []string{"laptop", "Laptop", "LAPTOP", "ÖL", "öl", "Öl", "İstanbul", "istanbul"} {
				n.count("i", fmt.Sprintf(`{%q:%s}`, field, fmt.Sprintf(form, fmt.Sprintf("%q", word))), 1)
			}
		}
		for pattern, want := range map[string]int64{ // unordered: independent cases
			"Laptop.*": 1, "laptop.*": 1, "LAP(TOP|BOOK)": 1, "[L-M]aptop": 1, "[^A-K]aptop": 1, `\\S+`: 1, `\\W+`: 0, `\\D+`: 1, `\\w{6}`: 1, `\\pL+`: 1, `\\p{Lu}+`: 1, `\\PL+`: 0,
			`L\\x61ptop`: 1, `\\QLaptop\\E`: 1, "(?-i:Laptop)": 0, "(?-i:laptop)": 1, "[İ]stanbul": 1, "[İı]stanbul": 1, "apt": 0, "Lap": 0, "b|Laptop": 1, "top|b": 0, "ö.": 1, "Ö.": 1, "": 0,
		} {
			n.count("i", fmt.Sprintf(`{%q:{"$regex":"%s"}}`, field, pattern), want)
		}
	}
	for filter, want := range map[string]int64{ // unordered: independent cases
		`{"whole":{"$regex":"Laptop.*"}}`: 1, `{"whole":{"$regex":"laptop.*"}}`: 0, `{"whole":{"$eq":"Laptop Pro-X İstanbul ÖL"}}`: 1, `{"whole":{"$eq":"laptop pro-x istanbul öl"}}`: 0,
		`{"k":{"$eq":"Laptop Pro-X İstanbul ÖL"}}`: 1, `{"k":{"$eq":"laptop pro-x istanbul öl"}}`: 0,
	} {
		n.count("i", filter, want)
	}
	// A pattern ends where it ends: its parentheses do not close those around it.
	for _, pattern := range []string{"x)|(laptop", "(", "[", "a**"} {
		if v := n.do("SEARCH.COUNT", "i", fmt.Sprintf(`{"t":{"$regex":"%s"}}`, pattern)); !v.IsError() {
			t.Errorf("%s finds %d", pattern, v.Int())
		}
	}
}

// TestEmptyLists: clients send a count of 0 for an empty list. Where a list may be empty that is one; where it may not, the
// error says so.
func TestEmptyLists(t *testing.T) {
	n := newNode(t)
	n.do("SEARCH.CREATE", "i", "ON", "HASH", "PREFIX", "1", "doc:", "SCHEMA", "t", "TEXT")
	n.do("HSET", "doc:1", "t", "word")
	n.do("SEARCH.WAITINDEXING", "i")
	for line, want := range map[string]string{ // unordered: independent cases
		"SEARCH.QUERY i {} HIGHLIGHT FIELDS 0":                                    "[[doc:1 1 [[t word]]]]",
		`SEARCH.QUERY i {"t":"word"} SELECT 1 t HIGHLIGHT FIELDS 0 TAGS <b> </b>`: "[t word]",
		"SEARCH.QUERY i {} SELECT 0":                                              "[[doc:1 1 []]]",
		"SEARCH.QUERY i {} NOCONTENT HIGHLIGHT FIELDS 0":                          "[[doc:1 1]]",
		"SEARCH.QUERY i {} NOCONTENT SELECT 0":                                    "[[doc:1 1]]",
		"SEARCH.QUERY i {} HIGHLIGHT FIELDS -1":                                   "ERR the number of fields must be between 0 and",
		"SEARCH.QUERY i {} NOCONTENT HIGHLIGHT FIELDS 1 t":                        "ERR NOCONTENT",
		"SEARCH.LISTINDEXES LIMIT 0":                                              "name i",
	} {
		if got := text(n.do(strings.Fields(line)...)); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	for line, want := range map[string]string{ // unordered: independent cases
		"SEARCH.CREATE j ON HASH PREFIX 0 SCHEMA t TEXT": "PREFIX must be followed by 1 to",
		"VECTOR.ADD v a VALUES 0":                        "ERR syntax error",
	} {
		batch := fsm.Batch{As: who, Origin: command.OriginHTTP, Rows: [][][]byte{row(strings.Fields(line)...)}}
		if v := n.propose(fsm.Exec.Code, fsm.Exec.Body(batch)).(fsm.Results).Values[0]; !strings.Contains(v.Text(), want) {
			t.Errorf("%s: %s", line, v.Text())
		}
	}
}

// text is a reply for people.
func text(v reply.Value) string {
	if v.IsError() || len(v.Elems()) == 0 && v.Text() != "" {
		return v.Text()
	}
	var all []string
	for _, e := range v.Elems() {
		all = append(all, text(e))
	}
	if all == nil && v.Text() == "" && v.Int() != 0 {
		return fmt.Sprint(v.Int())
	}
	return "[" + strings.Join(all, " ") + "]"
}

// TestSearchesAreWork: what searches look at is work of the request that asks for them, so a script of many is refused for its budget.
func TestSearchesAreWork(t *testing.T) {
	n := newNode(t)
	n.do("SEARCH.CREATE", "i", "ON", "HASH", "PREFIX", "1", "doc:", "SCHEMA", "t", "TEXT")
	for i := range 200 {
		n.do("HSET", fmt.Sprint("doc:", i), "t", fmt.Sprint("word", i))
	}
	limits := command.Limits{}
	limits.SetWork(20_000, 1_000_000)
	n.propose(fsm.Configure.Code, fsm.Configure.Body(fsm.Settings{Limits: limits}))
	loop := `for i = 1, ARGV[1] do redis.call('SEARCH.COUNT', 'i', '{"t":{"$regex":".*w.*o.*d1"}}') end return 1`
	if v := n.do("EVAL_RO", loop, "0", "1"); v.IsError() {
		t.Errorf("one search: %s", v.Text())
	}
	if v := n.do("EVAL_RO", loop, "0", "200"); !v.IsError() || !strings.Contains(v.Text(), "max request work exceeded") {
		t.Errorf("200 searches: %d %s", v.Int(), v.Text())
	}
	long := strings.Repeat("word ", 40_000)
	n.do("HSET", "doc:0", "t", long)
	query := []string{"SEARCH.QUERY", "i", `{"t":{"$eq":"word"}}`, "HIGHLIGHT", "FIELDS", "1", "t"}
	if v := n.do(query...); !v.IsError() || !strings.Contains(v.Text(), "max request work exceeded by 'search.query'. Limit: 20000 steps, Actual: ") {
		t.Errorf("a highlight of 200 kB: %s", v.Text())
	}
	if v := n.do(append(query, "TAGS", strings.Repeat("<", 600), "")...); !v.IsError() || !strings.Contains(v.Text(), "a tag of HIGHLIGHT has at most 512 bytes") {
		t.Errorf("a long tag: %s", v.Text())
	}
}
