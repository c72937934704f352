package fsm_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// committer drives machines whose runs and messages bring commands.
type committer struct{ *deliverer }

func newCommitter(t *testing.T, seed uint64) *committer {
	c := &committer{newDeliverer(t, seed)}
	c.run("ACL SETUSER shop on >secret ~shop:* +@all")
	return c
}

// run is the reply to a command of the user default.
func (c *committer) run(line string) reply.Value {
	c.t.Helper()
	return c.runAs(acl.DefaultName, line)
}

func (c *committer) runAs(user, line string) reply.Value {
	c.t.Helper()
	var argv [][]byte
	for _, w := range strings.Fields(line) {
		argv = append(argv, []byte(w))
	}
	out, err := propose(c.deliverer, fsm.Exec, fsm.Batch{As: acl.Trusted(user), Origin: command.OriginHTTP, Rows: [][][]byte{argv}})
	if err != nil {
		c.t.Fatal(err)
	}
	return out.Values[0]
}

// want fails unless a key has a value; an empty one stands for no key.
func (c *committer) want(key, value string) {
	c.t.Helper()
	v := c.run("GET " + key)
	if got := v.Text(); got != value || v.IsNil() != (value == "") {
		c.t.Errorf("%s is %q, not %q", key, got, value)
	}
}

func (c *committer) submit(n workflow.Submission) workflow.Receipt {
	c.t.Helper()
	out, err := propose(c.deliverer, fsm.Submit, workflow.Submissions{Items: []workflow.Submission{n}})
	if err != nil {
		c.t.Fatal(err)
	}
	return out.Items[0]
}

// begin starts a run whose steps act for a user.
func (c *committer) begin(id, user string) {
	c.t.Helper()
	n := workflow.Submission{Kind: workflow.InitSubmission, URL: "http://app/flow", RunID: id, Body: []byte("{}")}
	if user != "" {
		n.CommitAs, n.Given = user, queue.GivenCommit
	}
	if r := c.submit(n); r.Refused != nil {
		c.t.Fatal(r.Refused)
	}
}

func step(run string, id uint32, commit string) workflow.Submission {
	return workflow.Submission{
		Kind: workflow.StepSubmission, URL: "http://app/flow", RunID: run, Body: fmt.Appendf(nil, `{"stepId":%d,"out":"x"}`, id), Commit: []byte(commit),
		Step: workflow.Step{ID: id, Concurrent: 1, Type: workflow.RunStep, Name: "s"},
	}
}

// entries is the length of a run's log.
func (c *committer) entries(run string) (n int) {
	c.a.View(0, [16]byte{}, func(v *fsm.View) {
		if r := v.Workflows().Find(run, 0); r != nil {
			n = int(r.Entries)
		}
	})
	return n
}

// messages is the number of messages, those of runs among them.
func (c *committer) messages() (n int) {
	c.a.View(0, [16]byte{}, func(v *fsm.View) { n = v.Messages().Counts().Messages })
	return n
}

func TestStepCommitsItsCommands(t *testing.T) {
	c := newCommitter(t, 1)
	c.begin("r", "shop")
	if r := c.submit(step("r", 1, `[["SET","shop:a",1],["INCR","shop:a"],["MSG.PUBLISH","http://sink/x","hello","RETRIES",0]]`)); r.Refused != nil {
		t.Fatal(r.Refused)
	}
	c.want("shop:a", "2")
	if r := c.submit(step("r", 1, `[["INCR","shop:a"]]`)); !r.Deduplicated {
		t.Errorf("the same step again: %+v", r)
	}
	c.want("shop:a", "2")
	if n := c.entries("r"); n != 2 {
		t.Errorf("the log has %d entries", n)
	}
	if n := c.messages(); n != 3 {
		t.Errorf("%d messages: there are those of two entries, and the one that was published", n)
	}
}

