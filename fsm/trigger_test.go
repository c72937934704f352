package fsm_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// toldChange is what a message says of a change.
type toldChange struct {
	Trigger    string
	Number     uint64
	Event, Key string
	Type       string
	Old, New   json.RawMessage
	OldOmitted string
}

// must runs a command that is not to be refused.
func (c *committer) must(line string) reply.Value {
	c.t.Helper()
	v := c.run(line)
	if v.IsError() {
		c.t.Fatalf("%s: %s", line, v.Text())
	}
	return v
}

// claim claims what is to be delivered, and records that it was.
func (c *committer) claim() (list []toldChange) {
	c.t.Helper()
	for {
		out, err := propose(c.deliverer, fsm.Advance, fsm.AdvanceLimit{Deliver: true, Claims: 256, Term: c.l.term})
		if err != nil {
			c.t.Fatal(err)
		}
		if len(out.Attempts) == 0 {
			return list
		}
		var n queue.Results
		for _, a := range out.Attempts {
			var told toldChange
			if err := json.Unmarshal(a.Content.Body, &told); err != nil {
				c.t.Fatalf("%s: %v", a.Content.Body, err)
			}
			list = append(list, told)
			n.Items = append(n.Items, queue.Result{AttemptRef: a.Ref(), Response: queue.Response{Status: 200}})
		}
		if _, err := propose(c.deliverer, fsm.Finish, n); err != nil {
			c.t.Fatal(err)
		}
	}
}

func (tc toldChange) String() string {
	return fmt.Sprintf("%d %s %s %s %s>%s", tc.Number, tc.Event, tc.Key, tc.Type, tc.Old, tc.New)
}

// field is one of TRIGGER.GET.
func (c *committer) field(trigger, name string) string {
	c.t.Helper()
	fields := c.must("TRIGGER.GET " + trigger).Elems()
	for i := 0; i+1 < len(fields); i += 2 {
		if fields[i].Text() == name {
			return fields[i+1].Text() + strings.TrimPrefix(fmt.Sprint(fields[i+1].Int()), "0")
		}
	}
	return ""
}

