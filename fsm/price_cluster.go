package fsm

import (
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// The prices of operations that belong to no database. Those of Finish, Renew and Advance cover their work for all databases.

func advancePrice(s *State, e *env.Env, n *AdvanceLimit) (p env.Price) {
	p.Work = commandWork * int64(1+min(n.Sweep, maxSweep))
	if !n.Deliver {
		return p
	}
	for _, d := range s.advancing(e) {
		p.Work += commandWork
		p.Add(d.queue(s.blank).TicksPrice(e.Now, n.ticksOf(d.key())))
		p.Add(d.queue(s.blank).ClaimPrice(e, n.Claims))
	}
	return p
}

func finishPrice(s *State, _ *env.Env, n *queue.Results) (p env.Price) {
	for i := range n.Items {
		if d := s.database(n.Items[i].DB); d != nil {
			messages := d.queue(s.blank)
			p.Add(messages.ResultPrice(&n.Items[i]))
			p.Add(d.runs(s.blank).FailPrice(messages.RunThatFails(&n.Items[i])))
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
	if s.stage.incoming == nil {
		return env.Price{Work: operationWork}
	}
	return env.Price{Work: operationWork + s.used()/bytesPerWork + int64(s.stage.incoming.size)}
}

func importPrice(s *State, _ *env.Env, _ *MessageImport) env.Price {
	if s.stage.incoming == nil {
		return env.Price{Work: operationWork}
	}
	return env.Price{Work: operationWork + int64(s.stage.incoming.size)/2, Growth: importGrowth * int64(s.stage.incoming.size)}
}

// importGrowth is the most memory that a byte of records may count, in bytes: a small record counts its places in the indexes.
const importGrowth = 8

func evictPrice(_ *State, _ *env.Env, n *Eviction) env.Price {
	p := env.Price{Work: operationWork}
	for i := range n.Databases {
		p.Work += 2 * commandWork * int64(len(n.Databases[i].Keys))
	}
	return p
}
