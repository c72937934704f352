package fsm

import (
	"fmt"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// Every database has a memory limit of its own, so that one can't fill Settings.MaxMemory and have the
// writes of all others refused: what the operator has set for it, otherwise a part of MaxMemory. The database default has
// none unless one is set. See docs/design/fairness.md.

// DefaultTenantMemory is the part of Settings.MaxMemory, in percent, that a database other than default may use.
const DefaultTenantMemory = 50

// memoryLimit is the most logical memory of a database in bytes, 0 for no limit but that of the cluster.
func (s *State) memoryLimit(d *database) int64 {
	if own, set := d.config.MemoryLimit(); set {
		return own
	}
	total, percent := s.settings.MaxMemory, s.settings.TenantMemory()
	if d.name == DefaultDB || total <= 0 || percent >= 100 {
		return 0
	}
	return max(1, total/100*percent+total%100*percent/100)
}

// MemoryLimit is the most logical memory of a database in bytes, 0 for no limit but that of the cluster.
func (m *Machine) MemoryLimit(db string) int64 {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if d := m.state.database(db); d != nil {
		return m.state.memoryLimit(d)
	}
	return 0
}

// usedBy is the logical memory of a database with its messages and runs in bytes.
func (s *State) usedBy(d *database) int64 {
	n := d.used()
	if d.name == DefaultDB {
		n += d.workUsed()
	}
	return n - d.uncounted()
}

// uncounted returns the bytes of a database's logical memory that are payloads on the nodes' disks. Only a small
// part of them counts: see docs/design/payloads.md.
func (d *database) uncounted() int64 {
	if d.messages == nil {
		return 0
	}
	return d.messages.Uncounted() + d.workflows.Uncounted()
}

// prepareMemory sets the limits of a transaction's database, and the memory that is used outside its keys.
func (s *State) prepareMemory(tx *command.Tx, d *database) {
	tx.MaxMemory, tx.OwnMax = s.settings.MaxMemory, s.memoryLimit(d)
	s.measure(tx, d)
}

// measure notes the memory used outside the keys of the database that tx runs in.
func (s *State) measure(tx *command.Tx, d *database) {
	if tx.MaxMemory > 0 && !tx.ReadOnly { // reads need no sum of all databases
		tx.OtherMemory = s.used() - d.keys.Used()
	}
	if tx.OwnMax > 0 {
		tx.OwnOther = s.usedBy(d) - d.keys.Used()
	}
}

// MakeRoom evicts keys until memory is within its limits, and reports whether it is: first of the database itself, if that
// is above its own.
func (s *State) MakeRoom(tx *command.Tx) bool {
	d := s.database(tx.Database)
	ok := tx.OwnMax <= 0 || s.evictOwn(tx.Env, d, tx.Began, tx.OwnMax)
	if ok && tx.MaxMemory > 0 {
		ok = s.evictDown(tx.Env, tx.DB, tx.Began, tx.MaxMemory)
	}
	s.measure(tx, d)
	return ok
}

// evictOwn evicts keys of a database until it uses no more than limit, as evictDown does for all of them.
func (s *State) evictOwn(e *env.Env, d *database, before uint64, limit int64) bool {
	p := s.policy(d)
	for over := s.usedBy(d) - limit; over > 0; {
		if p == keyspace.NoEviction {
			return false
		}
		key, ok := d.keys.Oldest(e, p, d.config.SampleSize(), before)
		if !ok {
			return false
		}
		over -= s.evictKey(e, d, key)
	}
	return true
}

// errOwnMemory is the refusal of what would add so many bytes to a database that has no room for them.
func (s *State) errOwnMemory(d *database, growth int64) error {
	return &Error{Code: queue.ErrMemory.Code, Text: fmt.Sprintf("memory limit of database %s reached, nothing was published. Limit: %d bytes, Actual: %d bytes. Setting: maxMemory",
		d.name, s.memoryLimit(d), s.usedBy(d)+growth)}
}

// TenantMemory is TenantMemoryPercent as it is in force.
func (s *Settings) TenantMemory() int64 {
	if s.TenantMemoryPercent < 1 || s.TenantMemoryPercent > 100 {
		return DefaultTenantMemory
	}
	return s.TenantMemoryPercent
}

// SetTenantMemory takes the percentage as people set it. The default is stored as 0, which nodes of the version before
// understand.
func (s *Settings) SetTenantMemory(percent int64) {
	if s.TenantMemoryPercent = percent; percent == DefaultTenantMemory {
		s.TenantMemoryPercent = 0
	}
}

// ShareOfMemory is the DatabaseSettings.MaxMemory of a database for which no limit is set.
const ShareOfMemory = -1

// DatabaseSettings are the settings of one database that the operator makes and its users can't change.
type DatabaseSettings struct {
	Name string
	// MaxMemory is the most logical memory in bytes, 0 for none but that of the cluster, or ShareOfMemory.
	MaxMemory int64
	// Limit is the limit in force, 0 for no limit but that of the cluster. It is for answers.
	Limit int64
	// Changes names the settings that a request changes; 0 is ChangeMemory.
	Changes byte
	// RequestRate limits the requests that each node answers in a second, RequestBurst those at once. A rate of 0 is
	// unlimited; a burst of 0 is the requests of a second.
	RequestRate, RequestBurst int64
}

// What DatabaseSettings.Changes has.
const (
	ChangeMemory byte = 1 << iota
	ChangeRate
)

// Fields codes the value in its wire format.
func (ds *DatabaseSettings) Fields(c *wire.Codec) {
	c.String(&ds.Name)
	c.Varint(&ds.MaxMemory)
	c.Varint(&ds.Limit)
	if c.More(ds.Changes != 0 || ds.RequestRate != 0 || ds.RequestBurst != 0) {
		c.Byte(&ds.Changes)
		c.Varint(&ds.RequestRate)
		c.Varint(&ds.RequestBurst)
	}
}

// configureDatabase changes the settings of a database.
func (s *State) configureDatabase(_ *env.Env, n DatabaseSettings) (DatabaseSettings, error) {
	d := s.database(n.Name)
	if d == nil {
		return DatabaseSettings{}, ErrNoDatabase
	}
	d = s.open(d)
	if n.Changes == 0 || n.Changes&ChangeMemory != 0 {
		d.config.SetMemoryLimit(n.MaxMemory)
	}
	if n.Changes&ChangeRate != 0 {
		d.config.SetRequestRate(n.RequestRate, n.RequestBurst)
	}
	return s.settingsOf(d), nil
}

func (s *State) settingsOf(d *database) DatabaseSettings {
	n := DatabaseSettings{Name: d.name, MaxMemory: ShareOfMemory, Limit: s.memoryLimit(d)}
	if own, set := d.config.MemoryLimit(); set {
		n.MaxMemory = own
	}
	n.RequestRate, n.RequestBurst = d.config.RequestRate()
	return n
}

// DatabaseSettings returns the settings of a database; false if there is none of that name.
func (v *View) DatabaseSettings(name string) (DatabaseSettings, bool) {
	d := v.s.database(name)
	if d == nil {
		return DatabaseSettings{}, false
	}
	return v.s.settingsOf(d), true
}
