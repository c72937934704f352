package fsm

import (
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/script"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// applier applies the entries of the log to a state on this node. It holds the commands and scripts that it runs, the memory that
// it uses again, and how far it is. Nothing of it is replicated, nor is it in snapshots.
type applier struct {
	table    *command.Table // this binary's
	engine   *script.Engine // runs the scripts
	term     uint64         // of the entry that is being applied; every entry sets it
	worked   int64          // by the request that is being applied, in steps
	progress *Progress
	room     rowRoom     // of the batch that is being applied
	idle     *command.Tx // of the last batch; see transaction
	yield    func()      // called where an apply may release the lock for readers; nil: it keeps the lock
	charge   func(n int) // counts work as n commands
}

func newApplier(table *command.Table) applier {
	return applier{table: table, engine: script.NewEngine(), progress: new(Progress)}
}

// fork is for a state that readers get: it applies nothing.
func (a *applier) fork() applier {
	return applier{table: a.table, term: a.term, worked: a.worked, progress: a.progress}
}

// takeOver has a go on where old, whose state is being replaced during an apply, is.
func (a *applier) takeOver(old *applier) {
	a.term, a.table, a.engine, a.progress = old.term, old.table, old.engine, old.progress
	a.yield, a.charge = old.yield, old.charge
}

// pause releases the lock for readers, if the apply may.
func (a *applier) pause() {
	if a.yield != nil {
		a.yield()
	}
}

// lend returns a batch to be read into the room of the applier, nil if another one has it.
func (a *applier) lend() (*Batch, *wire.Codec) {
	r := &a.room
	if r.busy {
		return nil, nil
	}
	r.batch = Batch{room: r}
	return &r.batch, &r.codec
}

// at notes that a database is being worked on.
func (a *applier) at(d *database) { a.progress.Database = d.id }

// transaction returns an empty transaction for a batch: the one that the last batch gave back, since one is large and there
// is one for each write. Recycle gives it back.
func (a *applier) transaction() *command.Tx {
	tx := a.idle
	if tx == nil {
		return new(command.Tx)
	}
	a.idle = nil
	return tx
}

func (a *applier) recycle(tx *command.Tx) {
	tx.Watch = nil
	*tx = command.Tx{}
	a.idle = tx
}