func TestTriggerTellsEachChangeOnce(t *testing.T) {
	c := newCommitter(t, 1)
	c.must("TRIGGER.SET orders order: VALUES old,new MESSAGE http://sink/x RETRIES 0")
	for _, line := range []string{
		"SET order:1 a", "SET other 1", "APPEND order:1 b", "MSET order:2 x order:3 y", "DEL order:1 order:2", "HSET order:h f 1 g 2", "HDEL order:h f",
		"RPUSH order:l a b", "LPOP order:l 2", "SADD order:s b a", "ZADD order:z 1.5 m", "EXPIRE order:3 100", "SET order:3 z NX", "XADD order:x 1-1 f v",
		`JSON.SET order:j $ {"a":[1]}`, "RENAME order:3 order:4", "SETRANGE order:big 70000 x",
	} {
		c.must(line)
	}
	var got []string
	for _, told := range c.claim() {
		got = append(got, told.String()+told.OldOmitted)
	}
	want := []string{
		`1 set order:1 string null>"a"`, `2 append order:1 string "a">"ab"`, `3 set order:2 string null>"x"`, `4 set order:3 string null>"y"`,
		`5 del order:1 none "ab">null`, `6 del order:2 none "x">null`,
		`7 hset order:h hash null>{"f":"1","g":"2"}`, `8 hdel order:h hash {"f":"1","g":"2"}>{"g":"2"}`,
		`9 rpush order:l list null>["a","b"]`, `10 lpop order:l none ["a","b"]>null`, `11 del order:l none ["a","b"]>null`,
		`12 sadd order:s set null>["a","b"]`, `13 zadd order:z zset null>[["m",1.5]]`, `14 expire order:3 string "y">"y"`,
		`15 xadd order:x stream null>`, `16 json.set order:j ReJSON-RL null>{"a":[1]}`,
		`17 rename_from order:3 none "y">null`, `18 rename_to order:4 string null>"y"`, `19 setrange order:big string null>`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("told:\n%s\ninstead of\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if fired := c.field("orders", "fired"); fired != strconv.Itoa(len(want)) {
		t.Errorf("fired is %s", fired)
	}
}

func TestTriggerChooses(t *testing.T) {
	c := newCommitter(t, 2)
	c.must("TRIGGER.SET gone a: EVENTS del,expired TYPES hash MESSAGE http://sink/x")
	c.must("HSET a:1 f v")
	c.must("SET a:2 v")
	c.must("DEL a:1 a:2")
	c.must("HSET a:3 f v")
	c.must("PEXPIRE a:3 10")
	c.l.now += 1000
	if _, err := propose(c.deliverer, fsm.Advance, fsm.AdvanceLimit{Term: c.l.term, Sweep: 100}); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(c.claim()); got != "[1 del a:1 none > 2 expired a:3 none >]" {
		t.Errorf("told %s", got)
	}
	c.must("TRIGGER.DEL gone")
	c.must("HSET a:1 f v")
	c.must("DEL a:1")
	if got := c.claim(); len(got) != 0 {
		t.Errorf("a deleted trigger tells %v", got)
	}
	if v := c.must("TRIGGER.DEL gone"); v.Int() != 0 {
		t.Errorf("a trigger is deleted twice")
	}
}

// What is undone tells nothing.
func TestTriggerTellsNothingUndone(t *testing.T) {
	c := newCommitter(t, 3)
	c.must("TRIGGER.SET all shop: MESSAGE http://sink/x")
	c.must("TRIGGER.SET feed shop: STREAM changes")
	c.begin("r", "shop")
	if r := c.submit(step("r", 1, `[["SET","shop:a","1"],["IF","shop:a","EQ","2"]]`)); r.Refused == nil {
		t.Fatal("a condition that does not hold is accepted")
	}
	if v := c.must("XLEN changes"); v.Int() != 0 || c.field("all", "fired") != "" {
		t.Errorf("%d entries, %s fired", v.Int(), c.field("all", "fired"))
	}
	if r := c.submit(step("r", 1, `[["SET","shop:a","1"],["IF","shop:a","EQ","1"]]`)); r.Refused != nil {
		t.Fatal(r.Refused)
	}
	if v := c.must("XLEN changes"); v.Int() != 1 || c.field("all", "fired") != "1" {
		t.Errorf("%d entries, %s fired", v.Int(), c.field("all", "fired"))
	}
}

// Messages of one key come in the order of its changes, whatever the number of lanes, on a machine that is restored again and again,
// and each change once.
func TestTriggerKeepsOrderOfKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	c := newCommitter(t, 4)
	c.must("TRIGGER.SET n n: VALUES new LANES 4 MESSAGE http://sink/x")
	c.must("TRIGGER.SET f n: VALUES new STREAM feed")
	c.must("TRIGGER.SET v v: VALUES old,new STREAM values MAXLEN 50")
	made, seen := map[string]int{}, map[string]int{}
	total, numbers := 0, map[uint64]bool{}
	check := func() {
		for _, told := range c.claim() {
			if seen[told.Key]++; string(told.New) != fmt.Sprintf("%q", strconv.Itoa(seen[told.Key])) || numbers[told.Number] {
				t.Fatalf("message %d of %s tells %s", seen[told.Key], told.Key, told)
			}
			numbers[told.Number] = true
		}
	}
	for i := range 400 {
		key := fmt.Sprintf("n:%d", r.IntN(7))
		switch r.IntN(8) {
		case 6: // what is told must not depend on how a node holds a value
			c.must(fmt.Sprintf("SADD v:s %d x%d", r.IntN(500), r.IntN(100)))
		case 7:
			c.must(fmt.Sprintf("HSET v:h f%d %d", r.IntN(300), i))
		case 0:
			c.must("TRIGGER.PAUSE n")
			check()
		case 1:
			c.must("TRIGGER.RESUME n")
			check()
		default:
			c.must("INCR " + key)
			made[key]++
			total++
		}
		if i%80 == 79 {
			var one bytes.Buffer
			if err := c.b.Fork().Write(&one); err != nil {
				t.Fatal(err)
			}
			c.b = fsm.NewMachine()
			if err := c.b.Restore(&one); err != nil {
				t.Fatal(err)
			}
		}
	}
	c.must("TRIGGER.RESUME n")
	check()
	for key, n := range made {
		if seen[key] != n {
			t.Errorf("%s was changed %d times, and told %d times", key, n, seen[key])
		}
	}
	if v := c.must("XLEN feed"); int(v.Int()) != total {
		t.Errorf("%d entries instead of %d", v.Int(), total)
	}
	for i, e := range c.must("XRANGE feed - +").Elems() {
		if _, seq, _ := strings.Cut(e.Elems()[0].Text(), "-"); seq != strconv.Itoa(i+1) {
			t.Fatalf("entry %d is %s", i+1, e.Elems()[0].Text())
		}
	}
}

