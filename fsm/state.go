package fsm

import (
	"trireme/fsm/acl"
	"trireme/fsm/command"
	"trireme/fsm/env"
	"trireme/fsm/keyspace"
	"trireme/fsm/wire"
)

// State is everything that is replicated.
type State struct {
	clusterID string
	clock     int64 // cluster time of the last entry
	epoch     uint64
	level     env.Level
	settings  Settings
	tokens    acl.Tokens
	sessions  sessions
	db        *keyspace.DB

	digestIndex uint64
	reports     []DigestReport

	table   *command.Table // this binary's, not replicated
	between func()         // called where an apply may let readers in
}

func newState(table *command.Table) *State {
	return &State{level: env.Base, db: keyspace.New(), table: table}
}

// fork is the state as it is now, in constant time (sessions aside, which are
// small).
func (s *State) fork() *State {
	f := *s
	f.sessions = s.sessions.fork()
	f.reports = append([]DigestReport(nil), s.reports...)
	f.db = s.db.Fork()
	f.between = nil
	return &f
}

// AdvanceLimit bounds the work of one Advance.
type AdvanceLimit struct{ Sweep int }

// Encode writes the fields.
func (n *AdvanceLimit) Encode(w *wire.Writer) { w.Uvarint(uint64(n.Sweep)) }

// Decode reads the fields.
func (n *AdvanceLimit) Decode(r *wire.Reader) { n.Sweep = int(min(r.Uvarint(), maxSweep)) }

// Advanced says what an Advance did.
type Advanced struct{ Swept int }

// Encode writes the fields.
func (n *Advanced) Encode(w *wire.Writer) { w.Uvarint(uint64(n.Swept)) }

// Decode reads the fields.
func (n *Advanced) Decode(r *wire.Reader) { n.Swept = int(r.Uvarint()) }

// maxSweep is the most keys one Advance removes: what the lock is held for.
const maxSweep = 200

// advance removes keys whose time has come.
func (s *State) advance(e *env.Env, limit AdvanceLimit) (Advanced, error) {
	return Advanced{Swept: s.db.Sweep(e, limit.Sweep)}, nil
}