// A step sets the state of its run with its commands, or neither happens.
func TestStateIsOneWithTheCommands(t *testing.T) {
	c := newCommitter(t, 1)
	c.begin("r", "shop")
	submit := func(id uint32, commit, state string) workflow.Receipt {
		n := step("r", id, commit)
		n.State = []byte(state)
		return c.submit(n)
	}
	want := func(state string, version uint64) {
		t.Helper()
		c.a.View(0, [16]byte{}, func(v *fsm.View) {
			d := v.Workflows().Find("r", 0).Data
			if d == nil {
				d = &workflow.Data{}
			}
			if string(d.State) != state || d.Version != version {
				t.Errorf("the state is %s of version %d, not %s of %d", d.State, d.Version, state, version)
			}
		})
	}
	if r := submit(1, `[["SET","shop:a",1],["IF","shop:b","EXISTS"]]`, `1`); r.Refused == nil {
		t.Error("a condition that does not hold is accepted")
	}
	want("", 0)
	if r := submit(1, `[["SET","shop:a",1]]`, `"`+strings.Repeat("x", workflow.MaxState)+`"`); r.Refused == nil || !strings.Contains(r.Refused.Text, "too large") {
		t.Errorf("a state that is too large: %+v", r.Refused)
	}
	c.want("shop:a", "")
	want("", 0)
	for range 2 {
		if r := submit(1, `[["INCR","shop:a"]]`, `2`); r.Refused != nil {
			t.Fatal(r.Refused)
		}
	}
	c.want("shop:a", "1")
	want("2", 1)
	c.begin("plain", "") // whose commands nobody has asked for
	n := step("plain", 1, `[["INCR","shop:a"]]`)
	n.State = []byte("3")
	if r := c.submit(n); r.Refused != nil {
		t.Fatal(r.Refused)
	}
	c.want("shop:a", "1")
	c.a.View(0, [16]byte{}, func(v *fsm.View) {
		if d := v.Workflows().Find("plain", 0).Data; d == nil || string(d.State) != "3" {
			t.Errorf("%+v", d)
		}
	})
}

// An event that a command of a refused commit has notified is kept nowhere.
func TestRefusedCommitKeepsNoEvent(t *testing.T) {
	c := newCommitter(t, 1)
	c.begin("r", "shop")
	keeps := workflow.Submission{Kind: workflow.InitSubmission, URL: "http://app/flow", RunID: "keeps", Body: []byte("{}"), Keep: []string{"e*"}}
	if r := c.submit(keeps); r.Refused != nil {
		t.Fatal(r.Refused)
	}
	for i, commit := range []string{`[["WF.NOTIFY","e1","x"],["IF","shop:a","EXISTS"]]`, `[["WF.NOTIFY","e1","x"]]`} {
		c.submit(step("r", 1, commit))
		c.a.View(0, [16]byte{}, func(v *fsm.View) {
			if n := len(v.Workflows().SavedFor(v.Workflows().Find("keeps", 0).No)); n != i {
				t.Errorf("%s: %d are kept", commit, n)
			}
		})
	}
}

// A commit that is refused changes nothing: no key, no message, no run and no step.
func TestRefusedCommitChangesNothing(t *testing.T) {
	before := `["SET","shop:b","1"],["MSG.PUBLISH","http://sink/x","hello"],["WF.TRIGGER","http://app/other","{}"],`
	for name, refused := range map[string]struct{ commands, text string }{
		"a condition":          {before + `["IF","shop:a","EQ","3"]`, "command 4: CONDITION"},
		"a key of others":      {before + `["SET","other","1"]`, "command 4: NOPERM"},
		"an unknown command":   {before + `["NOTHING"]`, "command 4: ERR Unknown Redis command"},
		"what scripts may not": {before + `["EVAL","return 1","0"]`, "command 4: ERR This Redis command is not allowed from script"},
		"a wrong type":         {before + `["LPUSH","shop:b","1"]`, "command 4: WRONGTYPE"},
		"its own run":          {before + `["WF.CANCEL","r"]`, "workflow run"},
		"an empty command":     {`[]`, "not a JSON array of commands"},
		"no array":             {`{"a":1}`, "not a JSON array of commands"},
		"too much work":        {before + strings.Repeat(`["MSG.CANCEL","x"],`, fsm.MaxCommit) + `["PING"]`, "too many. Limit: 1000 commands"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCommitter(t, 2)
			c.run("SET shop:a 1")
			c.begin("r", "shop")
			messages := c.messages()
			r := c.submit(step("r", 1, "["+refused.commands+"]"))
			if r.Refused == nil || !strings.Contains(r.Refused.Text, refused.text) {
				t.Fatalf("the receipt is %+v", r.Refused)
			}
			c.want("shop:a", "1")
			c.want("shop:b", "")
			if n := c.entries("r"); n != 1 || c.messages() != messages {
				t.Errorf("the log has %d entries, and there are %d messages instead of %d", n, c.messages(), messages)
			}
			if r := c.submit(step("r", 1, `[["SET","shop:b","2"]]`)); r.Refused != nil {
				t.Errorf("the step can't be recorded any more: %s", r.Refused)
			}
			c.want("shop:b", "2")
		})
	}
}

