package fsm

import (
	"context"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/wire"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// A database is a tenant: it has messages, queues, schedules, URL groups, signing keys, runs and their limits of its own,
// and nothing that one does reaches those of another. docs/tenancy.md says of every resource whose it is.

// tenant is a database as the operations on messages and workflows see it.
type tenant struct {
	s *State
	d *database
}

// newStores are empty stores of messages and workflows, whose large payloads the node keeps.
func (s *State) newStores() (*queue.Store, *workflow.Store) {
	messages, workflows := queue.New(), workflow.New()
	messages.UseKeeper(s.keeper)
	workflows.UseKeeper(s.keeper)
	return messages, workflows
}

// raise puts a feature level into force.
func (s *State) raise(to env.Level) { s.level = max(s.level, to) }

// Owned is the argument of InDatabase: an operation on messages or workflows, and the database that it is for.
type Owned struct {
	// Database is the name, Number the number of the database that the client's credential was judged by: one that was
	// made anew under the name has another.
	Database string
	Number   uint64
	Code     uint16
	Body     []byte
}

// Fields are those of the format; Body aliases what it is read from.
func (n *Owned) Fields(c *wire.Codec) {
	c.String(&n.Database)
	c.Uvarint(&n.Number)
	wire.Uint(c, &n.Code)
	c.Bytes(&n.Body)
}

// OwnedResult is what the operation has answered.
type OwnedResult struct {
	Code  uint16
	Value any
}

// Fields are those of the format.
func (n *OwnedResult) Fields(c *wire.Codec) {
	wire.Uint(c, &n.Code)
	op, err := find(n.Code, MaxLevel)
	if err != nil {
		c.Fail(err)
		return
	}
	if !c.Reading() {
		op.encodeResult(c.Writer(), n.Value)
		return
	}
	n.Value, err = op.decodeResult(c.Reader())
	c.Fail(err)
}

func (s *State) inDatabase(e *env.Env, n Owned) (OwnedResult, error) {
	d := s.database(n.Database)
	if d == nil || d.id != n.Number {
		return OwnedResult{}, ErrNoDatabase
	}
	op, err := find(n.Code, s.level)
	if err != nil {
		return OwnedResult{}, ErrMalformed
	}
	e.Database = d.name
	v, err := op.runIn(tenant{s, d}, e, n.Body)
	return OwnedResult{n.Code, v}, err
}

// passReports passes on to the workflows what an apply has done to messages of runs.
func (d *database) passReports(e *env.Env) {
	if list := d.messages.TakeReports(); len(list) > 0 {
		d.workflows.ApplyReports(e, d.messages, list)
	}
}

// The operations on messages, once they are admitted.

func (t tenant) publish(e *env.Env, n queue.Publications) (queue.Receipts, error) {
	return t.d.messages.Publish(e, n)
}

func (t tenant) cancelMessages(e *env.Env, n queue.Cancellation) (queue.Cancelled, error) {
	return t.d.messages.Cancel(e, n)
}

func (t tenant) runNow(e *env.Env, n queue.RunNow) (Ack, error) {
	if err := t.d.messages.RunNow(e, n); err != nil {
		return Ack{}, err
	}
	t.d.workflows.RanNow(e, t.d.messages, n.ID)
	return Ack{}, nil
}

func (t tenant) bulkCancel(e *env.Env, n queue.BulkCancellation) (queue.BulkAction, error) {
	return t.d.messages.BulkCancel(e, n)
}

func (t tenant) bulkCancelRuns(e *env.Env, n workflow.BulkCancellation) (queue.BulkAction, error) {
	return t.d.workflows.BulkCancel(e, t.d.messages, n)
}

func (t tenant) changeQueue(e *env.Env, n queue.QueueChange) (queue.Queue, error) {
	return t.d.messages.ChangeQueue(e, n)
}

func (t tenant) putSchedule(e *env.Env, n queue.SchedulePut) (queue.ScheduleRef, error) {
	return t.d.messages.PutSchedule(e, n)
}

func (t tenant) changeSchedule(e *env.Env, n queue.ScheduleChange) (queue.ScheduleRef, error) {
	return t.d.messages.ChangeSchedule(e, n)
}

func (t tenant) runSchedule(e *env.Env, n queue.ScheduleRef) (queue.Receipt, error) {
	return t.d.messages.RunSchedule(e, n)
}

func (t tenant) changeGroup(e *env.Env, n queue.GroupChange) (queue.Group, error) {
	return t.d.messages.ChangeGroup(e, n)
}

func (t tenant) changeFlowControl(e *env.Env, n queue.FlowControlChange) (queue.FlowControlInfo, error) {
	return t.d.messages.ChangeFlowControl(e, n)
}

func (t tenant) setParallelism(e *env.Env, n queue.Parallelism) (queue.Parallelism, error) {
	return t.d.messages.SetParallelism(e, n)
}

func (t tenant) rotateKeys(e *env.Env, n queue.Rotation) (queue.Keys, error) {
	return t.d.messages.Rotate(e, n)
}

func (t tenant) deleteDead(e *env.Env, n queue.DeadSelection) (queue.DeadDeleted, error) {
	return t.d.messages.DeleteDead(e, n)
}

func (t tenant) retryDead(e *env.Env, n queue.DeadRetry) (queue.DeadRetried, error) {
	return t.d.messages.RetryDead(e, n)
}

func (t tenant) configureMessages(e *env.Env, n queue.Settings) (queue.Settings, error) {
	return t.d.messages.Configure(e, n)
}

func (t tenant) submitSteps(e *env.Env, n workflow.Submissions) (workflow.Receipts, error) {
	return t.d.workflows.Submit(e, t.d.messages, n)
}

func (t tenant) await(e *env.Env, n workflow.Await) (workflow.Receipt, error) {
	return t.d.workflows.Await(e, t.d.messages, n)
}

func (t tenant) notifyEvent(e *env.Env, n workflow.Notification) (workflow.Notified, error) {
	return t.d.workflows.Notify(e, t.d.messages, n)
}

func (t tenant) endRun(e *env.Env, n workflow.Ending) (workflow.RunRef, error) {
	return t.d.workflows.End(e, t.d.messages, n)
}

func (t tenant) cancelRuns(e *env.Env, n workflow.Cancellation) (workflow.Cancelled, error) {
	return t.d.workflows.Cancel(e, t.d.messages, n)
}

func (t tenant) revive(e *env.Env, n workflow.Revival) (workflow.Revived, error) {
	return t.d.workflows.Revive(e, t.d.messages, n)
}

func (t tenant) deleteDeadRuns(e *env.Env, n workflow.DeadSelection) (workflow.DeadDeleted, error) {
	return t.d.workflows.DeleteDead(e, n)
}

func (t tenant) changeCallback(e *env.Env, n workflow.CallbackChange) (workflow.RunRef, error) {
	return t.d.workflows.ChangeCallback(e, t.d.messages, n)
}

func (t tenant) configureWorkflows(e *env.Env, n workflow.Settings) (workflow.Settings, error) {
	return t.d.workflows.Configure(e, n)
}

// In has Messages and Workflows show those of a database (empty: default) from now on; those of none are empty.
func (v *View) In(db string) {
	d := v.s.database(db)
	if v.bar(db) || d == nil {
		d = &database{messages: queue.New(), workflows: workflow.New()}
	}
	v.own = d
}

// shown is the database whose messages and workflows are shown.
func (v *View) shown() *database {
	if v.own == nil {
		return v.s.home
	}
	return v.own
}

// Messages is everything about the messages of the database that In has named, or of default, for reading: nothing of it
// may be changed, and it is valid as long as the view.
func (v *View) Messages() *queue.Store { return v.shown().messages }

// Workflows is everything about the workflows of that database, in the same way.
func (v *View) Workflows() *workflow.Store { return v.shown().workflows }

// MessagesOf is Messages of a database (empty: default); those of none are empty.
func (v *View) MessagesOf(db string) *queue.Store {
	v.In(db)
	return v.Messages()
}

// WorkflowsOf is Workflows of a database (empty: default); those of none are empty.
func (v *View) WorkflowsOf(db string) *workflow.Store {
	v.In(db)
	return v.Workflows()
}

// Log is where requests are proposed to, and what they made is read from.
type Log interface {
	Proposer
	Reader
}

// InTenant is a log in which operations on messages and workflows, and Views of them, are those of a database (empty:
// default). number is View.Database of it, when the client's credential was judged.
func InTenant(l Log, db string, number uint64) Log {
	if db == "" || db == DefaultDB {
		return l
	}
	return tenantLog{l, db, number}
}

type tenantLog struct {
	l      Log
	db     string
	number uint64
}

// Propose puts the operation into InDatabase.
func (t tenantLog) Propose(ctx context.Context, code uint16, body []byte) (any, error) {
	out, err := Do(ctx, t.l, InDatabase, Owned{Database: t.db, Number: t.number, Code: code, Body: body})
	return out.Value, err
}

// Read calls fn with a View of the database.
func (t tenantLog) Read(ctx context.Context, r Reading, fn func(*View)) (ReadAt, error) {
	r.Database = t.db
	return t.l.Read(ctx, r, func(v *View) {
		v.In(t.db)
		fn(v)
	})
}

// Database is the number of a database (empty: default), which one that is made anew under its name has not; 0 if there
// is no such database.
func (v *View) Database(name string) uint64 {
	if d := v.s.database(name); d != nil {
		return d.id
	}
	return 0
}

// DueSchedules are the schedules of all databases whose next tick has come at now, or has to be computed: of each database
// at most limit divided by the number of those that have some, and at least one.
func (v *View) DueSchedules(now int64, limit int) (all []queue.Schedule) {
	var lists [][]queue.Schedule
	for _, d := range v.s.databases {
		if d.quarantined != 0 {
			continue
		}
		list := d.messages.DueSchedules(now, limit)
		for i := range list {
			list[i].DB = d.key()
		}
		if len(list) > 0 {
			lists = append(lists, list)
		}
	}
	for _, list := range lists {
		all = append(all, list[:min(len(list), max(limit/len(lists), 1))]...)
	}
	return all
}

// Overdue is the earliest time, in unix milliseconds, at which a message of some database is or was to be claimed.
func (v *View) Overdue() (at int64, ok bool) {
	for _, d := range v.s.databases {
		if d.quarantined != 0 {
			continue
		}
		if t, some := d.messages.Overdue(); some && (!ok || t < at) {
			at, ok = t, true
		}
	}
	return at, ok
}
