package fsm

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/script"
	"github.com/trireme-dev/trireme/fsm/search"
	"github.com/trireme-dev/trireme/fsm/wire"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// DefaultDB is the database at the root of the HTTP API. It always exists.
const DefaultDB = "default"

// MaxDatabases bounds how many databases a cluster may have: each takes some kilobytes on every node.
const MaxDatabases = 100_000

// formerMaxDatabases is that bound below the feature level env.Files: each database was looked at by every entry.
const formerMaxDatabases = 1000

// maxDatabases is the most databases at a feature level.
func maxDatabases(level env.Level) int {
	if level < env.Files {
		return formerMaxDatabases
	}
	return MaxDatabases
}

// The refusals of operations on databases.
var (
	ErrDatabaseName  = &Error{Code: "database-name", Text: "a database's name has 1 to 64 letters, digits, hyphens or underscores and begins with a letter or digit"}
	ErrDatabaseTaken = &Error{Code: "database-exists", Text: "there is a database of that name"}
	ErrNoDatabase    = &Error{Code: "no-database", Text: "there is no database of that name"}
	ErrDatabases     = &Error{Code: "databases", Text: "the cluster has as many databases as it may have: 100000, or 1000 below feature level 3"}
	ErrKeepDefault   = &Error{Code: "default-database", Text: "the database default can't be deleted"}
	ErrTokens        = &Error{Code: "tokens", Text: "a database needs two different tokens"}
)

// database is one keyspace with everything that belongs to it.
type database struct {
	name    string
	id      uint64 // never given twice
	created int64  // cluster time in unix milliseconds
	keys    *keyspace.DB
	users   *acl.Store
	quota   quota
	config  command.Config
	scripts *script.Store
	search  *search.Store
	// messages and workflows are nil until they are used: then signing has the keys of messages.
	messages  *queue.Store
	workflows *workflow.Store
	signing   queue.Keys
	// worked counts the steps that the entry of the index workedAt has done for the database. It means nothing after it.
	worked   int64
	workedAt uint64
	// quarantined is the index of the entry from which on it is in quarantine, 0 if it is not.
	quarantined uint64

	// What follows belongs to the State, see open: which of its generations may change the database, or its messages and runs, in
	// place, whether it is open, and what it counts for.
	generation, workGeneration *generation
	changing                   bool
	counted                    sums
	summary                    summary
	saves                      uint64     // the State's when it was opened last
	indexed                    *acl.Store // the users whose tokens are in the index of logins, nil before that
}

// newDatabase is an empty database without credentials. It shares what is blank with all others.
func (s *State) newDatabase(name string, now int64) *database {
	s.serial++
	return &database{name: name, id: s.serial, created: now, keys: s.blank.keys, scripts: s.blank.scripts, search: s.blank.search,
		users: s.newUsers(s.serial, s.serial), saves: s.saves}
}

// insert takes a new database in.
func (s *State) insert(d *database) {
	d.summary, d.counted = s.summarize(d), s.count(d)
	s.sums.add(&d.counted, &sums{})
	s.index(d)
	s.settleDown(d)
}

// used is the logical memory of the database in bytes.
func (d *database) used() int64 {
	n := d.keys.Used() + d.users.Size() + d.scripts.Size() + d.search.Size()
	if d.name != DefaultDB { // those of default are counted by State.usedBy, as ever
		n += d.workUsed()
	}
	return n
}

// workUsed is the logical memory of messages and runs in bytes.
func (d *database) workUsed() int64 {
	if d.messages == nil {
		return 0
	}
	return d.messages.Used() + d.workflows.Used()
}

// database returns the database of a name, nil if there is none. The empty name is the default. It is for reading: see open.
func (s *State) database(name string) *database {
	if name == "" || name == DefaultDB {
		return s.home
	}
	return s.lookup(name)
}

// used is the logical memory of all databases and of messages in bytes.
func (s *State) used() int64 {
	bytes := s.sums.used
	for _, d := range s.changing {
		bytes += s.usedBy(d) - d.counted.used
	}
	return bytes
}

// sweep removes up to limit keys past their deadline, of the databases in the order of
// their names.
func (s *State) sweep(e *env.Env, limit int) (swept int) {
	due := func(n *summary) bool { return n.expires(e.Time) }
	for d := s.first(due); d != nil && swept < limit; d = s.after(d, due) {
		s.applier.at(d)
		if d = s.open(d); !d.holdsExpiry(e.Now) {
			e.Database = d.name
			tx := s.witness(e, d)
			tx.Arm()
			tx.Witness(func() { swept += d.keys.Sweep(e, tx.Slower(limit-swept)) })
		}
		s.close()
	}
	e.Watch = nil
	return swept
}

