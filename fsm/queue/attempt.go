package queue

import (
	"strings"

	"trireme/fsm/wire"
)

const (
	// Lease is how long a claim lasts, in milliseconds, unless it is renewed (decisions 20).
	Lease = 10_000
	// LeaseMargin is how long before its lease's end a sender must have ended an attempt it could not renew, and how
	// much longer the claims of what is delivered one at a time are kept. In milliseconds.
	LeaseMargin = 2_000
	// MaxClaims is the most attempts that one Advance claims.
	MaxClaims = 256
	// MaxRetryDelay is the longest time between two attempts, in milliseconds.
	MaxRetryDelay = 86_400_000
)

// Sender is who runs attempts: the leader of a term, by its session. A claim of another term is taken over by the
// first Advance of the new one.
type Sender struct{ Epoch, Term, Session uint64 }

// Attempt is one claimed delivery that has to be sent. Its Content must not be changed.
type Attempt struct {
	ID ID
	// Number names this attempt of the message for Finish and Renew; it rises by one with each attempt.
	Number uint64
	// Retried counts the retries before this attempt: what Upstash-Retried says.
	Retried int
	// Claimed is when it was claimed; Lease is until when it may run unless it is renewed, less LeaseMargin. Both in
	// unix milliseconds of cluster time.
	Claimed, Lease int64
	// Timeout is the longest the whole attempt may take, in milliseconds.
	Timeout int64
	Content *Content
}

// Ref names the attempt.
func (a Attempt) Ref() AttemptRef { return AttemptRef{a.ID, a.Number} }

// Encode writes the fields.
func (a *Attempt) Encode(w *wire.Writer) {
	a.ID.encode(w)
	w.Uvarint(a.Number)
	w.Varint(int64(a.Retried))
	w.Varint(a.Claimed)
	w.Varint(a.Lease)
	w.Varint(a.Timeout)
	w.Record(a.Content.Encode)
}

// Decode reads the fields; texts and bytes alias the input.
func (a *Attempt) Decode(r *wire.Reader) {
	a.ID, a.Number, a.Retried = decodeID(r), r.Uvarint(), int(r.Varint())
	a.Claimed, a.Lease, a.Timeout = r.Varint(), r.Varint(), r.Varint()
	a.Content = &Content{}
	a.Content.Decode(r.Record())
}

// AttemptRef names an attempt.
type AttemptRef struct {
	ID     ID
	Number uint64
}

func (a AttemptRef) encode(w *wire.Writer) { a.ID.encode(w); w.Uvarint(a.Number) }

func decodeRefs(r *wire.Reader) []AttemptRef {
	n := r.Count(3)
	if n == 0 {
		return nil
	}
	list := make([]AttemptRef, n)
	for i := range list {
		list[i] = AttemptRef{decodeID(r), r.Uvarint()}
	}
	return list
}

func encodeRefs(w *wire.Writer, list []AttemptRef) {
	w.Uvarint(uint64(len(list)))
	for _, a := range list {
		a.encode(w)
	}
}

// Renewal prolongs the leases of attempts that a sender still runs.
type Renewal struct{ Running []AttemptRef }

// Encode writes the fields.
func (n *Renewal) Encode(w *wire.Writer) { encodeRefs(w, n.Running) }

// Decode reads the fields.
func (n *Renewal) Decode(r *wire.Reader) { n.Running = decodeRefs(r) }

// Renewed says until when the attempts may run, in unix milliseconds, and which of them are no longer the sender's: it
// should end those.
type Renewed struct {
	Lease int64
	Lost  []AttemptRef
}

// Encode writes the fields.
func (n *Renewed) Encode(w *wire.Writer) { w.Varint(n.Lease); encodeRefs(w, n.Lost) }

// Decode reads the fields.
func (n *Renewed) Decode(r *wire.Reader) { n.Lease, n.Lost = r.Varint(), decodeRefs(r) }

// Response is what a destination answered.
type Response struct {
	// Status is 0 if there was no HTTP answer.
	Status int
	Header []Field
	// Body may be cut off by the sender.
	Body []byte
}

// ok tells whether the destination has taken the message.
func (p *Response) ok() bool { return p.Status >= 200 && p.Status <= 299 }

