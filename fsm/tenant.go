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
//
// Below env.Level2 there were those of the database default only, which users of any database could reach that had the
// category @messages. What was made then stays in default.

// tenant is a database as the operations on messages and workflows see it.
type tenant struct {
	s *State
	d *database
}

// messagingDatabase returns the database whose messages and workflows a request of d works on.
func (s *State) messagingDatabase(d *database) *database {
	if d.messages == nil {
		return s.home
	}
	return d
}

// newStores are empty stores of messages and workflows, whose large payloads the node keeps.
func (s *State) newStores() (*queue.Store, *workflow.Store) {
	messages, workflows := queue.New(), workflow.New()
	messages.UseKeeper(s.keeper)
	workflows.UseKeeper(s.keeper)
	return messages, workflows
}

// open gives a database messages and workflows of its own, and draws its signing keys.
func (s *State) open(e *env.Env, d *database) {
	if d.messages != nil {
		return
	}
	d.messages, d.workflows = s.newStores()
	_, _ = d.messages.Rotate(e, queue.Rotation{}) // which can't be refused
}

// raise puts a feature level into force.
func (s *State) raise(e *env.Env, to env.Level) {
	from := s.level
	s.level = max(s.level, to)
	if from < env.Level2 && s.level >= env.Level2 {
		for _, d := range s.databases {
			s.open(e, d)
			d.users.AllowMessages()
		}
		s.saltTokens()
	}
}

// Owned is the argument of InDatabase: an operation on messages or workflows, and the database that it is for.
type Owned struct {
	// Database is the name, Number the number of the database that the client's credential was judged by: one that was
	// made anew under the name has another.
	Database string
	Number   uint64
	Code     uint16
	Body     []byte
}

// Fields codes the value in its wire format. A decoded Body aliases the input.
func (o *Owned) Fields(c *wire.Codec) {
	c.String(&o.Database)
	c.Uvarint(&o.Number)
	wire.Uint(c, &o.Code)
	c.Bytes(&o.Body)
}

// OwnedResult is the result of an Owned operation.
type OwnedResult struct {
	Code  uint16
	Value any
}

// Fields codes the value in its wire format.
func (or *OwnedResult) Fields(c *wire.Codec) {
	wire.Uint(c, &or.Code)
	op, err := find(or.Code, MaxLevel)
	if err != nil {
		c.Fail(err)
		return
	}
	if !c.Reading() {
		op.encodeResult(c.Writer(), or.Value)
		return
	}
	or.Value, err = op.decodeResult(c.Reader())
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
	if d.messages == nil {
		return
	}
	if list := d.messages.TakeReports(); len(list) > 0 {
		d.workflows.ApplyReports(e, d.messages, list)
	}
}

// The operations on messages, once they are admitted.

func (t tenant) publish(e *env.Env, n queue.Publications) (queue.Receipts, error) {
	if err := t.full(e); err != nil {
		return queue.Receipts{}, err
	}
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
	if err := t.full(e); err != nil {
		return queue.ScheduleRef{}, err
	}
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
	if err := t.full(e); err != nil {
		return workflow.Receipts{}, err
	}
	return t.d.workflows.Submit(e, t.d.messages, n)
}

func (t tenant) await(e *env.Env, n workflow.Await) (workflow.Receipt, error) {
	if err := t.full(e); err != nil {
		return workflow.Receipt{}, err
	}
	return t.d.workflows.Await(e, t.d.messages, n)
}

func (t tenant) notifyEvent(e *env.Env, n workflow.Notification) (workflow.Notified, error) {
	if err := t.full(e); err != nil {
		return workflow.Notified{}, err
	}
	return t.d.workflows.Notify(e, t.d.messages, n)
}

func (t tenant) endRun(e *env.Env, n workflow.Ending) (workflow.RunRef, error) {
	return t.d.workflows.End(e, t.d.messages, n)
}

func (t tenant) cancelRuns(e *env.Env, n workflow.Cancellation) (workflow.Cancelled, error) {
	return t.d.workflows.Cancel(e, t.d.messages, n)
}

func (t tenant) revive(e *env.Env, n workflow.Revival) (workflow.Revived, error) {
	if err := t.full(e); err != nil {
		return workflow.Revived{}, err
	}
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
	if v.bar(db) || d == nil || d.messages == nil {
		d = &database{messages: queue.New(), workflows: workflow.New()}
	}
	v.own = d
}

// shownDatabase returns the database whose messages and workflows are shown.
func (v *View) shownDatabase() *database {
	if v.own == nil {
		return v.s.home
	}
	return v.own
}

// Messages is everything about the messages of the database that In has named, or of default, for reading: nothing of it
// may be changed, and it is valid as long as the view.
func (v *View) Messages() *queue.Store { return v.shownDatabase().messages }

// Workflows is everything about the workflows of that database, in the same way.
func (v *View) Workflows() *workflow.Store { return v.shownDatabase().workflows }

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

// Log proposes requests and reads the state that they made.
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
func (tl tenantLog) Propose(ctx context.Context, code uint16, body []byte) (any, error) {
	out, err := Do(ctx, tl.l, InDatabase, Owned{Database: tl.db, Number: tl.number, Code: code, Body: body})
	return out.Value, err
}

// Read calls fn with a View of the database.
func (tl tenantLog) Read(ctx context.Context, r Reading, fn func(*View)) (ReadAt, error) {
	r.Database = tl.db
	return tl.l.Read(ctx, r, func(v *View) {
		v.In(tl.db)
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
		if d.messages == nil || d.quarantined != 0 {
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
		if d.messages == nil || d.quarantined != 0 {
			continue
		}
		if t, found := d.messages.Overdue(); found && (!ok || t < at) {
			at, ok = t, true
		}
	}
	return at, ok
}
