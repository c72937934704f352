package fsm

import (
	"slices"
	"strings"

	"trireme/fsm/acl"
	"trireme/fsm/command"
	"trireme/fsm/env"
	"trireme/fsm/flow"
	"trireme/fsm/queue"
	"trireme/fsm/wire"
)

// Opening and Opened are arguments and results without fields of their own.
type (
	Opening struct{}
	Opened  struct{}
)

// Encode writes nothing.
func (*Opening) Encode(*wire.Writer) {}

// Decode reads nothing.
func (*Opening) Decode(*wire.Reader) {}

// Encode writes nothing.
func (*Opened) Encode(*wire.Writer) {}

// Decode reads nothing.
func (*Opened) Decode(*wire.Reader) {}

// newTerm is the first entry of a leader: once it is applied, the leader knows its
// commit index and may serve.
func (s *State) newTerm(_ *env.Env, t Term) (Opened, error) {
	s.opened = t
	return Opened{}, nil
}

// Term is what a leader says of itself when its term begins.
type Term struct {
	Number uint64
	Leader string // its node id
}

// Encode writes the fields.
func (t *Term) Encode(w *wire.Writer) { w.Uvarint(t.Number); w.String(t.Leader) }

// Decode reads the fields, which entries of old don't have.
func (t *Term) Decode(r *wire.Reader) {
	if r.Len() > 0 {
		t.Number, t.Leader = r.Uvarint(), r.String()
	}
}

// Registration names a node process: the node, its disk and how often that disk was
// booted.
type Registration struct {
	Node, Disk string
	Boot       uint64
	// RESP is where clients reach the node's RESP port, host:port; empty if it has none.
	RESP string
}

// Encode writes the fields.
func (g *Registration) Encode(w *wire.Writer) {
	w.String(g.Node)
	w.String(g.Disk)
	w.Uvarint(g.Boot)
	w.String(g.RESP)
}

// Decode reads the fields.
func (g *Registration) Decode(r *wire.Reader) {
	g.Node, g.Disk, g.Boot = r.String(), r.String(), r.Uvarint()
	if r.Len() > 0 { // entries of old have no more
		g.RESP = r.String()
	}
}

// Session is the session that a registration opened; 0 if a later process of the
// same disk has registered already, or the node was removed, or has another disk.
type Session struct{ ID uint64 }

// Encode writes the fields.
func (n *Session) Encode(w *wire.Writer) { w.Uvarint(n.ID) }

// Decode reads the fields.
func (n *Session) Decode(r *wire.Reader) { n.ID = r.Uvarint() }

func (s *State) register(e *env.Env, g Registration) (Session, error) {
	// The place in the entry tells registrations of one entry apart.
	id := e.Index<<8 | uint64(e.Place()&0xff)
	if known, found := s.nodes.get(g.Node); found && (known.Standing == Removed || known.Disk != g.Disk) {
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
			s.messages.Orphan(e, former)
			s.told(e)
		}
	}
	return Session{id}, nil
}

// Settings are the limits that the cluster keeps, equal on every node; 0 is none.
type Settings struct {
	// MaxMemory is the most logical memory in bytes before writes that grow are
	// refused with OOM.
	MaxMemory int64
	// DailyLimit is the most commands per database and UTC day of cluster time.
	DailyLimit int64
	// Limits bound single keys and values.
	command.Limits
}

// Encode writes the fields.
func (n *Settings) Encode(w *wire.Writer) {
	w.Varint(n.MaxMemory)
	w.Varint(n.DailyLimit)
	w.Varint(n.MaxKey)
	w.Varint(n.MaxRecord)
	if n.MaxPending != 0 { // which came later, and is none
		w.Varint(n.MaxPending)
	}
}

// Decode reads the fields.
func (n *Settings) Decode(r *wire.Reader) {
	n.MaxMemory, n.DailyLimit = r.Varint(), r.Varint()
	n.MaxKey, n.MaxRecord = r.Varint(), r.Varint()
	if n.MaxPending = 0; r.Len() > 0 {
		n.MaxPending = r.Varint()
	}
}

func (s *State) configure(_ *env.Env, n Settings) (Settings, error) {
	s.settings = n
	return s.settings, nil
}

// Founding is what a cluster starts with.
type Founding struct {
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
	Workflows *flow.Settings
}

// Encode writes the fields.
func (f *Founding) Encode(w *wire.Writer) {
	w.String(f.ClusterID)
	// The first two settings stand here bare; all of them follow as a record, which can
	// grow.
	w.Varint(f.Settings.MaxMemory)
	w.Varint(f.Settings.DailyLimit)
	f.Tokens.Encode(w)
	w.Bool(f.Again)
	w.Record(f.Settings.Encode)
	f.Keys.Encode(w)
	w.Record(func(w *wire.Writer) {
		if f.Messages != nil {
			f.Messages.Encode(w)
		}
	})
	w.Record(func(w *wire.Writer) {
		if f.Workflows != nil {
			f.Workflows.Encode(w)
		}
	})
}

