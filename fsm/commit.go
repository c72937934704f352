package fsm

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// A step of a run, and the answer to a delivery, may bring commands. They run in the entry that records the step or the delivery,
// before it is recorded: all of them and the record, or nothing. See docs/design/commits.md.

// MaxCommit is the most commands of one step or answer.
const MaxCommit = 1000

// commits runs the commands of the steps or the answer of one request, which share its budget like the rows of a pipeline.
type commits struct {
	tenant
	e  *env.Env
	tx *command.Tx // nil before the first
	// rows are the last ones that were run.
	rows [][][]byte
}

// run runs commands with the rights of a user, and then record, which says why it recorded nothing. If a command is refused, or record
// refuses, nothing of it has happened; the result says why.
func (c *commits) run(user string, hops uint8, text []byte, record func() *queue.Error) *queue.Error {
	rows, err := command.ReadCommit(text, MaxCommit)
	if err != nil {
		return errCommit("%s", err)
	}
	c.rows = rows
	as := acl.Identity{DB: c.d.name, By: acl.ByProcess, User: user}
	_, u := c.s.resolve(&as)
	if u == nil || !u.Enabled() {
		return errCommit("the user of commit-as is not there any more, or is off")
	}
	if c.tx == nil {
		c.tx = c.s.applier.transaction()
		c.s.prepare(c.tx, c.e, &as, command.OriginHTTP)
	} else {
		c.tx.User = u
		c.s.prepareMemory(c.tx, c.d)
		c.tx.NextRow()
	}
	c.tx.Hops = hops
	var recorded *queue.Error
	at, refused := c.tx.Commit(rows, func() bool {
		recorded = record()
		return recorded == nil
	})
	switch {
	case recorded != nil:
		return recorded
	case refused != nil:
		refusal := errCommit("command %d: %s", at, refused.Text())
		if mayPass(refused.Text()) {
			refusal.Code = queue.ErrCondition.Code
		}
		return refusal
	}
	return nil
}

// end charges the work of the commands to the database.
func (c *commits) end() {
	if c.tx != nil {
		c.s.applier.worked += c.tx.Worked()
		c.s.applier.recycle(c.tx)
	}
}

// submitPrice and answerPrice are the prices of what brings commands: what those do they ask for when they run.
func submitPrice(t tenant, e *env.Env, n *workflow.Submissions) env.Price {
	p := workflowsPriceWithin((*workflow.Store).SubmitPrice)(t, e, n)
	for i := range n.Items {
		p.Work += commitWork(n.Items[i].Commit)
	}
	return p
}

func answerPrice(t tenant, _ *env.Env, a *queue.Answer) env.Price {
	p := t.d.queue(t.s.blank).ResultPrice(&a.Result)
	p.Work += commitWork(a.Commit)
	return p
}

// commitWork is the fixed cost of the commands in a JSON text, of which each begins with a bracket.
func commitWork(text []byte) int64 { return commandWork * int64(bytes.Count(text, []byte{'['})) }

// mayPass reports whether a command that was refused with an error may be accepted another time.
func mayPass(text string) bool {
	code, _, _ := strings.Cut(text, " ")
	return code == command.ConditionCode || code == "OOM"
}

func errCommit(format string, args ...any) *queue.Error {
	return &queue.Error{Code: queue.ErrCommit.Code, Text: queue.ErrCommit.Text + ", and nothing was recorded: " + fmt.Sprintf(format, args...)}
}

// submit takes in submissions, each with its commands if its run has asked for them.
func (t tenant) submit(e *env.Env, n workflow.Submissions) (workflow.Receipts, error) {
	brings := func(n workflow.Submission) bool { return len(n.Commit) > 0 }
	if !slices.ContainsFunc(n.Items, brings) {
		return t.d.workflows.Submit(e, t.d.messages, n)
	}
	c := commits{tenant: t, e: e}
	defer c.end()
	var out workflow.Receipts
	for i := range n.Items {
		if n.Broken(i, out.Items) {
			out.Items = append(out.Items, out.Items[i-1])
			continue
		}
		one, err := c.submit(workflow.Submissions{Items: n.Items[i : i+1]})
		if err != nil {
			return out, err
		}
		out.Items = append(out.Items, one)
	}
	return out, nil
}

// submit takes in one submission.
func (c *commits) submit(one workflow.Submissions) (r workflow.Receipt, err error) {
	record := func() *queue.Error {
		var out workflow.Receipts
		if out, err = c.d.workflows.Submit(c.e, c.d.messages, one); err != nil {
			return errCommit("%s", err)
		}
		r = out.Items[0]
		return r.Refused
	}
	n := &one.Items[0]
	user, hops := "", uint8(0)
	if len(n.Commit) > 0 {
		user, hops = c.d.workflows.CommitsAs(n)
	}
	if user == "" {
		record()
		return r, err
	}
	refusal := c.run(user, hops, n.Commit, func() *queue.Error {
		if refusal := record(); refusal != nil || !r.Deduplicated {
			return refusal
		}
		return errCommit("a command has recorded the step")
	})
	if refusal != nil {
		r = workflow.Receipt{Refused: refusal}
	} else {
		c.keepValues(n, &r)
	}
	return r, err
}

// keepValues keeps the values of keys with a step whose commands were run, if its run asks for that.
func (c *commits) keepValues(n *workflow.Submission, of *workflow.Receipt) {
	run := c.d.workflows.Find(of.RunID, of.Created)
	if run == nil || len(run.KeepValues) == 0 {
		return
	}
	values, bytes := run.ValueRoom()
	list, more := c.tx.ValuesOf(c.rows, run.KeepValues, values, bytes)
	c.d.workflows.KeepValues(c.e, run, &n.Step, list, more, func(growth int64) bool { return c.reserve(c.e, growth) == nil })
}

// finishCommit records the result of an attempt with the commands of its answer. If they are refused the attempt has failed.
func (t tenant) finishCommit(e *env.Env, a queue.Answer) (out queue.Dispositions, err error) {
	c := commits{tenant: t, e: e}
	defer c.end()
	record := func() *queue.Error {
		if out, err = t.d.messages.Finish(e, queue.Results{Items: []queue.Result{a.Result}}); err != nil || out.Items[0].Stale {
			return errCommit("a command has ended the attempt")
		}
		return nil
	}
	user, hops := t.d.messages.CommitsAs(&a.Result)
	if user == "" {
		record()
	} else if refusal := c.run(user, hops, a.Commit, record); refusal != nil && err == nil {
		a.Error = refusal.Text
		record()
	}
	t.d.passReports(e)
	return out, err
}
