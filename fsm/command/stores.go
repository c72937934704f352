package command

import (
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// Deliveries are the messages and the workflow runs of a database. Both are nil if there are none, and until a command asks
// Stores for them.
type Deliveries struct {
	Messages  *queue.Store
	Workflows *workflow.Store
	Stores    Stores
}

// Stores gives a transaction the messages and the workflow runs of its database. Most transactions never ask.
type Stores interface {
	GiveStores(tx *Tx)
	// Measure counts anew the memory that is used outside the keys of the database.
	Measure(tx *Tx)
}

// messages returns the messages of the database, nil if it has none.
func (tx *Tx) messages() *queue.Store {
	if tx.Messages == nil && tx.Stores != nil {
		tx.Stores.GiveStores(tx)
	}
	return tx.Messages
}

// workflows returns the workflow runs of the database, nil if it has none.
func (tx *Tx) workflows() *workflow.Store {
	tx.messages()
	return tx.Workflows
}