// Commands count only where they were asked for, and with the rights that their user has when they run.
func TestCommitNeedsItsUser(t *testing.T) {
	c := newCommitter(t, 3)
	c.begin("plain", "")
	if r := c.submit(step("plain", 1, `[["SET","shop:a","1"]]`)); r.Refused != nil {
		t.Fatal(r.Refused)
	}
	c.want("shop:a", "")
	c.begin("r", "shop")
	for _, change := range []string{"ACL SETUSER shop off", "ACL DELUSER shop"} {
		c.run(change)
		if r := c.submit(step("r", 1, `[["SET","shop:a","1"]]`)); !errors.Is(r.Refused, queue.ErrCommit) {
			t.Errorf("after %s the receipt is %+v", change, r)
		}
	}
	c.want("shop:a", "")
}

// answer claims a message and records an answer to it.
func (c *committer) answer(status int, commit string) queue.Disposition {
	c.t.Helper()
	out, err := propose(c.deliverer, fsm.Advance, fsm.AdvanceLimit{Deliver: true, Claims: 10, Term: c.l.term})
	if err != nil || len(out.Attempts) != 1 {
		c.t.Fatalf("%d attempts, %v", len(out.Attempts), err)
	}
	n := queue.Answer{Result: queue.Result{AttemptRef: out.Attempts[0].Ref(), Response: queue.Response{Status: status}, RetryDelay: 1}, Commit: []byte(commit)}
	done, err := propose(c.deliverer, fsm.FinishCommit, n)
	if err != nil {
		c.t.Fatal(err)
	}
	again, err := propose(c.deliverer, fsm.FinishCommit, n) // as a leader that asks twice
	if err != nil || !again.Items[0].Stale {
		c.t.Errorf("the second result counts: %+v, %v", again.Items[0], err)
	}
	return done.Items[0]
}

func TestAnswerCommitsItsCommands(t *testing.T) {
	c := newCommitter(t, 4)
	asked := queue.Options{Given: queue.GivenCommit | queue.GivenRetries, CommitAs: "shop", Retries: 3}
	c.publish(queue.Publication{URL: "http://sink/x", Options: asked})
	if d := c.answer(200, `[["INCR","shop:a"],["IF","shop:b","EXISTS"]]`); d.State != queue.Retry {
		t.Fatalf("a refused commit leaves %+v", d)
	}
	c.want("shop:a", "")
	c.l.now += 1000
	if d := c.answer(500, `[["INCR","shop:a"]]`); d.State != queue.Retry {
		t.Fatalf("a failure leaves %+v", d)
	}
	c.want("shop:a", "")
	c.l.now += 1000
	if d := c.answer(200, `[["INCR","shop:a"]]`); d.State != queue.Delivered {
		t.Fatalf("an answer leaves %+v", d)
	}
	c.want("shop:a", "1")
	c.publish(queue.Publication{URL: "http://sink/x"})
	if d := c.answer(200, `[["INCR","shop:a"]]`); d.State != queue.Delivered {
		t.Fatalf("an answer leaves %+v", d)
	}
	c.want("shop:a", "1")
}