// witness is a transaction that tells of what happens to keys of d without a command.
func (s *State) witness(e *env.Env, d *database) *command.Tx {
	tx := &command.Tx{Env: e, DB: d.keys, Users: d.users, Config: &d.config, Channels: s.channels.In(d.name), Table: s.applier.table}
	if d.messages != nil {
		tx.Stores, tx.Triggers = s, d.messages.Triggers()
		s.prepareMemory(tx, d)
	}
	return tx
}

// sweepMessages forgets what messages and runs leave behind, at most limit records.
func (s *State) sweepMessages(e *env.Env, limit int) (swept int) {
	due := func(n *summary) bool { return n.messages <= e.Now }
	for d := s.first(due); d != nil && swept < limit; d = s.after(d, due) {
		s.applier.at(d)
		d = s.openWork(d)
		swept += d.messages.Sweep(e, limit-swept)
		s.close()
	}
	return swept
}

// sweepWorkflows does the same for runs.
func (s *State) sweepWorkflows(e *env.Env, limit int) (swept int) {
	due := func(n *summary) bool { return n.runs <= e.Now }
	for d := s.first(due); d != nil && swept < limit; d = s.after(d, due) {
		s.applier.at(d)
		d = s.openWork(d)
		swept += d.workflows.Sweep(e, d.messages, limit-swept)
		swept += d.workflows.SweepBulk(e, d.messages, limit-swept)
		s.close()
	}
	return swept
}

// DatabaseName names a database.
type DatabaseName struct{ Name string }

// Fields codes the value in its wire format.
func (n *DatabaseName) Fields(c *wire.Codec) { c.String(&n.Name) }

// DatabaseTokens are the digests of the two tokens of a database, as they are stored under
// Salt: that of View.TokenSalt.
type DatabaseTokens struct {
	Name               string
	Standard, ReadOnly acl.Digest
	Salt               acl.Salt
}

// Fields codes the value in its wire format.
func (dt *DatabaseTokens) Fields(c *wire.Codec) {
	c.String(&dt.Name)
	c.Fixed(dt.Standard[:])
	c.Fixed(dt.ReadOnly[:])
	if c.More(dt.Salt != acl.Salt{}) {
		c.Fixed(dt.Salt[:])
	}
}

// usable reports whether the tokens can be told apart.
func (dt *DatabaseTokens) usable() bool {
	none := acl.Digest{}
	return dt.Standard != none && dt.ReadOnly != none && dt.Standard != dt.ReadOnly
}

// DatabaseInfo describes a database.
type DatabaseInfo struct {
	Name string
	// Created is cluster time in unix milliseconds; 0 for a database as old as the cluster.
	Created int64
	// Keys counts those past their deadline that are not swept yet, too.
	Keys int
	// Bytes is logical memory, as --max-memory counts it.
	Bytes int64
	// Users counts the built-in ones too.
	Users int
	// Quarantined is the index of the entry from which on the database is in quarantine, 0 if it is not.
	Quarantined uint64
}

// Fields codes the value in its wire format.
func (di *DatabaseInfo) Fields(c *wire.Codec) {
	c.String(&di.Name)
	c.Varint(&di.Created)
	wire.Uint(c, &di.Keys)
	c.Varint(&di.Bytes)
	wire.Uint(c, &di.Users)
	if c.More(di.Quarantined != 0) {
		c.Uvarint(&di.Quarantined)
	}
}

func (d *database) info() DatabaseInfo {
	return DatabaseInfo{Name: d.name, Created: d.created, Keys: d.keys.Len(), Bytes: d.used(), Users: d.users.Len(), Quarantined: d.quarantined}
}

// maxDatabaseName is the longest name in bytes: URLs and every entry have it.
const maxDatabaseName = 64

// ValidDatabaseName reports whether a database may have that name.
func ValidDatabaseName(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && (i == 0 || (c != '-' && c != '_')) {
			return false
		}
	}
	return len(name) > 0 && len(name) <= maxDatabaseName
}

