package fsm

import (
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/channel"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/dedup"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/script"
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
	tokenSalt   acl.Salt   // of tokens and founded
	adminSerial uint64     // of the admin token: identities it proved name it
	former      formerTokens
	secret      [32]byte // of REST tokens; drawn when the cluster is founded
	serial      uint64   // of databases and their credentials
	sessions    sessions
	nodes       nodeRecords
	opened      Term        // by its leader
	databases   []*database // in the order of their names
	home        *database   // the one named default, which is always there
	retries     *dedup.Table
	channels    *channel.Book
	keeper      payload.Keeper // of this node, not replicated; nil if payloads stay in memory

	digestIndex uint64
	reports     []DigestReport
	staged      *staged       // a backup that is coming in, nil if there is none
	restored    string        // what the last restored backup was staged as
	ended       endedSessions // of the console
	fragments   fragments     // of a large entry that is under way

	term        uint64         // of the entry that is being applied; every entry sets it
	table       *command.Table // this binary's, not replicated
	engine      *script.Engine // runs the scripts of applies, not replicated
	idle        *command.Tx    // of the last batch; see transaction
	yield       func()         // called where an apply may release the lock for readers
	charge      func(n int)    // counts work as n commands
	room        rowRoom        // of the batch that is being applied, not replicated
	quarantines int            // how many databases are in quarantine
	progress    *Progress      // of this node, not replicated
	worked      int64          // by the request that is being applied, in steps; not replicated
}

func newState(table *command.Table, keeper payload.Keeper) *State {
	s := &State{level: env.Base, keeper: keeper, retries: dedup.New(), channels: channel.New(), table: table, engine: script.NewEngine(), progress: new(Progress)}
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
	f.yield, f.charge, f.engine, f.idle, f.room = nil, nil, nil, nil, rowRoom{}
	return &f
}

// maxSweep is the most records one Advance sweeps: what the lock is held for.
const maxSweep = 200

// sweepAll forgets what has no use any more, of every part, at most limit records: keys past their deadline, replies
// kept for repeated requests, and what messages and runs leave behind.
func (s *State) sweepAll(e *env.Env, limit int) (swept int) {
	swept = s.sweep(e, limit)
	swept += s.retries.Sweep(e.Now, limit-swept)
	swept += s.sweepMessages(e, limit-swept)
	return swept + s.sweepWorkflows(e, limit-swept)
}
