package command

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/ascii"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// triggerRows set, show and change triggers.
func triggerRows() []Command {
	const what = "MESSAGE destination [option value [option value ...]] | RUN url [option value [option value ...]] | STREAM stream [MAXLEN count] [KEEP milliseconds]"
	return []Command{
		{Name: "trigger.del", Arity: 2, Flags: Write, Since: env.Files, Cost: costConstant, Work: triggerChangeWork, Doc: Doc{Version: "extension", Complexity: "O(N) in lanes",
			Syntax: "TRIGGER.DEL name", Summary: "Deletes a trigger. What it has made is still delivered. Returns 1, or 0 if there is none of that name."}, Run: triggerDel},
		{Name: "trigger.get", Arity: 2, Flags: ReadOnly | Fast, Since: env.Files, Cost: costConstant, Doc: Doc{Version: "extension", Complexity: "O(N) in lanes",
			Syntax: "TRIGGER.GET name", Summary: "Returns what a trigger is and how it fares, by field, or null if there is none."}, Run: triggerGet},
		{Name: "trigger.list", Arity: 1, Flags: ReadOnly, Since: env.Files, Cost: costConstant, Doc: Doc{Version: "extension", Complexity: "O(N) in triggers, 100 at most",
			Syntax: "TRIGGER.LIST", Summary: "Returns the names of all triggers in their order."}, Run: triggerList},
		{Name: "trigger.pause", Arity: 2, Flags: Write, Since: env.Files, Cost: costConstant, Work: triggerChangeWork, Doc: Doc{Version: "extension", Complexity: "O(N) in lanes",
			Syntax: "TRIGGER.PAUSE name", Summary: "Holds back what a trigger makes of changes: messages wait in its queues, and runs at its flow-control key. No change is lost."}, Run: triggerPause},
		{Name: "trigger.resume", Arity: 2, Flags: Write, Since: env.Files, Cost: costConstant, Work: triggerChangeWork, Doc: Doc{Version: "extension", Complexity: "O(N) in lanes",
			Syntax: "TRIGGER.RESUME name", Summary: "Ends a pause: what has waited is delivered in order."}, Run: triggerResume},
		{Name: "trigger.set", Arity: -5, Flags: Write | DenyOOM, Since: env.Files, Cost: costConstant, Work: triggerSetWork, Doc: Doc{Version: "extension", Complexity: "O(N) in lanes",
			Syntax:  "TRIGGER.SET name prefix [EVENTS event[,event ...]] [TYPES type[,type ...]] [VALUES old,new] [LANES count] " + what,
			Summary: "Sets a trigger: each change of a key with that prefix makes a message, starts a workflow run, or adds an entry to a stream, in the entry of the log that makes the change. Events are those of keyspace notifications. Messages of one key stay in order; LANES divides the keys among that many queues. It reads keys with the rights of who sets it."}, Run: triggerSet},
	}
}

func triggerSetWork(tx *Tx, argv [][]byte) int64 {
	if tx.messages() == nil {
		return 0
	}
	return tx.messages().TriggerPrice(&queue.Trigger{Lanes: queue.MaxLanes}).Work
}

// triggerChangeWork moves what has a slot of the queues of a trigger, or gets one.
func triggerChangeWork(tx *Tx, argv [][]byte) int64 {
	s := tx.messages()
	if s == nil || len(argv) < 2 {
		return 0
	}
	return s.ChangeTriggerPrice(string(argv[1])).Work
}

// listed reads a word that lists some, with commas between them.
func listed(a *Args) []string {
	var list []string
	for word := range strings.SplitSeq(a.String(), ",") {
		if word != "" {
			list = append(list, strings.Clone(word))
		}
	}
	return list
}

