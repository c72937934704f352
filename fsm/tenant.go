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
	messages.Raise(s.level)
	workflows.Raise(s.level)
	return messages, workflows
}

// raise puts a feature level into force.
func (s *State) raise(to env.Level) {
	if to <= s.level {
		return
	}
	s.level, s.blank = to, s.blank.raised(to)
	for d := s.first(nil); d != nil; d = s.after(d, nil) {
		if d.messages != nil {
			d = s.openWork(d)
			d.messages.Raise(to)
			d.workflows.Raise(to)
			s.close()
		}
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
	s.applier.at(d)
	d = s.openWork(d)
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

// inMessages and inWorkflows apply an operation, once it is admitted, to the messages or the workflows of its database; inRuns
// to workflows that publish and cancel messages.
func inMessages[A, R any](apply func(*queue.Store, *env.Env, A) (R, error)) func(tenant, *env.Env, A) (R, error) {
	return func(t tenant, e *env.Env, a A) (R, error) { return apply(t.d.messages, e, a) }
}

func inWorkflows[A, R any](apply func(*workflow.Store, *env.Env, A) (R, error)) func(tenant, *env.Env, A) (R, error) {
	return func(t tenant, e *env.Env, a A) (R, error) { return apply(t.d.workflows, e, a) }
}

func inRuns[A, R any](apply func(*workflow.Store, *env.Env, *queue.Store, A) (R, error)) func(tenant, *env.Env, A) (R, error) {
	return func(t tenant, e *env.Env, a A) (R, error) { return apply(t.d.workflows, e, t.d.messages, a) }
}

func (t tenant) runNow(e *env.Env, n queue.RunNow) (Ack, error) {
	if err := t.d.messages.RunNow(e, n); err != nil {
		return Ack{}, err
	}
	t.d.workflows.RanNow(e, t.d.messages, n.ID)
	return Ack{}, nil
}

// In has Messages and Workflows show those of a database (empty: default) from now on; those of none are empty.
func (v *View) In(db string) {
	d := v.s.database(db)
	if v.bar(db) || d == nil {
		d = new(database)
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
func (v *View) Messages() *queue.Store { return v.shownDatabase().queue(v.s.blank) }

// Workflows is everything about the workflows of that database, in the same way; on a fork with the runs that are in volumes.
func (v *View) Workflows() *workflow.Store {
	d := v.shownDatabase()
	if v.e.Bounded || d.workflows == nil {
		return d.runs(v.s.blank)
	}
	if v.thawing.of != d {
		v.thawing.of, v.thawing.runs = d, d.workflows.Thawing()
	}
	return v.thawing.runs
}

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

// DueSchedules are the schedules of all databases whose next tick has come, or has to be computed: of each database
// at most limit divided by the number of those that have some, and at least one.
func (v *View) DueSchedules(limit int) (all []queue.Schedule) {
	var lists [][]queue.Schedule
	due := func(n *summary) bool { return n.ticking(v.e.Time) }
	for d := v.s.first(due); d != nil; d = v.s.after(d, due) {
		list := d.messages.DueSchedules(v.e.Time, limit)
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
	at = v.s.databases.Sum().overdue
	return at, at != never
}
