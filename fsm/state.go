package fsm

import (
	"trireme/fsm/acl"
	"trireme/fsm/command"
	"trireme/fsm/dedup"
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
	config    command.Config
	tokens    acl.Tokens
	sessions  sessions
	db        *keyspace.DB
	retries   *dedup.Table

	digestIndex uint64
	reports     []DigestReport

	table   *command.Table // this binary's, not replicated
	between func()         // called where an apply may let readers in
}

func newState(table *command.Table) *State {
	return &State{level: env.Base, db: keyspace.New(), retries: dedup.New(), table: table}
}

// fork is the state as it is now, in constant time (sessions aside, which are
// small).
func (s *State) fork() *State {
	f := *s
	f.sessions = s.sessions.fork()
	f.reports = append([]DigestReport(nil), s.reports...)
	f.db = s.db.Fork()
	f.retries = s.retries.Fork()
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

// advance removes keys, and replies kept for repeated requests, whose time has come.
func (s *State) advance(e *env.Env, limit AdvanceLimit) (Advanced, error) {
	swept := s.db.Sweep(e, limit.Sweep)
	swept += s.retries.Sweep(e.Now, limit.Sweep-swept)
	return Advanced{Swept: swept}, nil
}

// nextDue is the earliest moment at which Advance has something to do.
func (s *State) nextDue() (unixms int64, ok bool) {
	at, ok := s.db.NextDue()
	if retries, some := s.retries.NextDue(); some && (!ok || retries < at) {
		return retries, true
	}
	return at, ok
}