func TestTriggerStartsRuns(t *testing.T) {
	c := newCommitter(t, 5)
	c.must("TRIGGER.SET r job: RUN http://app/flow RETRIES 1")
	c.must("SET job:1 x")
	c.must("TRIGGER.PAUSE r")
	c.must("SET job:2 x")
	runs := 0
	c.a.View(0, [16]byte{}, func(v *fsm.View) {
		runs = v.Workflows().Counts().Active
	})
	if runs != 2 {
		t.Errorf("%d runs", runs)
	}
	out, err := propose(c.deliverer, fsm.Advance, fsm.AdvanceLimit{Deliver: true, Claims: 10, Term: c.l.term})
	if err != nil || len(out.Attempts) != 0 {
		t.Errorf("%d attempts of a paused trigger, %v", len(out.Attempts), err)
	}
	c.must("TRIGGER.RESUME r")
	out, err = propose(c.deliverer, fsm.Advance, fsm.AdvanceLimit{Deliver: true, Claims: 10, Term: c.l.term})
	if err != nil || len(out.Attempts) != 2 {
		t.Errorf("%d attempts, %v", len(out.Attempts), err)
	}
}

// A stream keeps what it is asked to, and no change of it sets off its own trigger.
func TestTriggerToStream(t *testing.T) {
	c := newCommitter(t, 6)
	c.must("TRIGGER.SET f a STREAM a:feed MAXLEN 5 KEEP 60000")
	for i := range 20 {
		c.must(fmt.Sprintf("SET a:%d v", i))
	}
	if v := c.must("XLEN a:feed"); v.Int() != 5 {
		t.Errorf("%d entries", v.Int())
	}
	c.l.now += 120_000
	c.must("SET a:1 v")
	if v := c.must("XLEN a:feed"); v.Int() != 1 {
		t.Errorf("%d entries after two minutes", v.Int())
	}
	c.must("SET a:feed v")
	c.must("SET a:1 v")
	if missed, why := c.field("f", "missed"), c.field("f", "error"); missed != "1" || !strings.Contains(why, "another type") {
		t.Errorf("%s changes missed: %s", missed, why)
	}
}

// A chain of triggers and commits ends.
func TestTriggersEnd(t *testing.T) {
	c := newCommitter(t, 7)
	c.must("TRIGGER.SET loop shop: MESSAGE http://sink/x COMMIT-AS shop RETRIES 0")
	c.must("SET shop:n 0")
	for hop := 1; ; hop++ {
		d := c.answer(200, `[["INCR","shop:n"]]`)
		if d.State != queue.Delivered {
			if hop != queue.MaxHops {
				t.Errorf("the chain ends after %d", hop)
			}
			break
		}
	}
	c.want("shop:n", strconv.Itoa(queue.MaxHops-1))
}

func TestTriggerNeedsRights(t *testing.T) {
	c := newCommitter(t, 8)
	c.must("ACL SETUSER mere on >x ~shop:* +@all")
	as := func(line string) reply.Value { return c.runAs("mere", line) }
	for line, refusal := range map[string]string{
		"TRIGGER.SET t other: MESSAGE http://sink/x":           "NOPERM",
		"TRIGGER.SET t shop: STREAM other":                     "NOPERM",
		"TRIGGER.SET t shop: MESSAGE":                          "ERR",
		"TRIGGER.SET t shop: NOTHING x":                        "ERR syntax",
		"TRIGGER.SET t shop: LANES 65 MESSAGE http://sink/x":   "ERR invalid lanes",
		"TRIGGER.SET t/x shop: MESSAGE http://sink/x":          "ERR invalid name",
		"TRIGGER.SET t shop: VALUES all MESSAGE http://sink/x": "ERR VALUES",
		"TRIGGER.SET t shop: MESSAGE topic-that-is-not-there":  "NOTFOUND",
		"TRIGGER.SET t shop: RUN http://sink/x NO-OPTION 1":    "ERR",
		"TRIGGER.SET t shop: STREAM shop:s MAXLEN -1":          "ERR",
		"TRIGGER.PAUSE t": "NOTFOUND",
	} {
		if v := as(line); !v.IsError() || !strings.HasPrefix(v.Text(), refusal) {
			t.Errorf("%s: %s", line, v.Text())
		}
	}
	if v := as("TRIGGER.SET t shop: MESSAGE http://sink/x"); v.IsError() {
		t.Fatal(v.Text())
	}
	c.must("SET shop:1 x")
	c.must("ACL SETUSER mere resetkeys ~none:*")
	c.must("SET shop:1 x")
	if got := c.claim(); len(got) != 1 || c.field("t", "missed") != "1" {
		t.Errorf("told %v after the right was taken, %s missed", got, c.field("t", "missed"))
	}
	if v := as("TRIGGER.DEL t"); !strings.HasPrefix(v.Text(), "NOPERM") {
		t.Errorf("a trigger is deleted by who may not read its keys: %s", v.Text())
	}
	for i := range queue.MaxTriggers - 1 {
		c.must(fmt.Sprintf("TRIGGER.SET x%d p: MESSAGE http://sink/x", i))
	}
	if v := c.run("TRIGGER.SET one p: MESSAGE http://sink/x"); !strings.HasPrefix(v.Text(), "QUOTA") {
		t.Errorf("one trigger more than there may be: %s", v.Text())
	}
	if n := len(c.must("TRIGGER.LIST").Elems()); n != queue.MaxTriggers {
		t.Errorf("%d triggers", n)
	}
}