func (s *State) createDatabase(e *env.Env, n DatabaseTokens) (DatabaseInfo, error) {
	switch {
	case !ValidDatabaseName(n.Name):
		return DatabaseInfo{}, ErrDatabaseName
	case s.database(n.Name) != nil:
		return DatabaseInfo{}, ErrDatabaseTaken
	case s.databases.Len() >= maxDatabases(s.level):
		return DatabaseInfo{}, ErrDatabases
	case !n.usable():
		return DatabaseInfo{}, ErrTokens
	}
	d := s.newDatabase(strings.Clone(n.Name), e.Now)
	d.setTokens(n)
	d.signing, _ = s.blank.messages.WithKeys(queue.Keys{}).Rotate(e, queue.Rotation{}) // which can't be refused
	s.insert(d)
	return d.info(), nil
}

// deleteDatabase removes a database with all its data. Numbers of its credentials are
// not given again, so that a later database of the name knows none of its identities.
func (s *State) deleteDatabase(e *env.Env, n DatabaseName) (DatabaseInfo, error) {
	d := s.lookup(n.Name)
	switch {
	case d == nil:
		return DatabaseInfo{}, ErrNoDatabase
	case n.Name == DefaultDB:
		return DatabaseInfo{}, ErrKeepDefault
	}
	s.endOverlaps(n.Name)
	d = s.open(d)
	s.serial = max(s.serial, d.users.Serial())
	s.remove(d)
	s.channels.DropDatabase(d.name)
	e.Notifications = append(e.Notifications, env.Notification{Kind: env.Deleted, DB: d.name})
	return d.info(), nil
}

// resetTokens replaces both tokens of a database: whatever the old ones proved is
// nobody's from this entry on.
func (s *State) resetTokens(_ *env.Env, n DatabaseTokens) (DatabaseInfo, error) {
	d := s.lookup(n.Name)
	switch {
	case d == nil:
		return DatabaseInfo{}, ErrNoDatabase
	case !n.usable():
		return DatabaseInfo{}, ErrTokens
	}
	s.endOverlaps(n.Name)
	d = s.open(d)
	d.setTokens(n)
	return d.info(), nil
}

func (d *database) setTokens(n DatabaseTokens) {
	d.users.SetToken(acl.DefaultName, n.Standard, n.Salt)
	d.users.SetToken(acl.ReadOnlyName, n.ReadOnly, n.Salt)
}

// drawSecret draws what REST tokens are made with. It comes from the entry, so that
// every node has it; it is as secret as the log and its snapshots are.
func (s *State) drawSecret(e *env.Env) {
	for i := range s.secret {
		s.secret[i] = byte(e.Uint64())
	}
	s.changeAll(func(d *database) {
		d.users.SetKey(s.secret, d.id)
		s.index(d)
	})
}

// setTokens takes over the tokens that a cluster is founded with.
func (s *State) setTokens(t acl.Tokens, salt acl.Salt) {
	for len(s.tokens.former) > 0 {
		s.dropFormer(0)
	}
	s.open(s.home).setTokens(DatabaseTokens{Standard: t[acl.Standard], ReadOnly: t[acl.ReadOnly], Salt: salt})
	s.tokens.found(t, salt)
}

// encode writes a record of sectionDatabase: the state of a database without its users and keys.
func (d *database) encode(w *wire.Writer) {
	w.String(d.name)
	w.Uvarint(d.id)
	w.Varint(d.created)
	w.Uvarint(d.users.Serial())
	w.Varint(d.quota.day)
	w.Varint(d.quota.taken)
	w.String(d.config.Notify.String())
	w.Record(d.keys.EncodeHistory)
	d.config.EncodeSettings(w)
}

// blankHistory is what keyspace.DB.EncodeHistory writes of a database in which nothing was ever stored.
const blankHistory = "\x00\x00"

func (s *State) decodeDatabase(r *wire.Reader) *database {
	d := &database{name: r.String(), id: r.Uvarint(), created: r.Varint(), generation: s.generation, workGeneration: s.generation}
	d.users = s.newUsers(d.id, r.Uvarint())
	d.quota, d.scripts, d.search = quota{r.Varint(), r.Varint()}, s.blank.scripts, s.blank.search
	d.config.Notify, _ = command.ParseEvents(r.String())
	d.keys = s.blank.keys
	if history := r.Bytes(); string(history) != blankHistory {
		d.keys = keyspace.New()
		d.keys.DecodeHistory(wire.NewReader(history))
	}
	d.config.DecodeSettings(r)
	return d
}

// Thresholds returns the limits above which a node records a call of a database as slow.
func (v *View) Thresholds(db string) command.Thresholds {
	if d := v.s.database(db); d != nil {
		return d.config.Thresholds()
	}
	return (&command.Config{}).Thresholds()
}
