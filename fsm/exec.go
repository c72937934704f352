package fsm

import (
	"fmt"

	"trireme/fsm/acl"
	"trireme/fsm/command"
	"trireme/fsm/env"
	"trireme/fsm/reply"
	"trireme/fsm/wire"
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

// Batch is the argument of Exec: commands of one client request.
type Batch struct {
	// DB names the database; empty is "default".
	DB   string
	Role acl.Role
	Door command.Door
	Mode Mode
	Rows [][][]byte
	// Retry names the client's request; without an ID it may be applied again.
	Retry Retry
}

// Results are what a Batch's rows answered. A discarded transaction has the one
// error that refused it.
type Results struct {
	// Index and Place say where in the log the batch took effect.
	Index     uint64
	Place     int
	Discarded bool
	Values    []reply.Value
	// Replayed says that an earlier request of the same id was applied, and that this
	// is what it answered.
	Replayed bool
}

func encodeBatch(w *wire.Writer, b Batch) {
	words, size := 0, 0
	for _, row := range b.Rows {
		words += len(row)
		for _, a := range row {
			size += len(a) + 4
		}
	}
	if w.B == nil {
		w.B = make([]byte, 0, size+4*len(b.Rows)+len(b.DB)+24)
	}
	w.String(b.DB)
	w.Fixed([]byte{byte(b.Role), byte(b.Door), byte(b.Mode)})
	w.Uvarint(uint64(words))
	w.Uvarint(uint64(len(b.Rows)))
	for _, row := range b.Rows {
		w.Uvarint(uint64(len(row)))
		for _, a := range row {
			w.Bytes(a)
		}
	}
	b.Retry.encode(w)
}

// decodeBatch reads a batch; arguments alias the input.
func decodeBatch(r *wire.Reader) (Batch, error) {
	b := Batch{DB: r.String()}
	head := r.Fixed(3)
	b.Role, b.Door, b.Mode = acl.Role(head[0]), command.Door(head[1]), Mode(head[2])
	flat := make([][]byte, 0, r.Count(1))
	b.Rows = make([][][]byte, r.Count(1))
	for i := range b.Rows {
		start := len(flat)
		for range r.Count(1) {
			flat = append(flat, r.Bytes())
		}
		b.Rows[i] = flat[start:len(flat):len(flat)]
	}
	b.Retry.decode(r)
	if b.Mode > Transaction || len(b.Rows) == 0 {
		return b, fmt.Errorf("%w: mode %d, %d rows", ErrEntry, b.Mode, len(b.Rows))
	}
	return b, r.Done()
}

func encodeResults(w *wire.Writer, v Results) {
	w.Uvarint(v.Index)
	w.Uvarint(uint64(v.Place))
	w.Bool(v.Discarded)
	w.Uvarint(uint64(len(v.Values)))
	for i := range v.Values {
		reply.Append(w, v.Values[i])
	}
	w.Bool(v.Replayed)
}

func decodeResults(r *wire.Reader) (Results, error) {
	v := Results{Index: r.Uvarint(), Place: int(r.Uvarint()), Discarded: r.Bool()}
	v.Values = make([]reply.Value, r.Count(1))
	for i := range v.Values {
		var err error
		if v.Values[i], err = reply.Decode(r); err != nil {
			return v, err
		}
	}
	v.Replayed = r.Bool()
	return v, r.Done()
}

// exec runs a batch, once if it has an id of the client's.
func (s *State) exec(e *env.Env, b Batch) (Results, error) {
	tx := s.tx(e, b.Role.User(), b.Door)
	if b.Retry.ID != "" {
		return s.once(tx, b)
	}
	return s.rows(tx, b), nil
}

// rows runs the rows of a batch.
func (s *State) rows(tx *command.Tx, b Batch) Results {
	out := Results{Index: tx.Index, Place: tx.Place()}
	if b.Mode == Transaction {
		if refusal := tx.Refuse(b.Rows); refusal != nil {
			out.Discarded, out.Values = true, []reply.Value{*refusal}
			return out
		}
	}
	out.Values = make([]reply.Value, len(b.Rows))
	for i, row := range b.Rows {
		if i > 0 && b.Mode == Pipeline && s.between != nil {
			s.between()
		}
		out.Values[i] = tx.Exec(row)
	}
	return out
}

// tx is what one command of user runs in.
func (s *State) tx(e *env.Env, user *acl.User, door command.Door) *command.Tx {
	return &command.Tx{Env: e, DB: s.db, User: user, Table: s.table, MaxMemory: s.settings.MaxMemory, Limits: s.settings.Limits, Door: door,
		Config: &s.config, Nodes: len(s.sessions)}
}
