package fsm

import (
	"github.com/trireme-dev/trireme/fsm/channel"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/dedup"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/payload"
)

// State is everything that is replicated, and what applies entries to it.
type State struct {
	clusterID string
	clock     int64 // cluster time of the last entry
	wall      int64 // wall time then: at most clock, see env.Time
	epoch     uint64
	level     env.Level
	settings  Settings
	secret    [32]byte // of REST tokens; drawn when the cluster is founded
	serial    uint64   // of databases and their credentials
	tokens    clusterTokens

	sessions  sessions
	nodes     nodeRecords
	opened    Term          // by its leader
	ended     endedSessions // of the console
	retries   *dedup.Table
	digests   digestRound
	fragments fragments // of a large entry that is under way
	stage     stage

	directory // of the databases
	channels  *channel.Book
	keeper    payload.Keeper // of this node, not replicated; nil if payloads stay in memory

	applier applier
}

func newState(table *command.Table, keeper payload.Keeper) *State {
	s := &State{level: env.Base, keeper: keeper, retries: dedup.New(), channels: channel.New(), applier: newApplier(table)}
	s.directory = directory{databases: newDatabases(), generation: new(generation), blank: newBlank(), logins: newTokenIndex()}
	s.insert(s.newDatabase(DefaultDB, 0))
	return s
}

// fork is the state as it is now: the time it takes grows with what is under way, not with the number of databases, nor with
// what they hold.
func (s *State) fork() *State {
	s.settle()
	f := *s
	f.sessions = s.sessions.fork()
	f.digests = s.digests.fork()
	f.retries = s.retries.Fork()
	s.forkDatabases(&f)
	f.channels = s.channels.Fork()
	f.applier = s.applier.fork()
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
