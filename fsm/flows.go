package fsm

import (
	"trireme/fsm/env"
	"trireme/fsm/flow"
	"trireme/fsm/queue"
)

// The operations on workflows. Runs and messages meet here and nowhere else: flow has messages made and dropped, and is
// told what has happened to them.

// told hands over what an apply has done to messages of runs.
func (s *State) told(e *env.Env) {
	if list := s.messages.TakeTold(); len(list) > 0 {
		s.flows.Told(e, s.messages, list)
	}
}

func (s *State) submitSteps(e *env.Env, n flow.Submissions) (flow.Receipts, error) {
	if s.full() {
		return flow.Receipts{}, queue.ErrMemory
	}
	return s.flows.Submit(e, s.messages, n)
}

func (s *State) await(e *env.Env, n flow.Await) (flow.Receipt, error) {
	if s.full() {
		return flow.Receipt{}, queue.ErrMemory
	}
	return s.flows.Await(e, s.messages, n)
}

func (s *State) notifyEvent(e *env.Env, n flow.Notification) (flow.Notified, error) {
	if s.full() {
		return flow.Notified{}, queue.ErrMemory
	}
	return s.flows.Notify(e, s.messages, n)
}

func (s *State) endRun(e *env.Env, n flow.Ending) (flow.RunRef, error) {
	return s.flows.End(e, s.messages, n)
}

func (s *State) cancelRuns(e *env.Env, n flow.Cancellation) (flow.Cancelled, error) {
	return s.flows.Cancel(e, s.messages, n)
}

func (s *State) revive(e *env.Env, n flow.Revival) (flow.Revived, error) {
	if s.full() {
		return flow.Revived{}, queue.ErrMemory
	}
	return s.flows.Revive(e, s.messages, n)
}

func (s *State) deleteDeadRuns(e *env.Env, n flow.DeadSelection) (flow.DeadDeleted, error) {
	return s.flows.DeleteDead(e, n)
}

func (s *State) changeCallback(e *env.Env, n flow.CallbackChange) (flow.RunRef, error) {
	return s.flows.ChangeCallback(e, s.messages, n)
}

func (s *State) configureFlows(e *env.Env, n flow.Settings) (flow.Settings, error) {
	return s.flows.Configure(e, n)
}

// Flows is everything about workflows, for reading: nothing of it may be changed, and it is valid as long as the view.
func (v *View) Flows() *flow.Store { return v.s.flows }
