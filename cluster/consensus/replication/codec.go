package replication

import (
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"

	"github.com/trireme-dev/trireme/fsm/wire"
)

var (
	// errGap says that the entries of an append don't follow one another; raft makes no such append.
	errGap = errors.New("cluster: entries of an append don't follow one another")
	// errCutOff says that an append or its answer ends too early.
	errCutOff = errors.New("cluster: an append is cut off")
)

// leastEntry is the least that an entry takes: term, type, seconds, nanoseconds and two lengths.
const leastEntry = 6

// AppendRequest appends the format of an append to b. The index of an entry is not in it: each follows the one before.
func AppendRequest(b []byte, q *raft.AppendEntriesRequest) ([]byte, error) {
	w := wire.Writer{B: b}
	w.Uvarint(uint64(q.ProtocolVersion))
	w.Bytes(q.ID)
	w.Bytes(q.Addr)
	for _, v := range []uint64{q.Term, q.PrevLogEntry, q.PrevLogTerm, q.LeaderCommitIndex} {
		w.Uvarint(v)
	}
	w.Uvarint(uint64(len(q.Entries)))
	for i, l := range q.Entries {
		if l.Index != q.PrevLogEntry+1+uint64(i) {
			return nil, errGap
		}
		w.Uvarint(l.Term)
		w.Fixed([]byte{byte(l.Type)})
		w.Varint(l.AppendedAt.Unix())
		w.Uvarint(uint64(l.AppendedAt.Nanosecond()))
		w.Bytes(l.Extensions)
		w.Bytes(l.Data)
	}
	w.Bool(true) // missing fields read as zero, so the end is marked
	return w.B, nil
}

// DecodeRequest reads what AppendRequest wrote. Its entries share the bytes of b.
func DecodeRequest(b []byte) (*raft.AppendEntriesRequest, error) {
	r := wire.NewReader(b)
	q := &raft.AppendEntriesRequest{}
	q.ProtocolVersion = raft.ProtocolVersion(r.Uvarint())
	q.ID = r.Bytes()
	q.Addr = r.Bytes()
	q.Leader = q.Addr
	for _, v := range []*uint64{&q.Term, &q.PrevLogEntry, &q.PrevLogTerm, &q.LeaderCommitIndex} {
		*v = r.Uvarint()
	}
	n := r.Count(leastEntry)
	if n > 0 {
		all := make([]raft.Log, n)
		q.Entries = make([]*raft.Log, n)
		for i := range all {
			l := &all[i]
			l.Index = q.PrevLogEntry + 1 + uint64(i)
			l.Term = r.Uvarint()
			l.Type = raft.LogType(r.Fixed(1)[0])
			l.AppendedAt = readTime(r)
			if l.Extensions = r.Bytes(); len(l.Extensions) == 0 {
				l.Extensions = nil // as entries without extensions have it
			}
			l.Data = r.Bytes()
			q.Entries[i] = l
		}
	}
	if err := done(r); err != nil {
		return nil, err
	}
	return q, nil
}

// done reads the mark of the end.
func done(r *wire.Reader) error {
	if !r.Bool() && r.Err() == nil {
		return errCutOff
	}
	if err := r.Done(); err != nil {
		return fmt.Errorf("cluster: an append or its answer: %w", err)
	}
	return nil
}

// readTime reads a point in time; the zero time stays zero.
func readTime(r *wire.Reader) time.Time {
	seconds, nano := r.Varint(), r.Uvarint()
	if t := time.Unix(seconds, int64(nano%1e9)).UTC(); !t.IsZero() {
		return t
	}
	return time.Time{}
}

// AppendResponse appends the format of the answer to an append to b.
func AppendResponse(b []byte, a *raft.AppendEntriesResponse) []byte {
	w := wire.Writer{B: b}
	w.Uvarint(a.Term)
	w.Uvarint(a.LastLog)
	w.Bool(a.Success)
	w.Bool(a.NoRetryBackoff)
	w.Bool(true)
	return w.B
}

// DecodeResponse reads what AppendResponse wrote into a.
func DecodeResponse(b []byte, a *raft.AppendEntriesResponse) error {
	r := wire.NewReader(b)
	read := raft.AppendEntriesResponse{Term: r.Uvarint(), LastLog: r.Uvarint(), Success: r.Bool(), NoRetryBackoff: r.Bool()}
	if err := done(r); err != nil {
		return err
	}
	*a = read
	return nil
}
