package fsm

import (
	"fmt"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// A database is in quarantine from the entry on whose apply ended the nodes: nothing of that entry and of the later ones that
// is the database's is done, on any node, until the operator releases it or deletes it. What it has stays as it was before that
// entry. Every node puts it into quarantine before it applies the entry, not where the log has the operator's word: the
// adapter of package cluster looks for that ahead. See docs/design/poison.md.

// ErrQuarantined is the outcome of every request of a database in quarantine: nothing was changed.
var ErrQuarantined = &Error{Code: "quarantined", Text: "the database is in quarantine: one of its requests ended the nodes of the cluster. Its operator can export, release or delete it"}

// ErrNotQuarantined refuses a release.
var ErrNotQuarantined = &Error{Code: "not-quarantined", Text: "the database is not in quarantine"}

// QuarantineOrder says that a database is in quarantine from the entry at Index on, which lies before the order.
type QuarantineOrder struct {
	Database      string
	Number, Index uint64
}

// Fields codes the value in its wire format.
func (qo *QuarantineOrder) Fields(c *wire.Codec) {
	c.String(&qo.Database)
	c.Uvarint(&qo.Number)
	c.Uvarint(&qo.Index)
}

// QuarantineResult says what became of an order. It is no part of the state.
type QuarantineResult struct {
	QuarantineOrder
	// Missed says that this node has applied the entry before it knew of the order: its state is not that of the others.
	Missed bool
}

// Fields codes the value in its wire format.
func (qr *QuarantineResult) Fields(c *wire.Codec) {
	qr.QuarantineOrder.Fields(c)
	c.Bool(&qr.Missed)
}

// quarantine looks whether the database has been in quarantine since the entry.
func (s *State) quarantine(e *env.Env, n QuarantineOrder) (QuarantineResult, error) {
	d := s.database(n.Database)
	switch {
	case n.Index == 0 || n.Index >= e.Index:
		return QuarantineResult{}, ErrMalformed
	case d == nil || d.id != n.Number: // it was deleted by an entry between
		return QuarantineResult{}, ErrNoDatabase
	}
	return QuarantineResult{n, d.quarantined == 0}, nil
}

// release ends the quarantine of a database.
func (s *State) release(_ *env.Env, n DatabaseName) (DatabaseInfo, error) {
	d := s.database(n.Name)
	switch {
	case d == nil:
		return DatabaseInfo{}, ErrNoDatabase
	case d.quarantined == 0:
		return DatabaseInfo{}, ErrNotQuarantined
	}
	d = s.open(d)
	d.quarantined = 0
	return d.info(), nil
}

// Isolate puts a database into quarantine before the entry at n.Index is applied, and reports whether there is one of that
// number.
func (m *Machine) Isolate(n QuarantineOrder) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.state.database(n.Database)
	if d == nil || d.id != n.Number {
		return false
	}
	if d.quarantined == 0 {
		m.state.open(d).quarantined = n.Index
		m.state.close()
	}
	return true
}

// Isolated reports whether what an order says is so in the state, or means nothing any more: the database has gone.
func (m *Machine) Isolated(n QuarantineOrder) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	d := m.state.database(n.Database)
	return d == nil || d.id != n.Number || d.quarantined != 0
}

// refusesAll reports whether a request is of a database in quarantine.
func (s *State) refusesAll(q *Request) bool {
	if s.databases.Sum().traits&isQuarantined == 0 {
		return false
	}
	name, ok := DatabaseOf(q.Code, q.Body)
	if !ok {
		return false
	}
	d := s.database(string(name))
	return d != nil && d.quarantined != 0
}

// Orders are the orders of an entry of that term in the log, none if it has no requests of that kind.
func Orders(data []byte, term uint64) (all []QuarantineOrder) {
	n, err := DecodeEntry(data)
	if err != nil || n.Term != term {
		return nil
	}
	for i := range n.Requests {
		if n.Requests[i].Code == Quarantine.Code {
			if order, err := Quarantine.Argument(n.Requests[i].Body); err == nil {
				all = append(all, order)
			}
		}
	}
	return all
}

// Missed is an order that this node has not followed, by the outcomes of the entry that it was in.
func Missed(outcomes []Outcome) (n QuarantineOrder, missed bool) {
	for i := range outcomes {
		if outcomes[i].Code != Quarantine.Code {
			continue
		}
		if r, is := outcomes[i].Value.(QuarantineResult); is && r.Missed && outcomes[i].Err == nil {
			return r.QuarantineOrder, true
		}
	}
	return n, false
}

// Barred is ErrQuarantined if the database that was read last is in quarantine: what was read of it means nothing.
func (v *View) Barred() error {
	if v.barred {
		return ErrQuarantined
	}
	return nil
}

// bar notes which database is read now, and reports whether that is in quarantine. A view that has gone on to another one since
// is not barred.
func (v *View) bar(db string) bool {
	v.barred = false
	if v.s.databases.Sum().traits&isQuarantined != 0 {
		d := v.s.database(db)
		v.barred = d != nil && d.quarantined != 0
	}
	return v.barred
}

// Quarantines are the databases in quarantine, each with the index of the entry since which it is.
func (v *View) Quarantines() (all []QuarantineOrder) {
	for d := v.s.first(has(isQuarantined)); d != nil; d = v.s.after(d, has(isQuarantined)) {
		all = append(all, QuarantineOrder{d.name, d.id, d.quarantined})
	}
	return all
}

// quarantineFields are a record of sectionQuarantine.
func (d *database) quarantineFields(c *wire.Codec) {
	c.String(&d.name)
	c.Uvarint(&d.quarantined)
}

// quarantine takes in that a database is in quarantine.
func (l *loading) quarantine(record []byte) error {
	c, one := wire.Decoder(record), database{}
	one.quarantineFields(c)
	if err := c.Done(); err != nil {
		return err
	}
	d := l.s.database(one.name)
	if d == nil || d.quarantined != 0 || one.quarantined == 0 {
		return fmt.Errorf("%w: quarantine of %.70q", errOrder, one.name)
	}
	d.quarantined = one.quarantined
	return nil
}
