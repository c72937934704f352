package command

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// workflowRows are workflows as commands, so that a transaction or a script can change keys and start, wake or cancel a
// run in one piece.
func workflowRows() []Command {
	return []Command{
		{Name: "wf.cancel", Arity: -2, Flags: Write, Cost: costConstant, Work: wfCancelWork, Doc: Doc{Version: "0.1.0", Complexity: "O(N) in runs named and what they wait for",
			Syntax: "WF.CANCEL workflowRunId [workflowRunId ...]", Summary: "Cancels workflow runs. Nothing of them is delivered any more, and no result is accepted. Returns how many were not over before."}, Run: wfCancel},
		{Name: "wf.notify", Arity: -3, Flags: Write | DenyOOM, Cost: costConstant, Work: wfNotifyWork, Doc: Doc{Version: "0.1.0", Complexity: "O(N) in runs that wait for the event",
			Syntax: "WF.NOTIFY eventId data [RUN workflowRunId]", Summary: "Wakes the workflow runs that wait for an event, and returns their ids in the order in which they began to wait. The ids of runs that keep the event until they wait for it follow: see KEEP-EVENTS of WF.TRIGGER. With RUN only that run is meant, and if it does not wait yet, the notification is kept until it does."}, Run: wfNotify},
		{Name: "wf.trigger", Arity: -3, Flags: Write | DenyOOM, Cost: costConstant, Work: wfTriggerWork, Doc: Doc{Version: "0.1.0", Complexity: "O(log N) in messages and runs",
			Syntax: "WF.TRIGGER url payload [RUN workflowRunId] [option value [option value ...]]", Summary: "Starts a workflow run and returns its id, or null if a run of the id that RUN names lives, or one of the same DEDUPLICATION-ID was started. Options are named like the headers of the HTTP API without their prefix: RETRIES, DELAY, LABEL, FLOW-CONTROL-KEY, FAILURE-CALLBACK, FORWARD-X and so on."}, Run: wfTrigger},
	}
}

func wfTrigger(tx *Tx, a *Args) reply.Value {
	destination, body := a.String(), a.Bytes()
	run, p, own, refusal := runOptions(tx, a)
	if err, ok := a.Done(); !ok {
		return err
	}
	if refusal == nil {
		refusal = p.To(destination)
	}
	if refusal == nil && p.URL == "" {
		refusal = &queue.Error{Code: queue.ErrInvalid.Code, Text: "a workflow needs a URL as its destination"}
	}
	if refusal != nil {
		return refused(refusal)
	}
	if tx.workflows() == nil {
		return errNoMessages
	}
	p.Hops = tx.Hops
	n := workflow.Submission{Kind: workflow.InitSubmission, URL: p.URL, RunID: run, Body: body, Options: p.Options, Origin: workflow.FromREST, DedupID: p.DedupID, ContentDedup: p.ContentDedup}
	n.Ask(own)
	workflow.CompleteStart(&n)
	out, err := tx.workflows().Submit(tx.Env, tx.messages(), workflow.Submissions{Items: []workflow.Submission{n}})
	if err != nil {
		return refused(err)
	}
	switch r := &out.Items[0]; {
	case r.Refused != nil:
		return refused(r.Refused)
	case r.Deduplicated:
		return reply.Nil()
	default:
		return reply.Bulk(r.RunID)
	}
}

// wfTriggerWork returns the steps of cancelling the runs in whose place a trigger comes.
func wfTriggerWork(tx *Tx, argv [][]byte) int64 {
	if p := singletonOf(argv[1], argv[3:]); p != nil && tx.workflows() != nil {
		return tx.workflows().ReplacedWork(p.URL, &p.Options)
	}
	return 0
}

// runOptions are the words behind a payload: pairs of an option and its value, of which RUN names the run.
func runOptions(tx *Tx, a *Args) (run string, p queue.Publication, own queue.RunOptions, refusal error) {
	c := queue.Config{Strict: true}
	for a.Left() > 0 {
		pair := a.Take(2)
		if pair == nil {
			return run, p, own, nil
		}
		if EqualFold(pair[0], "RUN") {
			if run = string(pair[1]); !queue.FitsHeader(run) {
				return run, p, own, &queue.Error{Code: queue.ErrInvalid.Code, Text: "invalid RUN: " + queue.ControlRule}
			}
		} else if err := c.Set(string(pair[0]), string(pair[1])); err != nil {
			return run, p, own, err
		}
	}
	if expression, _, _ := c.Cron(); expression != "" {
		return run, p, own, &queue.Error{Code: queue.ErrInvalid.Code, Text: "schedules are made through the HTTP API"}
	}
	if own = c.RunOptions(); !own.IsZero() && tx.Level < env.Files {
		return run, p, own, &queue.Error{Code: queue.ErrInvalid.Code, Text: workflow.NeedsLevel}
	}
	if p, refusal = c.Done(); refusal == nil {
		refusal = commitsAs(tx, &p)
	}
	return run, p, own, refusal
}

// wfNotifyWork wakes all runs that wait for the event.
func wfNotifyWork(tx *Tx, argv [][]byte) int64 {
	if tx.workflows() == nil {
		return 0
	}
	n := workflow.Notification{EventID: string(argv[1]), Body: argv[2]}
	if len(argv) > 4 {
		n.RunID = string(argv[4])
	}
	return tx.workflows().NotifyAllPrice(tx.Env, &n, tx.allowed()).Work
}

// wfCancelWork ends the runs that are named.
func wfCancelWork(tx *Tx, argv [][]byte) int64 {
	if tx.workflows() == nil {
		return 0
	}
	var n workflow.Cancellation
	for _, id := range argv[1:] {
		n.RunIDs = append(n.RunIDs, string(id))
	}
	return tx.workflows().CancelPrice(tx.Env, &n).Work
}

func wfNotify(tx *Tx, a *Args) reply.Value {
	n := workflow.Notification{EventID: a.String(), Body: a.Bytes()}
	if a.Word("RUN") {
		n.RunID = a.String()
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	if tx.workflows() == nil {
		return errNoMessages
	}
	tx.workflows().WakeAll()
	out, err := tx.workflows().Notify(tx.Env, tx.messages(), n)
	if err != nil {
		return refused(err)
	}
	if err := out.NobodyHasRoom(); err != nil {
		return refused(err)
	}
	ids := make([]reply.Value, len(out.Woken), len(out.Woken)+len(out.Kept))
	for i, w := range out.Woken {
		ids[i] = reply.Bulk(strings.Clone(w.RunID))
	}
	for _, k := range out.Kept {
		if !k.Full {
			ids = append(ids, reply.Bulk(strings.Clone(k.RunID)))
		}
	}
	return reply.Array(ids...)
}

func wfCancel(tx *Tx, a *Args) reply.Value {
	var n workflow.Cancellation
	for a.Left() > 0 {
		n.RunIDs = append(n.RunIDs, a.String())
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	if tx.workflows() == nil {
		return errNoMessages
	}
	out, err := tx.workflows().Cancel(tx.Env, tx.messages(), n)
	if err != nil {
		return refused(err)
	}
	return reply.Int(int64(out.Count))
}