// A trigger uses its target with the rights that its user has when a key changes.
func TestTriggerNeedsRightsToItsTarget(t *testing.T) {
	c := newCommitter(t, 10)
	c.must("ACL SETUSER mere on >x ~shop:* ~log +@all")
	for _, line := range []string{"TRIGGER.SET m shop: MESSAGE http://sink/x", "TRIGGER.SET s shop: STREAM log", "TRIGGER.SET r shop: RUN http://app/x"} {
		if v := c.runAs("mere", line); v.IsError() {
			t.Fatal(v.Text())
		}
	}
	c.must("SET shop:1 x")
	c.must("ACL SETUSER mere resetkeys ~shop:* -msg.publish -wf.trigger")
	c.must("SET shop:1 y")
	for _, name := range []string{"m", "s", "r"} {
		if fired, missed := c.field(name, "fired"), c.field(name, "missed"); fired != "2" || missed != "1" {
			t.Errorf("%s: %s fired, %s missed", name, fired, missed)
		}
	}
}

// A flush is told once, whatever the prefix, and begins a feed anew.
func TestTriggerTellsFlush(t *testing.T) {
	c := newCommitter(t, 11)
	c.must("TRIGGER.SET m a: MESSAGE http://sink/x")
	c.must("TRIGGER.SET d a: EVENTS del MESSAGE http://sink/x")
	c.must("TRIGGER.SET f b: STREAM feed")
	c.must("SET a:1 x")
	c.must("SET b:1 x")
	c.must("FLUSHALL")
	if got := fmt.Sprint(c.claim()); got != "[1 set a:1 string > 2 flushdb  none >]" {
		t.Errorf("told %s", got)
	}
	if e := c.must("XRANGE feed - +").Elems(); len(e) != 1 || !strings.HasSuffix(e[0].Elems()[0].Text(), "-2") {
		t.Errorf("the feed has %d entries", len(e))
	}
}

// The queues of a trigger change only where no message waits in them: otherwise one of a key could overtake another.
func TestTriggerKeepsItsLanes(t *testing.T) {
	c := newCommitter(t, 12)
	c.must("TRIGGER.SET m a: LANES 4 MESSAGE http://sink/x")
	c.must("SET a:1 x")
	if v := c.run("TRIGGER.SET m a: LANES 2 MESSAGE http://sink/x"); !strings.HasPrefix(v.Text(), "ERR messages of the trigger that are not done: 1;") {
		t.Errorf("answered %s", v.Text())
	}
	c.must("TRIGGER.SET m a: LANES 4 VALUES new MESSAGE http://sink/y")
	c.claim()
	c.must("TRIGGER.SET m a: LANES 2 MESSAGE http://sink/x")
	var queues []string
	c.a.View(0, [16]byte{}, func(v *fsm.View) {
		for _, q := range v.Messages().Queues(queue.NamePage{Limit: 100}).Elements {
			queues = append(queues, q.Name)
		}
	})
	if got := strings.Join(queues, " "); got != "trigger.m.0 trigger.m.1" {
		t.Errorf("queues %s", got)
	}
	if v := c.run("TRIGGER.SET one a: MESSAGE http://sink/x SINGLETON key=k,mode=skip"); !strings.HasPrefix(v.Text(), "ERR singleton goes without a queue") {
		t.Errorf("a singleton in a queue is answered %s", v.Text())
	}
}

