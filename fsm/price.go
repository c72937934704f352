package fsm

import (
	"fmt"
	"math"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// Every operation of the log has a price, as every command has: its work and the memory that it adds, from its argument and the
// state before. The price is held against the database's budget of work and its memory before anything happens, and is charged to
// the database as work of the entry. See docs/design/fairness.md.
//
// There are three kinds of prices. Those of the cluster's own operations (small, bySize) limit nobody: the operator and the
// nodes send them. Those by argument and state are in packages queue and workflow, next to their operations. Those in pieces are
// of operations that read or change a bounded number of the records that match a filter: the caller repeats them until none is left.
// Finish, Renew and Advance can't be refused, because they record what has happened: they ask for room piece by piece, and leave
// out the pieces that find none (queue.SetRoom).

// small is the price of an operation of the cluster that does little for any argument.
func small[A any](*State, *env.Env, *A) env.Price { return env.Price{Work: operationWork} }

// every is the price of an operation of the cluster that reads each database, session and node.
func every[A any](s *State, _ *env.Env, _ *A) env.Price {
	return env.Price{Work: operationWork + commandWork*int64(s.databases.Len()+len(s.nodes)+len(s.sessions))}
}

// whole is the price of an operation of the operator that goes through all of the state.
func whole[A any](s *State, _ *env.Env, _ *A) env.Price {
	return env.Price{Work: operationWork + s.used()/bytesPerWork}
}

// execPrice is the price of Exec: that of its commands, which each ask for when their turn has come.
func execPrice(_ *State, _ *env.Env, b *Batch) env.Price {
	return env.Price{Work: commandWork * int64(len(b.Rows))}
}

// admit holds the price of an operation against the database's budget of work and its memory. The error is why it is refused.
func (t tenant) admit(e *env.Env, name string, length int, p env.Price) error {
	p.Add(bodyPrice(length))
	limits := t.s.limitsIn(e, t.d)
	if limit := limits.Work(); p.Work > limit {
		return queue.OverWork("'"+name+"'", p.Work, limit)
	}
	if p.Growth > 0 {
		if err := t.reserve(e, p.Growth); err != nil {
			return err
		}
	}
	t.s.applier.worked += p.Work
	return nil
}

// budget is the most work of a request of the database.
func (t tenant) budget(e *env.Env) int64 {
	limits := t.s.limitsIn(e, t.d)
	return limits.Work()
}

// reserve makes room for so many bytes in a database, by evicting keys where that is the policy. The error is why there is none.
func (t tenant) reserve(e *env.Env, growth int64) error {
	s := t.s
	if limit := s.settings.MaxMemory; limit > 0 && s.used()+growth > limit && !s.evictFor(e, growth) {
		return &Error{Code: queue.ErrMemory.Code, Text: fmt.Sprintf("%s. Limit: %d bytes, Actual: %d bytes. Setting: maxMemory", queue.ErrMemory.Text, limit, s.used()+growth)}
	}
	limit := s.memoryLimit(t.d)
	if limit <= 0 || s.usedBy(t.d)+growth <= limit {
		return nil
	}
	// keys that can't make room are not lost for the attempt
	if s.policy(t.d) == keyspace.NoEviction || s.usedBy(t.d)-t.d.keys.Used()+growth > limit || !s.evictOwn(e, t.d, math.MaxUint64, limit-growth) {
		return s.errOwnMemory(t.d, growth)
	}
	return nil
}

// evictFor evicts keys of any database for so many bytes, if all keys together are enough.
func (s *State) evictFor(e *env.Env, growth int64) bool {
	s.settle()
	return s.used()-s.sums.keyBytes+growth <= s.settings.MaxMemory && s.evictDown(e, nil, math.MaxUint64, s.settings.MaxMemory-growth)
}

// left is the number of bytes that the database may still add, queue.Unlimited for any number.
func (t tenant) left(e *env.Env) int64 {
	left := int64(queue.Unlimited)
	if limit := t.s.settings.MaxMemory; limit > 0 {
		left = limit - t.s.used()
	}
	if limit := t.s.memoryLimit(t.d); limit > 0 {
		left = min(left, limit-t.s.usedBy(t.d))
	}
	return left
}

// setRoom tells the stores of a database how much they may add in this apply, and endRoom ends that.
func (t tenant) setRoom(e *env.Env) {
	left := t.left(e)
	t.d.messages.SetRoom(left)
	t.d.workflows.SetRoom(left)
}

func (t tenant) endRoom() {
	t.d.messages.SetRoom(queue.Unlimited)
	t.d.workflows.SetRoom(queue.Unlimited)
}

// messagesPrice and workflowsPrice are prices that the stores compute.
func messagesPrice[A any](price func(*queue.Store, *env.Env, *A) env.Price) func(tenant, *env.Env, *A) env.Price {
	return func(t tenant, e *env.Env, a *A) env.Price { return price(t.d.queue(t.s.blank), e, a) }
}

func workflowsPrice[A any](price func(*workflow.Store, *env.Env, *A) env.Price) func(tenant, *env.Env, *A) env.Price {
	return func(t tenant, e *env.Env, a *A) env.Price { return price(t.d.runs(t.s.blank), e, a) }
}

// messagesPriceWithin and workflowsPriceWithin are prices that are only computed up to the budget.
func messagesPriceWithin[A any](price func(*queue.Store, *env.Env, *A, int64) env.Price) func(tenant, *env.Env, *A) env.Price {
	return func(t tenant, e *env.Env, a *A) env.Price { return price(t.d.queue(t.s.blank), e, a, t.budget(e)) }
}

func workflowsPriceWithin[A any](price func(*workflow.Store, *env.Env, *A, int64) env.Price) func(tenant, *env.Env, *A) env.Price {
	return func(t tenant, e *env.Env, a *A) env.Price { return price(t.d.runs(t.s.blank), e, a, t.budget(e)) }
}

// settingPrice is the price of an operation of a database that changes some numbers.
func settingPrice[A any](tenant, *env.Env, *A) env.Price { return env.Price{Work: commandWork} }
