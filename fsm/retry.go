package fsm

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/dedup"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// Idempotency is a client's own id of a request, under which it is applied at most once
// within dedup.Retention.
type Idempotency struct {
	// ID has 1 to dedup.MaxID bytes; empty is none.
	ID string
	// Hash is the digest of the request's content. Another one under the same id is
	// refused.
	Hash dedup.Digest
}

// The outcomes of a batch whose id is known, or for which there is no room. Nothing was
// changed by it.
var (
	// ErrRetryMismatch: the id belongs to a request that asked for something else.
	ErrRetryMismatch = &Error{Code: "retry-mismatch", Text: "the request id was used for another request"}
	// ErrRetriesFull: the table of ids is full; it refuses rather than forget early.
	ErrRetriesFull = &Error{Code: "retries-full", Text: "the table of request ids is full"}
	// ErrReplyNotKept: a request of that id was applied, and its reply was longer than
	// dedup.MaxReply.
	ErrReplyNotKept = &Error{Code: "reply-not-kept", Text: "the first request of this id was applied, its reply was too long to be kept"}
)

// IdempotencyKey returns the Idempotency of the batch under a client's id: it hashes the mode and the rows,
// so that the form in which they came in doesn't matter.
func (b *Batch) IdempotencyKey(id string) Idempotency {
	h := sha256.New()
	var n [binary.MaxVarintLen64]byte
	number := func(v int) { h.Write(n[:binary.PutUvarint(n[:], uint64(v))]) }
	number(int(b.Mode))
	number(len(b.Rows))
	for _, row := range b.Rows {
		number(len(row))
		for _, word := range row {
			number(len(word))
			h.Write(word)
		}
	}
	r := Idempotency{ID: id}
	h.Sum(r.Hash[:0])
	return r
}

// Fields codes the value in its wire format.
func (i *Idempotency) Fields(c *wire.Codec) {
	c.String(&i.ID)
	c.Fixed(i.Hash[:])
}

// sweepForRoom is the number of expired replies that one request removes to make room for its own.
const sweepForRoom = 64

// execIdempotent runs a batch that has an id, unless it was run before: then it gives the reply
// of that time. The reply and the effects are one entry, so neither is there without
// the other.
func (s *State) execIdempotent(tx *command.Tx, b Batch) (Results, error) {
	d, _ := s.resolve(&b.As)
	k := dedup.Key{Scope: strconv.FormatUint(d.id, 10) + " " + tx.User.Name, ID: b.Retry.ID}
	if r := s.retries.Find(tx.Now, k); r != nil {
		return replay(r, b.Retry.Hash)
	}
	s.retries.Sweep(tx.Now, sweepForRoom)
	if !s.retries.Room(k, s.databases.Len()) {
		return Results{}, ErrRetriesFull
	}
	out := s.rows(tx, b)
	if s.anyExecuted(tx, b, out) {
		s.retries.Put(tx.Now, k, b.Retry.Hash, wire.Marshal(&out))
	}
	return out, nil
}

func replay(r *dedup.Record, hash dedup.Digest) (Results, error) {
	if r.Hash != hash {
		return Results{}, ErrRetryMismatch
	}
	if !r.Kept {
		return Results{}, ErrReplyNotKept
	}
	var out Results
	if err := wire.Unmarshal(r.Reply, &out); err != nil {
		return Results{}, ErrMalformed
	}
	out.Replayed = true
	return out, nil
}

// anyExecuted reports whether any command of the batch was executed. A refused one has no reply that
// must be kept: the client may try again under the same id.
func (s *State) anyExecuted(tx *command.Tx, b Batch, out Results) bool {
	if out.Discarded {
		return false
	}
	if b.Mode != Single || !out.Values[0].IsError() {
		return true
	}
	_, refusal := s.applier.table.Check(tx, b.Rows[0])
	return refusal == nil && !command.OverMemory(out.Values[0])
}