// Decode reads the fields.
func (f *Founding) Decode(r *wire.Reader) {
	f.ClusterID = r.String()
	f.Settings.MaxMemory, f.Settings.DailyLimit = r.Varint(), r.Varint()
	f.Tokens.Decode(r)
	f.Again = r.Bool()
	if r.Len() > 0 {
		f.Settings.Decode(r.Record())
	}
	f.Keys.Decode(r)
	if r.Len() == 0 {
		return
	}
	if in := r.Record(); in.Len() > 0 {
		f.Messages = &queue.Settings{}
		f.Messages.Decode(in)
	}
	if r.Len() == 0 {
		return
	}
	if in := r.Record(); in.Len() > 0 {
		f.Workflows = &flow.Settings{}
		f.Workflows.Decode(in)
	}
}

// found writes the first settings; a cluster that has them keeps them.
func (s *State) found(e *env.Env, f Founding) (Opened, error) {
	if s.clusterID == "" {
		s.clusterID, s.settings = f.ClusterID, f.Settings
		s.drawSecret(e)
		if _, err := s.messages.Rotate(e, queue.Rotation{Keys: f.Keys}); err != nil {
			return Opened{}, err
		}
		if f.Messages != nil {
			if _, err := s.messages.Configure(e, *f.Messages); err != nil {
				return Opened{}, err
			}
		}
		if f.Workflows != nil {
			if _, err := s.flows.Configure(e, *f.Workflows); err != nil {
				return Opened{}, err
			}
		}
	} else if !f.Again || f.Tokens == s.founded {
		return Opened{}, nil // a restart doesn't undo a reset
	} else if f.Keys != (queue.Keys{}) {
		if _, err := s.messages.Rotate(e, queue.Rotation{Keys: f.Keys, Again: true}); err != nil {
			return Opened{}, err
		}
	}
	s.founded = f.Tokens
	s.setTokens(f.Tokens)
	return Opened{}, nil
}

// LevelChange asks for a feature level, and answers the one in force.
type LevelChange struct{ Level env.Level }

// Encode writes the fields.
func (n *LevelChange) Encode(w *wire.Writer) { w.Uvarint(uint64(n.Level)) }

// Decode reads the fields.
func (n *LevelChange) Decode(r *wire.Reader) { n.Level = env.Level(r.Uvarint()) }

func (s *State) setLevel(_ *env.Env, n LevelChange) (LevelChange, error) {
	if n.Level > MaxLevel {
		return LevelChange{}, ErrUnknownLevel
	}
	s.level = max(s.level, n.Level)
	return LevelChange{s.level}, nil
}

// DigestReport is one node's hash of the state at an index.
type DigestReport struct {
	Index  uint64
	Node   string
	Digest string
}

// Encode writes the fields.
func (n *DigestReport) Encode(w *wire.Writer) {
	w.Uvarint(n.Index)
	w.String(n.Node)
	w.String(n.Digest)
}

// Decode reads the fields.
func (n *DigestReport) Decode(r *wire.Reader) {
	n.Index, n.Node, n.Digest = r.Uvarint(), r.String(), r.String()
}

// DigestVerdict names the nodes whose hash differs from that of a majority.
type DigestVerdict struct {
	Index     uint64
	Divergent []string
}

// Encode writes the fields.
func (n *DigestVerdict) Encode(w *wire.Writer) {
	w.Uvarint(n.Index)
	w.Uvarint(uint64(len(n.Divergent)))
	for _, d := range n.Divergent {
		w.String(d)
	}
}

// Decode reads the fields.
func (n *DigestVerdict) Decode(r *wire.Reader) {
	n.Index = r.Uvarint()
	for range r.Count(1) {
		n.Divergent = append(n.Divergent, r.String())
	}
}

func (s *State) takeDigest(e *env.Env, _ Opening) (Opened, error) {
	s.digestIndex, s.reports = e.Index, nil
	return Opened{}, nil
}

// reportDigest compares what the nodes have said so far: a value that more than
// half of the registered nodes report is right, and who differs is named.
func (s *State) reportDigest(_ *env.Env, n DigestReport) (DigestVerdict, error) {
	v := DigestVerdict{Index: n.Index}
	if n.Index != s.digestIndex {
		return v, nil
	}
	i, found := slices.BinarySearchFunc(s.reports, n, func(a, b DigestReport) int { return strings.Compare(a.Node, b.Node) })
	if found {
		s.reports[i] = n
	} else {
		s.reports = slices.Insert(s.reports, i, n)
	}
	for _, right := range s.reports {
		agree := 0
		for _, o := range s.reports {
			if o.Digest == right.Digest {
				agree++
			}
		}
		if agree <= len(s.sessions)/2 {
			continue
		}
		for _, o := range s.reports {
			if o.Digest != right.Digest {
				v.Divergent = append(v.Divergent, o.Node)
			}
		}
		break
	}
	return v, nil
}