// Of any commands a step takes all or none, on a machine that is replayed from its snapshot as on the one before.
func TestCommitsAreWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	c := newCommitter(t, 5)
	c.begin("r", "shop")
	model := map[string]int{}
	for id := uint32(1); id <= 300; id++ {
		var rows []string
		after, fails := map[string]int{}, false
		for k, v := range model {
			after[k] = v
		}
		for range 1 + r.IntN(4) {
			key := fmt.Sprintf("shop:%d", r.IntN(5))
			switch r.IntN(5) {
			case 0:
				rows = append(rows, fmt.Sprintf(`["IF",%q,"EQ","%d"]`, key, model[key]+r.IntN(2)))
				if !strings.HasSuffix(rows[len(rows)-1], fmt.Sprintf(`"%d"]`, after[key])) || after[key] == 0 {
					fails = true
				}
			case 1:
				rows, fails = append(rows, fmt.Sprintf(`["HSET",%q,"f","1"]`, key)), fails || after[key] != 0
				if after[key] == 0 {
					rows = append(rows, fmt.Sprintf(`["DEL",%q]`, key))
				}
			default:
				rows = append(rows, fmt.Sprintf(`["INCR",%q]`, key))
				after[key]++
			}
		}
		got := c.submit(step("r", id, "["+strings.Join(rows, ",")+"]"))
		if (got.Refused != nil) != fails {
			t.Fatalf("step %d with %s is answered %v", id, rows, got.Refused)
		}
		if fails {
			c.submit(step("r", id, ""))
		} else {
			model = after
		}
		if id%50 == 0 {
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
	for k, v := range model {
		c.want(k, fmt.Sprint(v))
	}
}

// A run of another database acts there, for a user of that database.
func TestCommitActsInItsDatabase(t *testing.T) {
	c := newCommitter(t, 6)
	if _, err := propose(c.deliverer, fsm.CreateDatabase, fsm.DatabaseTokens{Name: "other", Standard: acl.DigestOf("s"), ReadOnly: acl.DigestOf("r")}); err != nil {
		t.Fatal(err)
	}
	in := func(n workflow.Submission) workflow.Receipt {
		t.Helper()
		var number uint64
		c.a.View(0, [16]byte{}, func(v *fsm.View) { number = v.Database("other") })
		out, err := propose(c.deliverer, fsm.InDatabase, fsm.Owned{
			Database: "other", Number: number, Code: fsm.Submit.Code, Body: fsm.Submit.Body(workflow.Submissions{Items: []workflow.Submission{n}}),
		})
		if err != nil {
			t.Fatal(err)
		}
		return out.Value.(workflow.Receipts).Items[0]
	}
	begun := workflow.Submission{Kind: workflow.InitSubmission, URL: "http://app/flow", RunID: "r", Body: []byte("{}"), Options: queue.Options{Given: queue.GivenCommit, CommitAs: "shop"}}
	in(begun)
	if r := in(step("r", 1, `[["SET","shop:a","1"]]`)); !errors.Is(r.Refused, queue.ErrCommit) {
		t.Errorf("a user of default acts in another database: %+v", r)
	}
	begun.RunID, begun.CommitAs = "d", acl.DefaultName
	in(begun)
	if r := in(step("d", 1, `[["SET","shop:a","1"]]`)); r.Refused != nil {
		t.Error(r.Refused)
	}
	c.want("shop:a", "")
}

// The steps of one request share its budget of work, and what they do is charged to their database.
func TestCommitsOfARequestShareItsBudget(t *testing.T) {
	c := newCommitter(t, 7)
	var limits fsm.Settings
	limits.SetWork(2500, 1_000_000)
	if _, err := propose(c.deliverer, fsm.Configure, limits); err != nil {
		t.Fatal(err)
	}
	c.begin("r", "shop")
	c.run("SETRANGE shop:large 63999 x")
	const thousand = `[["INCR","shop:n"],["BITCOUNT","shop:large"]]` // steps
	var n workflow.Submissions
	for id := range uint32(4) {
		n.Items = append(n.Items, step("r", id+1, thousand))
	}
	n.Items = append(n.Items, step("r", 5, ""))
	out, err := propose(c.deliverer, fsm.Submit, n)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range out.Items {
		over := r.Refused != nil && strings.Contains(r.Refused.Text, "max request work exceeded")
		if want := i == 2 || i == 3; over != want || !want && r.Refused != nil {
			t.Errorf("step %d is answered %v", i+1, r.Refused)
		}
	}
	c.want("shop:n", "2")
}
