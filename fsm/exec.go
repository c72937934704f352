package fsm

import (
	"bytes"
	"fmt"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// Mode says how the rows of a Batch belong together.
type Mode uint8

// The modes. A transaction's rows are all run in one piece or, if one of them can't
// be, none; a pipeline's rows are each atomic, and others may come between.
const (
	Single Mode = iota
	Pipeline
	Transaction
)

// Batch is the argument of Exec: commands of one client request. Their secrets are
// replaced by digests where it is encoded, so that none can reach the log.
type Batch struct {
	// As is on whose behalf, and in which database.
	As     acl.Identity
	Origin command.Origin
	Mode   Mode
	Rows   [][][]byte
	// Retry names the client's request; without an ID it may be applied again.
	Retry Idempotency
	// Watch are the keys on which a transaction depends.
	Watch Watch

	room *rowRoom // where rows are read to; nil is new memory
}

// Results hold the replies to a Batch's rows. A discarded transaction has one value: the
// error that refused it, or the null array if a watched key has changed.
type Results struct {
	// Index and Place say where in the log the batch took effect.
	Index     uint64
	Place     int
	Discarded bool
	Values    []reply.Value
	// Replayed says that an earlier request of the same id was applied, and that these
	// are its replies.
	Replayed bool
}

// Fields codes the value in its wire format. Decoded arguments alias the input.
func (b *Batch) Fields(c *wire.Codec) {
	if !c.Reading() {
		c.Grow(b.size())
	}
	b.As.Fields(c)
	c.Byte((*byte)(&b.Origin))
	c.Byte((*byte)(&b.Mode))
	if c.Reading() {
		b.readRows(c.Reader())
	} else {
		b.writeRows(c.Writer())
	}
	if c.More(b.Retry.ID != "" || len(b.Watch.Keys) > 0) {
		b.Retry.Fields(c)
	}
	b.Watch.Fields(c)
	if c.Reading() && (b.Mode > Transaction || len(b.Rows) == 0) {
		c.Fail(fmt.Errorf("%w: mode %d, %d rows", ErrEntry, b.Mode, len(b.Rows)))
	}
}

// size is about how many bytes the batch takes.
func (b *Batch) size() int {
	n := 4*len(b.Rows) + len(b.As.DB) + len(b.As.User) + 32
	for _, row := range b.Rows {
		for _, a := range row {
			n += len(a) + 4
		}
	}
	return n
}

func (b *Batch) writeRows(w *wire.Writer) {
	words := 0
	for _, row := range b.Rows {
		words += len(row)
	}
	w.Uvarint(uint64(words))
	w.Uvarint(uint64(len(b.Rows)))
	for _, row := range b.Rows {
		w.Uvarint(uint64(len(row)))
		for _, a := range command.HashSecrets(row) {
			w.Bytes(a)
		}
	}
}

// readRows takes all words of all rows in one allocation, or in none.
func (b *Batch) readRows(r *wire.Reader) {
	words := r.Count(1)
	flat, rows := b.room.take(words, r.Count(1))
	b.Rows = rows
	for i := range b.Rows {
		start := len(flat)
		for range r.Count(1) {
			flat = append(flat, r.Bytes())
		}
		b.Rows[i] = flat[start:len(flat):len(flat)]
	}
}

// revokes reports whether a row may take rights away from a user.
func (b *Batch) revokes() bool {
	for _, row := range b.Rows {
		if len(row) > 1 && len(row[0]) == len("ACL") && command.EqualFold(row[0], "ACL") {
			return true
		}
	}
	return false
}

// Fields codes the value in its wire format.
func (r *Results) Fields(c *wire.Codec) {
	c.Uvarint(&r.Index)
	wire.Uint(c, &r.Place)
	c.Bool(&r.Discarded)
	if c.Reading() {
		r.readValues(c)
	} else {
		r.writeValues(c.Writer())
	}
	c.Bool(&r.Replayed)
}

func (r *Results) writeValues(w *wire.Writer) {
	w.Uvarint(uint64(len(r.Values)))
	for i := range r.Values {
		reply.Append(w, r.Values[i])
	}
}

func (r *Results) readValues(c *wire.Codec) {
	r.Values = make([]reply.Value, c.Reader().Count(1))
	for i := range r.Values {
		var err error
		if r.Values[i], err = reply.Decode(c.Reader()); err != nil {
			c.Fail(err)
			return
		}
	}
}

// ErrRevoked is the outcome of a batch whose credential proves nothing any more:
// nothing was changed.
var ErrRevoked = &Error{Code: "revoked", Text: "the credential has been revoked"}

// exec runs a batch, once if it has an id of the client's.
func (s *State) exec(e *env.Env, b Batch) (Results, error) {
	if b.room != nil {
		b.room.busy = true
		defer b.room.giveBack()
	}
	tx := s.applier.transaction()
	defer s.applier.recycle(tx)
	s.prepare(tx, e, &b.As, b.Origin)
	if tx.User == nil {
		return Results{}, ErrRevoked
	}
	var out Results
	var err error
	if b.Retry.ID != "" {
		out, err = s.execIdempotent(tx, b)
	} else {
		out = s.rows(tx, b)
	}
	s.applier.worked = tx.Worked() + commandWork*int64(len(b.Rows))
	return out, err
}

// rows runs the rows of a batch.
func (s *State) rows(tx *command.Tx, b Batch) Results {
	out := Results{Index: tx.Index, Place: tx.Place()}
	if b.Mode == Transaction {
		if !s.unchanged(tx.Env, &b.As, &b.Watch) {
			out.Discarded, out.Values = true, []reply.Value{reply.NilArray()}
			return out
		}
		if refusal := tx.Refuse(b.Rows); refusal != nil {
			out.Discarded, out.Values = true, []reply.Value{*refusal}
			return out
		}
	}
	out.Values = make([]reply.Value, len(b.Rows))
	for i, row := range b.Rows {
		if i%keyspace.WarmGroup == 0 && len(b.Rows)-i > 1 {
			warmKeys(tx.DB, b.Rows[i:min(len(b.Rows), i+keyspace.WarmGroup)])
		}
		if i > 0 && b.Mode == Pipeline {
			s.applier.pause()
		}
		if b.Mode == Pipeline {
			tx.NextRow()
		}
		if i > 0 && changesUsers(b.Rows[i-1]) {
			_, tx.User = s.resolve(&b.As)
		}
		tx.Row, tx.Scripted = i, (tx.Monitors() || tx.Tracks()) && tx.Table.Scripts(row)
		out.Values[i] = tx.Exec(row)
		if tx.Scripted {
			tx.TellScript()
		}
		if len(b.Rows) > 1 || !tx.ReadOnly {
			tx.Replied(&out.Values[i])
		}
		if n := tx.Spent(); n > 0 && s.applier.charge != nil {
			s.applier.charge(int(n / stepsPerCommand))
		}
	}
	return out
}

// stepsPerCommand is the number of a script's steps that hold the lock about as long as one
// command.
const stepsPerCommand = 200

// changesUsers reports whether a row may have changed what users may do, that of the
// batch among them. No script can: ACL is not for scripts.
func changesUsers(row [][]byte) bool {
	return len(row) > 0 && len(row[0]) == len("ACL") && bytes.EqualFold(row[0], []byte("ACL"))
}

// warmKeys reads what rows will read of their first arguments, which are keys of most
// commands. It is only about time.
func warmKeys(db *keyspace.DB, rows [][][]byte) {
	var keys [keyspace.WarmGroup][]byte
	n := 0
	for _, row := range rows {
		if len(row) > 1 {
			keys[n] = row[1]
			n++
		}
	}
	db.Warm(keys[:n])
}

// resolve is the database of an identity and the user it still stands for, nil if what
// proved it is revoked.
func (s *State) resolve(as *acl.Identity) (*database, *acl.User) {
	d := s.database(as.DB)
	if d == nil || as.By == acl.Nobody || (as.By == acl.ByAdmin && !s.tokens.isAdmin(as.Credential)) {
		return nil, nil
	}
	return d, d.users.Resolve(as)
}

// prepare makes tx the transaction in which a command runs. Its user is nil if the identity is not valid.
func (s *State) prepare(tx *command.Tx, e *env.Env, as *acl.Identity, origin command.Origin) {
	*tx = command.Tx{Env: e, Table: s.applier.table, Limits: s.settings.Limits, Origin: origin, Nodes: len(s.sessions), Topology: topology{s}}
	d, user := s.resolve(as)
	if user == nil {
		return
	}
	if !e.ReadOnly {
		s.applier.at(d)
		d = s.open(d)
	}
	tx.Limits = s.limitsIn(e, d)
	tx.Stores, tx.Saved = s, d.saves != s.saves
	e.Database = d.name
	tx.DB, tx.Users, tx.User, tx.Config, tx.Channels = d.keys, d.users, user, &d.config, s.channels.In(d.name)
	s.prepareMemory(tx, d)
	tx.Scripts, tx.Engine, tx.Undo = d.scripts, s.applier.engine, s
	tx.Room, tx.Began, tx.ClusterPolicy = s, d.keys.Changes(), s.settings.Policy
	e.Counting = s.policy(d).Counts()
	tx.Search.Store, tx.Search.Database = d.search, d.id
	if d.messages != nil {
		tx.Triggers = d.messages.Triggers()
	}
	tx.Arm()
}
