package fsm

import (
	"trireme/fsm/acl"
	"trireme/fsm/channel"
	"trireme/fsm/command"
	"trireme/fsm/dedup"
	"trireme/fsm/env"
	"trireme/fsm/wire"
)

// State is everything that is replicated.
type State struct {
	clusterID string
	clock     int64 // cluster time of the last entry
	epoch     uint64
	level     env.Level
	settings  Settings
	// tokens are the cluster's own; those of databases belong to their users.
	tokens      acl.Tokens
	founded     acl.Tokens // those that the cluster was founded with last
	adminSerial uint64     // of the admin token: identities it proved name it
	secret      [32]byte   // of REST tokens; drawn when the cluster is founded
	serial      uint64     // of databases and their credentials
	sessions    sessions
	databases   []*database // in the order of their names
	home        *database   // the one named default, which is always there
	retries     *dedup.Table
	channels    *channel.Book

	digestIndex uint64
	reports     []DigestReport

	table   *command.Table // this binary's, not replicated
	between func()         // called where an apply may let readers in
}

func newState(table *command.Table) *State {
	s := &State{level: env.Base, retries: dedup.New(), channels: channel.New(), table: table}
	s.home = s.newDatabase(DefaultDB, 0)
	s.databases = []*database{s.home}
	return s
}

// fork is the state as it is now: the time it takes grows with what is under way and
// with the number of databases, not with what they hold.
func (s *State) fork() *State {
	f := *s
	f.sessions = s.sessions.fork()
	f.reports = append([]DigestReport(nil), s.reports...)
	f.retries = s.retries.Fork()
	f.databases = make([]*database, len(s.databases))
	for i, d := range s.databases {
		f.databases[i] = d.fork()
	}
	i, _ := f.place(DefaultDB)
	f.home = f.databases[i]
	f.channels = s.channels.Fork()
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
	swept := s.sweep(e, limit.Sweep)
	swept += s.retries.Sweep(e.Now, limit.Sweep-swept)
	return Advanced{Swept: swept}, nil
}