func triggerSet(tx *Tx, a *Args) reply.Value {
	t := queue.Trigger{Name: a.String(), Prefix: a.String(), Lanes: 1}
	var refusal error
	for done := false; !done && a.Left() > 0 && !a.bad; {
		switch {
		case a.Word("EVENTS"):
			t.Events = listed(a)
		case a.Word("TYPES"):
			t.Types = listed(a)
		case a.Word("VALUES"):
			for _, v := range listed(a) {
				switch {
				case ascii.Lower(v) == "old":
					t.Old = true
				case ascii.Lower(v) == "new":
					t.New = true
				default:
					a.Fail(reply.Error("ERR VALUES are old, new, or both"))
				}
			}
		case a.Word("LANES"):
			t.Lanes = int(min(a.Int(), queue.MaxLanes+1))
		default:
			refusal, done = triggerTarget(tx, a, &t), true
		}
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	if refusal != nil {
		return refused(refusal)
	}
	if t.Publish.URL == "" && t.Publish.Group == "" && t.Stream == "" {
		return ErrSyntax
	}
	if tx.User == nil || !tx.readsAll(tx.User, t.Prefix) {
		return errTriggerReads
	}
	t.User = tx.User.Name
	if refusal := tx.mayAim(&t); refusal != nil {
		return *refusal
	}
	if tx.messages() == nil {
		return errNoMessages
	}
	if err := tx.messages().PutTrigger(tx.Env, t); err != nil {
		return refused(err)
	}
	tx.Triggers = tx.messages().Triggers()
	return reply.OK()
}

var errTriggerReads = reply.Error("NOPERM a trigger needs the right to read all keys with its prefix")

// triggerTarget reads what a trigger makes of changes.
func triggerTarget(tx *Tx, a *Args, t *queue.Trigger) (refusal error) {
	switch {
	case a.Word("MESSAGE"):
		destination := a.String()
		if t.Publish, refusal = messageOptions(tx, a); refusal == nil {
			refusal = t.Publish.To(destination)
		}
	case a.Word("RUN"):
		t.Target = queue.ToRun
		destination := a.String()
		if t.Publish, refusal = messageOptions(tx, a); refusal == nil {
			refusal = t.Publish.To(destination)
		}
		if refusal == nil && t.Publish.URL == "" {
			refusal = &queue.Error{Code: queue.ErrInvalid.Code, Text: "a workflow needs a URL as its destination"}
		}
	case a.Word("STREAM"):
		t.Target, t.Stream = queue.ToStream, a.String()
		for a.Left() > 0 && !a.bad {
			switch {
			case a.Word("MAXLEN"):
				t.MaxLen = a.Int()
			case a.Word("KEEP"):
				t.Keep = a.Int()
			default:
				a.Fail(ErrSyntax)
			}
		}
	default:
		a.Fail(ErrSyntax)
	}
	return refusal
}

// mayAim refuses a trigger whose target its user may not use by itself.
func (tx *Tx) mayAim(t *queue.Trigger) *reply.Value {
	call := aimCall(t)
	return tx.permit(tx.Table.Find(call), call)
}

func triggerDel(tx *Tx, a *Args) reply.Value {
	v := tx.changeTrigger(a, queue.ActDelete)
	if v.IsError() && strings.HasPrefix(v.Text(), "NOTFOUND ") {
		return reply.Int(0)
	}
	if !v.IsError() {
		return reply.Int(1)
	}
	return v
}

func triggerPause(tx *Tx, a *Args) reply.Value { return tx.changeTrigger(a, queue.ActPause) }

func triggerResume(tx *Tx, a *Args) reply.Value { return tx.changeTrigger(a, queue.ActResume) }

// changeTrigger needs the right to set the trigger.
func (tx *Tx) changeTrigger(a *Args, act queue.Act) reply.Value {
	name := a.String()
	if err, ok := a.Done(); !ok {
		return err
	}
	s := tx.messages()
	if s == nil {
		return errNoMessages
	}
	if t, ok := s.Trigger(name); ok && (tx.User == nil || !tx.readsAll(tx.User, t.Prefix)) {
		return errTriggerReads
	}
	if err := s.ChangeTrigger(tx.Env, name, act); err != nil {
		return refused(err)
	}
	tx.Triggers = s.Triggers()
	return reply.OK()
}

func triggerList(tx *Tx, a *Args) reply.Value {
	if err, ok := a.Done(); !ok {
		return err
	}
	names := []reply.Value{}
	if tx.messages() != nil {
		for _, t := range tx.messages().Triggers() {
			names = append(names, reply.Bulk(t.Name))
		}
	}
	return reply.Array(names...)
}

func triggerGet(tx *Tx, a *Args) reply.Value {
	name := a.String()
	if err, ok := a.Done(); !ok {
		return err
	}
	if tx.messages() == nil {
		return reply.Nil()
	}
	t, ok := tx.messages().Trigger(name)
	if !ok {
		return reply.Nil()
	}
	var fields []reply.Value
	put := func(name string, v reply.Value) { fields = append(fields, reply.Bulk(name), v) }
	text := func(name, v string) {
		if v != "" {
			put(name, reply.Bulk(v))
		}
	}
	put("name", reply.Bulk(t.Name))
	put("prefix", reply.Bulk(t.Prefix))
	text("events", strings.Join(t.Events, ","))
	text("types", strings.Join(t.Types, ","))
	text("values", shownValues(&t))
	put("to", reply.Bulk(t.Target.String()))
	text("destination", t.Publish.URL+t.Publish.Group)
	text("queue", t.Publish.Queue)
	if flow := t.Publish.Flow; flow != nil {
		text("flowControlKey", flow.Key)
	}
	text("stream", t.Stream)
	if t.MaxLen > 0 {
		put("maxlen", reply.Int(t.MaxLen))
	}
	if t.Keep > 0 {
		put("keep", reply.Int(t.Keep))
	}
	put("lanes", reply.Int(int64(t.Lanes)))
	put("user", reply.Bulk(t.User))
	paused := int64(0)
	if t.Paused {
		paused = 1
	}
	put("paused", reply.Int(paused))
	put("fired", reply.Int(int64(t.Fired)))
	put("missed", reply.Int(int64(t.Missed)))
	put("backlog", reply.Int(int64(tx.messages().Backlog(&t))))
	put("createdAt", reply.Int(t.Created))
	put("updatedAt", reply.Int(t.Updated))
	put("firedAt", reply.Int(t.At))
	text("error", t.Error)
	return reply.Array(fields...)
}

func shownValues(t *queue.Trigger) string {
	switch {
	case t.Old && t.New:
		return "old,new"
	case t.Old:
		return "old"
	case t.New:
		return "new"
	}
	return ""
}