// final tells whether the destination asks for no more retries (messages.md 7.2).
func (p *Response) final() bool {
	if p.Status != 489 {
		return false
	}
	for _, name := range []string{"Upstash-NonRetryable-Error", "Svc-NonRetryable-Error"} {
		if strings.EqualFold(strings.TrimSpace(Value(p.Header, name)), "true") {
			return true
		}
	}
	return false
}

func (p *Response) size() int64 { return 80 + headerSize(p.Header) + int64(len(p.Body)) }

// clone is a copy that shares nothing with the bytes it was decoded from.
func (p *Response) clone() *Response {
	c := &Response{Status: p.Status, Body: some(append([]byte(nil), p.Body...))}
	if len(p.Header) > 0 {
		c.Header = make([]Field, len(p.Header))
		for i, f := range p.Header {
			c.Header[i] = Field{strings.Clone(f.Name), strings.Clone(f.Value)}
		}
	}
	return c
}

// BodySize is the length of the body in bytes; that of no response is 0.
func (p *Response) BodySize() int {
	if p == nil {
		return 0
	}
	return len(p.Body)
}

// Encode writes the fields.
func (p *Response) Encode(w *wire.Writer) {
	w.Varint(int64(p.Status))
	encodeHeader(w, p.Header)
	w.Bytes(p.Body)
}

// Decode reads the fields; texts and bytes alias the input.
func (p *Response) Decode(r *wire.Reader) {
	p.Status, p.Header, p.Body = int(r.Varint()), decodeHeader(r), some(r.Bytes())
}

// Result is how an attempt went.
type Result struct {
	AttemptRef
	Response Response
	// Error says why there is no answer; empty if there is one.
	Error string
	// RetryDelay is the time until the next attempt in milliseconds, should there be one. The leader computes it, from
	// the answer's headers, the message's expression or the default, for Attempt.Retried retries so far (decisions 9).
	// It is cut to [0, MaxRetryDelay].
	RetryDelay int64
	// Took is how long the attempt ran, in milliseconds.
	Took int64
	// Lost: the sender has ended the attempt before its outcome was known, because it leads no more or could not renew
	// the lease. It will not run on, so nobody has to wait for the lease's end. The rest then means nothing.
	Lost bool
}

// Encode writes the fields.
func (n *Result) Encode(w *wire.Writer) {
	n.AttemptRef.encode(w)
	w.Record(n.Response.Encode)
	w.String(n.Error)
	w.Varint(n.RetryDelay)
	w.Varint(n.Took)
	if n.Lost {
		w.Bool(n.Lost)
	}
}

// Decode reads the fields; texts and bytes alias the input.
func (n *Result) Decode(r *wire.Reader) {
	n.AttemptRef = AttemptRef{decodeID(r), r.Uvarint()}
	n.Response.Decode(r.Record())
	n.Error, n.RetryDelay, n.Took = r.Alias(), r.Varint(), r.Varint()
	if r.Len() > 0 { // most results have no more
		n.Lost = r.Bool()
	}
}

// Results is the argument of the operation Finish.
type Results struct{ Items []Result }

// Encode writes the fields.
func (n *Results) Encode(w *wire.Writer) {
	w.Uvarint(uint64(len(n.Items)))
	for i := range n.Items {
		w.Record(n.Items[i].Encode)
	}
}

// Decode reads the fields; texts and bytes alias the input.
func (n *Results) Decode(r *wire.Reader) {
	n.Items = make([]Result, r.Count(1))
	for i := range n.Items {
		n.Items[i].Decode(r.Record())
	}
}

// Fate is what a result made of its message.
type Fate struct {
	// Stale: the attempt is not the current one, and nothing was changed.
	Stale bool
	State State
	// Next is when the next attempt is due, in unix milliseconds, if State is Retry.
	Next int64
}

// Fates is the result of the operation Finish, one for each Result.
type Fates struct{ Items []Fate }

// Encode writes the fields.
func (n *Fates) Encode(w *wire.Writer) {
	w.Uvarint(uint64(len(n.Items)))
	for _, f := range n.Items {
		w.Bool(f.Stale)
		w.Uvarint(uint64(f.State))
		w.Varint(f.Next)
	}
}

// Decode reads the fields.
func (n *Fates) Decode(r *wire.Reader) {
	n.Items = make([]Fate, r.Count(3))
	for i := range n.Items {
		n.Items[i] = Fate{r.Bool(), decodeState(r), r.Varint()}
	}
}
