package fsm

import (
	"fmt"
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

// commit runs commands in an open database with the rights of a user, and then record, which says why it recorded nothing. If a
// command is refused, or record refuses, nothing of it has happened; the result says why.
func (s *State) commit(e *env.Env, d *database, user string, text []byte, record func() *queue.Error) *queue.Error {
	rows, err := command.ReadCommit(text, MaxCommit)
	if err != nil {
		return errCommit("%s", err)
	}
	tx := s.applier.transaction()
	defer s.applier.recycle(tx)
	s.prepare(tx, e, &acl.Identity{DB: d.name, By: acl.ByProcess, User: user}, command.OriginHTTP)
	if tx.User == nil || !tx.User.Enabled() {
		return errCommit("there is no user %q, or it is off", user)
	}
	var recorded *queue.Error
	at, refused := tx.Commit(rows, func() bool {
		recorded = record()
		return recorded == nil
	})
	s.applier.worked += tx.Worked() + commandWork*int64(len(rows))
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

// mayPass reports whether a command that was refused with an error may be accepted another time.
func mayPass(text string) bool {
	code, _, _ := strings.Cut(text, " ")
	return code == command.ConditionCode || code == "OOM"
}

func errCommit(format string, args ...any) *queue.Error {
	return &queue.Error{Code: queue.ErrCommit.Code, Text: queue.ErrCommit.Text + ", and nothing was recorded: " + fmt.Sprintf(format, args...)}
}

// submit takes in submissions in order, each with its commands if its run has asked for them.
func (t tenant) submit(e *env.Env, n workflow.Submissions) (workflow.Receipts, error) {
	var out workflow.Receipts
	for from, to := 0, 0; from < len(n.Items); from = to {
		for to = from; to < len(n.Items) && len(n.Items[to].Commit) == 0; to++ {
		}
		if to == from {
			to++
			r, err := t.submitCommit(e, &n.Items[from])
			if err != nil {
				return out, err
			}
			out.Items = append(out.Items, r)
			continue
		}
		some, err := t.d.workflows.Submit(e, t.d.messages, workflow.Submissions{Items: n.Items[from:to]})
		if err != nil {
			return out, err
		}
		out.Items = append(out.Items, some.Items...)
	}
	return out, nil
}

// submitCommit takes in a step that brings commands.
func (t tenant) submitCommit(e *env.Env, n *workflow.Submission) (r workflow.Receipt, err error) {
	record := func() *queue.Error {
		var out workflow.Receipts
		if out, err = t.d.workflows.Submit(e, t.d.messages, workflow.Submissions{Items: []workflow.Submission{*n}}); err != nil {
			return errCommit("%s", err)
		}
		r = out.Items[0]
		if r.Refused == nil && r.Deduplicated {
			return errCommit("a command has recorded the step")
		}
		return r.Refused
	}
	user := t.d.workflows.CommitsAs(n)
	if user == "" {
		out, err := t.d.workflows.Submit(e, t.d.messages, workflow.Submissions{Items: []workflow.Submission{*n}})
		if err != nil {
			return r, err
		}
		return out.Items[0], nil
	}
	if refusal := t.s.commit(e, t.d, user, n.Commit, record); refusal != nil {
		return workflow.Receipt{Refused: refusal}, err
	}
	return r, err
}

// finish records results in order, each with the commands of its answer if its message has asked for them.
func (t tenant) finish(e *env.Env, items []queue.Result) (out []queue.Disposition, err error) {
	for from, to := 0, 0; from < len(items); from = to {
		for to = from; to < len(items) && len(items[to].Commit) == 0; to++ {
		}
		var some queue.Dispositions
		if to == from {
			to++
			some, err = t.finishCommit(e, items[from])
		} else {
			some, err = t.d.messages.Finish(e, queue.Results{Items: items[from:to]})
		}
		if err != nil {
			return out, err
		}
		out = append(out, some.Items...)
	}
	return out, nil
}

// finishCommit records a result whose answer brings commands. If they are refused the attempt has failed.
func (t tenant) finishCommit(e *env.Env, n queue.Result) (out queue.Dispositions, err error) {
	record := func() *queue.Error {
		if out, err = t.d.messages.Finish(e, queue.Results{Items: []queue.Result{n}}); err == nil && !out.Items[0].Stale {
			return nil
		}
		return errCommit("a command has ended the attempt")
	}
	if user := t.d.messages.CommitsAs(&n); user != "" {
		refusal := t.s.commit(e, t.d, user, n.Commit, record)
		if refusal == nil || err != nil {
			return out, err
		}
		n.Error = refusal.Text
	}
	return t.d.messages.Finish(e, queue.Results{Items: []queue.Result{n}})
}
