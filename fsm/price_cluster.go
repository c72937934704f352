package fsm

import (
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// The prices of operations that are of no database. Those of Finish, Renew and Advance are what they do for all databases.

func advancePrice(s *State, e *env.Env, n *AdvanceLimit) (p env.Price) {
	p.Work = commandWork * int64(len(s.databases)+min(n.Sweep, maxSweep))
	if !n.Deliver {
		return p
	}
	for _, d := range s.databases {
		p.Add(d.messages.TicksPrice(e.Now, n.ticksOf(d.key())))
		p.Add(d.messages.ClaimPrice(e, n.Claims))
	}
	return p
}

func finishPrice(s *State, _ *env.Env, n *queue.Results) (p env.Price) {
	for i := range n.Items {
		if d := s.database(n.Items[i].DB); d != nil {
			p.Add(d.messages.ResultPrice(&n.Items[i]))
		}
	}
	return p
}

func renewPrice(_ *State, _ *env.Env, n *queue.Renewal) env.Price {
	return env.Price{Work: commandWork * int64(1+len(n.Running))}
}

// inDatabasePrice is nothing of its own: that of the operation in it is held against the database.
func inDatabasePrice(*State, *env.Env, *Owned) env.Price { return env.Price{} }

func subscribePrice(_ *State, _ *env.Env, n *Subscribers) env.Price {
	return env.Price{Work: operationWork + commandWork*int64(len(n.Counts))}
}

// stagePrice has what comes in stay until the backup is restored; a node bounds it by the room for it.
func stagePrice(_ *State, _ *env.Env, n *BackupPart) env.Price {
	return env.Price{Work: int64(len(n.Data)) / bytesPerWork}
}

// restorePrice and importPrice are of what was staged: it is unpacked and read.
func restorePrice(s *State, _ *env.Env, _ *BackupRef) env.Price {
	if s.staged == nil {
		return env.Price{Work: operationWork}
	}
	return env.Price{Work: operationWork + s.used()/bytesPerWork + int64(s.staged.size)}
}

func importPrice(s *State, _ *env.Env, _ *MessageImport) env.Price {
	if s.staged == nil {
		return env.Price{Work: operationWork}
	}
	return env.Price{Work: operationWork + int64(s.staged.size)/2, Growth: importGrowth * int64(s.staged.size)}
}

// importGrowth is what a byte of records may count, as a factor: a small record counts its places in the indices.
const importGrowth = 8

func evictPrice(_ *State, _ *env.Env, n *Eviction) env.Price {
	p := env.Price{Work: operationWork}
	for i := range n.Databases {
		p.Work += 2 * commandWork * int64(len(n.Databases[i].Keys))
	}
	return p
}

// The prices of operations on messages and workflows that need to know the budget.

func (t tenant) publishPrice(e *env.Env, n *queue.Publications) env.Price {
	return t.d.messages.PublishPrice(e, n, t.budget(e))
}

func (t tenant) retryDeadPrice(e *env.Env, n *queue.DeadRetry) env.Price {
	return t.d.messages.RetryDeadPrice(e, n, t.budget(e))
}

func (t tenant) submitPrice(e *env.Env, n *workflow.Submissions) env.Price {
	return t.d.workflows.SubmitPrice(e, n, t.budget(e))
}

func (t tenant) revivePrice(e *env.Env, n *workflow.Revival) env.Price {
	return t.d.workflows.RevivePrice(e, n, t.budget(e))
}

func (t tenant) notifyPrice(e *env.Env, n *workflow.Notification) env.Price {
	return t.d.workflows.NotifyPrice(e, n, t.budget(e))
}
