package fsm

import (
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/wire"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// Opening and Opened are arguments and results without fields of their own.
type (
	Empty struct{}
	Ack   struct{}
)

// Fields has none to name.
func (*Empty) Fields(*wire.Codec) {}

// Fields has none to name.
func (*Ack) Fields(*wire.Codec) {}

// newTerm is the first entry of a leader: once it is applied, the leader knows its
// commit index and may serve.
func (s *State) newTerm(_ *env.Env, t Term) (Ack, error) {
	s.opened = t
	return Ack{}, nil
}

// Term announces a leader when its term begins.
type Term struct {
	Number uint64
	Leader string // its node id
}

// Fields codes the value in its wire format.
func (t *Term) Fields(c *wire.Codec) {
	c.Uvarint(&t.Number)
	c.String(&t.Leader)
}

// Registration names a node process: the node, its disk and how often that disk was
// booted.
type Registration struct {
	Node, Disk string
	Boot       uint64
	// RESP is the address of the node's RESP port for clients, host:port; empty if it has none.
	RESP string
}

// Fields codes the value in its wire format.
func (r *Registration) Fields(c *wire.Codec) {
	c.String(&r.Node)
	c.String(&r.Disk)
	c.Uvarint(&r.Boot)
	c.String(&r.RESP)
}

// Session is the session that a registration opened; 0 if a later process of the
// same disk has registered already, or the node was removed, or has another disk.
type Session struct{ ID uint64 }

// Fields codes the value in its wire format.
func (s *Session) Fields(c *wire.Codec) { c.Uvarint(&s.ID) }

func (s *State) register(e *env.Env, g Registration) (Session, error) {
	// The place in the entry tells registrations of one entry apart.
	id := e.Index<<8 | uint64(e.Place()&0xff)
	if known, found := s.nodes.get(g.Node); found && (known.Status == Removed || known.Disk != g.Disk) {
		return Session{}, nil
	}
	var former uint64
	ended := false // the process that had the former session: this one has its disk
	if i, found := s.sessions.place(g.Node); found {
		former, ended = s.sessions[i].id, s.sessions[i].disk == g.Disk && s.sessions[i].boot < g.Boot
	}
	id = s.sessions.register(id, g)
	if id != 0 && former != 0 {
		s.dropSubscribers(e, former)
		if ended {
			concerned := func(n *summary) bool { return n.traits&hasClaims != 0 || n.messages <= 0 }
			for d := s.first(concerned); d != nil; d = s.after(d, concerned) {
				s.applier.at(d)
				d = s.openWork(d)
				d.messages.ReleaseSession(e, former)
				d.passReports(e)
				s.close()
			}
		}
	}
	return Session{id}, nil
}

// Settings are the limits that the cluster keeps, equal on every node (0 = unlimited).
type Settings struct {
	// MaxMemory is the most logical memory in bytes before writes that grow are
	// refused with OOM.
	MaxMemory int64
	// DailyLimit is the most commands per database and UTC day of cluster time.
	DailyLimit int64
	// Policy says which keys make room when MaxMemory is reached, of databases that have no policy of their own.
	Policy keyspace.Policy
	// TenantPercent and TenantScriptPercent are the parts of the budgets of work and scripts, in percent, that a request
	// may use which writes to a database other than default; 0 is command.DefaultTenantWork and DefaultTenantScript.
	TenantPercent, TenantScriptPercent int64
	// TenantMemoryPercent is the part of MaxMemory, in percent, that a database other than default may use for which the
	// operator has set no limit; 0 is DefaultTenantMemory.
	TenantMemoryPercent int64
	// Limits bound single keys and values.
	command.Limits
}

// Fields codes the value in its wire format.
func (s *Settings) Fields(c *wire.Codec) {
	c.Varint(&s.MaxMemory)
	c.Varint(&s.DailyLimit)
	c.Varint(&s.MaxKey)
	c.Varint(&s.MaxRecord)
	memory := s.TenantMemoryPercent != 0
	tenants := s.TenantPercent != 0 || s.TenantScriptPercent != 0 || memory
	later := s.Policy != 0 || tenants
	if c.More(s.MaxPending != 0 || s.MaxWork != 0 || s.MaxScript != 0 || later) {
		c.Varint(&s.MaxPending)
	}
	if c.More(s.MaxWork != 0 || s.MaxScript != 0 || later) {
		c.Varint(&s.MaxWork)
		c.Varint(&s.MaxScript)
	}
	if c.More(later) {
		c.Byte((*byte)(&s.Policy))
	}
	if c.More(tenants) {
		c.Varint(&s.TenantPercent)
		c.Varint(&s.TenantScriptPercent)
	}
	if c.More(memory) {
		c.Varint(&s.TenantMemoryPercent)
	}
}

// TenantWork is TenantPercent and TenantScriptPercent as they are in force.
func (s *Settings) TenantWork() (work, script int64) {
	work, script = s.TenantPercent, s.TenantScriptPercent
	if work == 0 {
		work = command.DefaultTenantWork
	}
	if script == 0 {
		script = command.DefaultTenantScript
	}
	return work, script
}

// SetTenantWork takes the percentages as people set them. The defaults are stored as 0, which nodes of the version before
// understand.
func (s *Settings) SetTenantWork(work, script int64) {
	if s.TenantPercent = work; work == command.DefaultTenantWork {
		s.TenantPercent = 0
	}
	if s.TenantScriptPercent = script; script == command.DefaultTenantScript {
		s.TenantScriptPercent = 0
	}
}

func (s *State) configure(_ *env.Env, n Settings) (Settings, error) {
	before := s.settings
	if s.settings = n; n.MaxMemory != before.MaxMemory || n.Policy != before.Policy || n.TenantMemoryPercent != before.TenantMemoryPercent {
		s.resummarize()
	}
	return s.settings, nil
}

// Bootstrap holds the identity and the tokens that a cluster starts with.
type Bootstrap struct {
	ClusterID string
	Settings  Settings
	Tokens    acl.Tokens
	// Again replaces the tokens of a founded cluster: dev mode takes them from its
	// environment at every start.
	Again bool
	// Keys are the first signing keys; without them they are drawn.
	Keys queue.Keys
	// Messages are the first settings of messages, Workflows those of workflows; nil are the default ones.
	Messages  *queue.Settings
	Workflows *workflow.Settings
	// Level is the feature level that a new cluster starts with: the highest one that each
	// of its nodes knows, at least env.Base.
	Level env.Level
	// Salt is in the digests of Tokens.
	Salt acl.Salt
}

// Fields codes the value in its wire format.
func (b *Bootstrap) Fields(c *wire.Codec) {
	c.String(&b.ClusterID)
	// The first two settings are here bare; all of them follow as a record, which can grow.
	c.Varint(&b.Settings.MaxMemory)
	c.Varint(&b.Settings.DailyLimit)
	b.Tokens.Fields(c)
	c.Bool(&b.Again)
	if c.More(true) {
		c.Record(b.Settings.Fields)
	}
	b.Keys.Fields(c)
	wire.Optional(c, &b.Messages)
	wire.Optional(c, &b.Workflows)
	if c.More(b.Level > 0 || b.Salt != acl.Salt{}) {
		wire.Uint(c, &b.Level)
	}
	if c.More(b.Salt != acl.Salt{}) {
		c.Fixed(b.Salt[:])
	}
}

// bootstrap writes the first settings; a cluster that has them keeps them.
func (s *State) bootstrap(e *env.Env, f Bootstrap) (Ack, error) {
	if f.Level > MaxLevel {
		return Ack{}, ErrUnknownLevel
	}
	if s.clusterID == "" {
		if f.Level < env.Base {
			return Ack{}, FormerLevel(f.Level)
		}
		s.raise(f.Level)
		s.clusterID, s.settings = f.ClusterID, f.Settings
		s.resummarize()
		s.drawSecret(e)
		home := s.openWork(s.home)
		if _, err := home.messages.Rotate(e, queue.Rotation{Keys: f.Keys}); err != nil {
			return Ack{}, err
		}
		if f.Messages != nil {
			if _, err := home.messages.Configure(e, *f.Messages); err != nil {
				return Ack{}, err
			}
		}
		if f.Workflows != nil {
			if _, err := home.workflows.Configure(e, *f.Workflows); err != nil {
				return Ack{}, err
			}
		}
	} else if !f.Again || f.Tokens == s.tokens.founded && f.Salt == s.tokens.salt {
		return Ack{}, nil // a restart doesn't undo a reset
	} else if f.Keys != (queue.Keys{}) {
		if _, err := s.openWork(s.home).messages.Rotate(e, queue.Rotation{Keys: f.Keys, Again: true}); err != nil {
			return Ack{}, err
		}
	}
	s.setTokens(f.Tokens, f.Salt)
	return Ack{}, nil
}

// LevelChange asks for a feature level, and answers the one in force.
type LevelChange struct{ Level env.Level }

// Fields codes the value in its wire format.
func (lc *LevelChange) Fields(c *wire.Codec) { wire.Uint(c, &lc.Level) }

func (s *State) setLevel(_ *env.Env, n LevelChange) (LevelChange, error) {
	if n.Level > MaxLevel {
		return LevelChange{}, ErrUnknownLevel
	}
	s.raise(n.Level)
	return LevelChange{s.level}, nil
}

// ClusterID is the id the cluster was founded with, empty before that.
func (v *View) ClusterID() string { return v.s.clusterID }

// Settings are the replicated limits.
func (v *View) Settings() Settings { return v.s.settings }

// Level is the feature level in force.
func (v *View) Level() env.Level { return v.s.level }
