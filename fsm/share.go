package fsm

import (
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// Where a cluster has several databases, an entry does only so much work for each of them: what a database asks for
// beyond its part is deferred, and its node proposes it again. An entry is answered as a whole, so without that bound a
// database that sends many expensive requests at once would keep all others waiting until the last of them is done. See
// docs/design/fairness.md.

const (
	// EntryShare is the work, in steps, that an entry does for a database before it defers the requests that follow:
	// about 10 ms. The request that passes it is still executed whole.
	EntryShare = 100_000
	// commandWork is the fixed cost of a command, in steps, operationWork that of any other operation.
	commandWork   = 10
	operationWork = 50
	// bytesPerWork is the number of bytes of an operation's body that cost a step.
	bytesPerWork = 64
)

// DatabaseOf names the database of whose share a request is, by its operation and body: false for one that is of
// nobody's. The name aliases the body, and is empty for the default one.
func DatabaseOf(code uint16, body []byte) (name []byte, ok bool) {
	switch {
	case code == Exec.Code || code == InDatabase.Code: // both begin with it
		r := wire.NewReader(body)
		name = r.Bytes()
		return name, r.Err() == nil
	case int(code) < len(byCode) && byCode[code] != nil:
		return nil, byCode[code].isOwned()
	}
	return nil, false
}

// Databases returns the number of databases. It takes no lock.
func (m *Machine) Databases() int { return int(m.databases.Load()) }

// payer returns the database that pays for a request. It is nil while there is only one database: then no shares are kept.
func (s *State) payer(q *Request) *database {
	if s.databases.Len() < 2 || q.Session == 0 {
		return nil
	}
	name, ok := DatabaseOf(q.Code, q.Body)
	if !ok {
		return nil
	}
	if len(name) == 0 {
		return s.home
	}
	return s.database(string(name))
}

// done returns the work that the entry of that index has done for the database, in steps.
func (d *database) done(index uint64) int64 {
	if d.workedAt != index {
		return 0
	}
	return d.worked
}

// bodyPrice is the price of reading the argument of an operation, and of recording it.
func bodyPrice(length int) env.Price {
	return env.Price{Work: operationWork + int64(length)/bytesPerWork}
}

// chargeShare adds the work of a request, which is its price, to what the entry has done for the database, and returns it.
func (s *State) chargeShare(e *env.Env, d *database, q *Request) int64 {
	steps := s.applier.worked
	if q.Code != Exec.Code {
		steps = max(steps, bodyPrice(len(q.Body)).Work) // that of one that was refused
	}
	d = s.open(d)
	d.workedAt, d.worked = e.Index, d.done(e.Index)+steps
	return steps
}

// limitsIn returns the limits of requests that write to a database. Databases other than default have a part of the budgets:
// their users don't trust each other.
func (s *State) limitsIn(e *env.Env, d *database) command.Limits {
	limits := s.settings.Limits
	if d.name != DefaultDB && !e.ReadOnly {
		limits.Part(s.settings.TenantWork())
	}
	return limits
}