// What triggers make of one command fits into memory, or the command is refused; what nobody can refuse is counted where nothing fits.
func TestTriggersStayWithinMemory(t *testing.T) {
	const limit = 1 << 20
	c := newCommitter(t, 13)
	var n fsm.Settings
	n.MaxMemory = limit
	if _, err := propose(c.deliverer, fsm.Configure, n); err != nil {
		t.Fatal(err)
	}
	c.must("TRIGGER.SET t a: VALUES old,new MESSAGE http://sink/x")
	refused := 0
	for i := 0; i < 20_000 && refused < 50; i++ {
		if v := c.run(fmt.Sprintf("PSETEX a:%d 1000 %s", i, strings.Repeat("x", 200))); v.IsError() {
			refused++
		}
	}
	if refused == 0 {
		t.Fatal("nothing is refused")
	}
	used := func() (n int64) {
		c.a.View(0, [16]byte{}, func(v *fsm.View) { n = v.Totals().Bytes })
		return n
	}
	if n := used(); n > limit+limit/50 {
		t.Errorf("%d bytes are used", n)
	}
	c.l.now += 5000
	for range 100 {
		if _, err := propose(c.deliverer, fsm.Advance, fsm.AdvanceLimit{Term: c.l.term, Sweep: 1000}); err != nil {
			t.Fatal(err)
		}
	}
	if n := used(); n > limit+limit/50 {
		t.Errorf("%d bytes are used after keys have expired", n)
	}
	if v := c.must("DBSIZE"); v.Int() != 0 {
		t.Errorf("%d keys are left", v.Int())
	}
	if missed := c.field("t", "missed"); missed == "" {
		t.Error("a change that has no message is not counted")
	}
}

// One request, which is admitted as a whole or row by row, has its triggers make no more than fits.
func TestTriggersOfARequestStayWithinMemory(t *testing.T) {
	const limit, keys = 2_400_000, 2000
	for name, mode := range map[string]fsm.Mode{"one command": fsm.Single, "a pipeline": fsm.Pipeline} {
		t.Run(name, func(t *testing.T) {
			c := newCommitter(t, 14)
			var n fsm.Settings
			n.MaxMemory = limit
			if _, err := propose(c.deliverer, fsm.Configure, n); err != nil {
				t.Fatal(err)
			}
			del := [][]byte{[]byte("DEL")}
			var rows [][][]byte
			for i := range keys {
				c.must(fmt.Sprintf("SET a:%d %s", i, strings.Repeat("x", 800)))
				key := fmt.Appendf(nil, "a:%d", i)
				del, rows = append(del, key), append(rows, [][]byte{[]byte("DEL"), key})
			}
			if mode == fsm.Single {
				rows = [][][]byte{del}
			}
			c.must("TRIGGER.SET t a: VALUES old,new MESSAGE http://sink/x")
			out, err := propose(c.deliverer, fsm.Exec, fsm.Batch{As: acl.Trusted(acl.DefaultName), Origin: command.OriginHTTP, Mode: mode, Rows: rows})
			if err != nil {
				t.Fatal(err)
			}
			if last := out.Values[len(out.Values)-1]; !last.IsError() || !strings.Contains(last.Text(), "quota exceeded") {
				t.Errorf("the last row is answered %s", last.Text())
			}
			c.a.View(0, [16]byte{}, func(v *fsm.View) {
				if n := v.Totals().Bytes; n > limit+limit/50 {
					t.Errorf("%d bytes are used", n)
				}
			})
		})
	}
}

// Where no memory is left, what would set off a trigger is refused, even if it frees some itself.
func TestTriggerNeedsMemory(t *testing.T) {
	c := newCommitter(t, 9)
	c.must("TRIGGER.SET t a: MESSAGE http://sink/x")
	c.must("SET a:1 x")
	c.must("SET b:1 x")
	var n fsm.Settings
	n.MaxMemory = 1
	if _, err := propose(c.deliverer, fsm.Configure, n); err != nil {
		t.Fatal(err)
	}
	if v := c.run("DEL a:1"); !strings.HasPrefix(v.Text(), "ERR DB capacity quota exceeded") {
		t.Errorf("a change that has a message is answered %s", v.Text())
	}
	if v := c.must("DEL b:1"); v.Int() != 1 {
		t.Error("another key can't be deleted")
	}
	c.must("TRIGGER.DEL t")
	if v := c.must("DEL a:1"); v.Int() != 1 {
		t.Error("without the trigger the key can't be deleted")
	}
}
