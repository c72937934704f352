package fsm

import (
	"errors"
	"fmt"

	"github.com/trireme-dev/trireme/fsm/wire"
)

// entryVersion is the first byte of every entry of ours.
const entryVersion = 1

// ErrEntry says that a log entry can't be decoded. The node must stop.
var ErrEntry = errors.New("fsm: malformed log entry")

// Request is one operation asked for by one node. (Session, Seq) is its identity:
// it is applied at most once however often it is proposed. Session 0 is for
// operations that may be repeated without harm.
type Request struct {
	Session, Seq uint64
	Code         uint16
	Body         []byte
}

// LowWater says that the node of a session awaits no sequence below Below any more.
type LowWater struct{ Session, Below uint64 }

// Entry is the content of one log entry: many requests, committed together.
type Entry struct {
	// Stamp is the leader's cluster time in unix milliseconds.
	Stamp int64
	// Epoch and Term are those of the leader that stamped the entry. An entry whose
	// Term is not the log's is refused whole, and its requests may come again.
	Epoch, Term uint64
	// Seed feeds the generators of the applies.
	Seed      [16]byte
	LowWaters []LowWater
	Requests  []Request
}

// Encode is the entry in the form of the log.
func (e *Entry) Encode() []byte {
	w := wire.Writer{B: make([]byte, 0, e.headSize()+RequestsSize(e.Requests))}
	e.head(&w, entryVersion)
	EncodeRequests(&w, e.Requests)
	return w.B
}

// headSize is about how many bytes head writes.
func (e *Entry) headSize() int { return 64 + 16*len(e.LowWaters) }

// head writes what comes before the requests.
func (e *Entry) head(w *wire.Writer, version byte) {
	w.Fixed([]byte{version})
	w.Varint(e.Stamp)
	w.Uvarint(e.Epoch)
	w.Uvarint(e.Term)
	w.Fixed(e.Seed[:])
	w.Uvarint(uint64(len(e.LowWaters)))
	for _, m := range e.LowWaters {
		w.Uvarint(m.Session)
		w.Uvarint(m.Below)
	}
}

// readHead reads what head wrote after the version.
func (e *Entry) readHead(r *wire.Reader) {
	e.Stamp, e.Epoch, e.Term = r.Varint(), r.Uvarint(), r.Uvarint()
	copy(e.Seed[:], r.Fixed(len(e.Seed)))
	e.LowWaters = make([]LowWater, r.Count(2))
	for i := range e.LowWaters {
		e.LowWaters[i] = LowWater{r.Uvarint(), r.Uvarint()}
	}
}

// RequestsSize is about how many bytes EncodeRequests writes.
func RequestsSize(requests []Request) (size int) {
	for i := range requests {
		size += 24 + len(requests[i].Body)
	}
	return size
}

// EncodeRequests writes requests as entries and packs between nodes hold them.
func EncodeRequests(w *wire.Writer, requests []Request) {
	w.Uvarint(uint64(len(requests)))
	for i := range requests {
		q := &requests[i]
		w.Uvarint(q.Session)
		w.Uvarint(q.Seq)
		w.Uvarint(uint64(q.Code))
		w.Bytes(q.Body)
	}
}

// DecodeRequests reads what EncodeRequests wrote; bodies alias the input.
func DecodeRequests(r *wire.Reader) []Request {
	requests := make([]Request, r.Count(4))
	for i := range requests {
		q := &requests[i]
		q.Session, q.Seq = r.Uvarint(), r.Uvarint()
		code := r.Uvarint()
		if code > 1<<16-1 {
			code = 0 // no operation has it
		}
		q.Code = uint16(code)
		q.Body = r.Bytes()
	}
	return requests
}

// DecodeEntry reads an entry; bodies alias data.
func DecodeEntry(data []byte) (*Entry, error) {
	r := wire.NewReader(data)
	if len(data) == 0 || data[0] != entryVersion {
		return nil, fmt.Errorf("%w: unknown version", ErrEntry)
	}
	r.Fixed(1)
	n := &Entry{}
	n.readHead(r)
	n.Requests = DecodeRequests(r)
	if err := r.Done(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEntry, err)
	}
	return n, nil
}
