package queue

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/wire"
)

const (
	// Lease is how long a claim lasts, in milliseconds, unless it is renewed.
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
	// Content may lack its Body: see Loaded.
	Content *Content
	body    payload.Payload // of the Content, if it is apart
	// DB names the database that the message belongs to, empty for default.
	DB string
}

// Ref names the attempt.
func (a Attempt) Ref() AttemptRef { return AttemptRef{a.ID, a.Number} }

// Loaded is the attempt with its Content complete: a body that is apart may have to be read from the disk. Attempts are
// claimed without, so that no node but the one that sends it reads it, and that not while it applies.
func (a Attempt) Loaded() Attempt {
	if a.body.Len() > 0 {
		c := *a.Content
		c.Body = a.body.Bytes()
		a.Content, a.body = &c, payload.Payload{}
	}
	return a
}

// Fields are those of the format; texts and bytes alias what they are read from.
func (a *Attempt) Fields(c *wire.Codec) {
	a.ID.Fields(c)
	c.Uvarint(&a.Number)
	c.Int(&a.Retried)
	c.Varint(&a.Claimed)
	c.Varint(&a.Lease)
	c.Varint(&a.Timeout)
	if c.Reading() {
		a.Content = &Content{}
	}
	c.Record(a.Loaded().Content.Fields)
	if c.More(a.DB != "") {
		c.Text(&a.DB)
	}
}

// AttemptRef names an attempt.
type AttemptRef struct {
	ID     ID
	Number uint64
}

// Fields are those of the format.
func (a *AttemptRef) Fields(c *wire.Codec) {
	a.ID.Fields(c)
	c.Uvarint(&a.Number)
}

// Renewal prolongs the leases of attempts that a sender still runs.
type Renewal struct {
	Running []AttemptRef
	// DBs are the databases of the attempts, in their order; missing ones are default.
	DBs []string
}

// Database is that of an attempt.
func (n *Renewal) Database(i int) string {
	if i >= len(n.DBs) {
		return ""
	}
	return n.DBs[i]
}

// Fields are those of the format.
func (n *Renewal) Fields(c *wire.Codec) {
	wire.List(c, &n.Running, 3)
	if c.More(len(n.DBs) > 0) {
		c.Texts(&n.DBs)
	}
}

// Renewed says until when the attempts may run, in unix milliseconds, and which of them are no longer the sender's: it
// should end those.
type Renewed struct {
	Lease int64
	Lost  []AttemptRef
}

// Fields are those of the format.
func (n *Renewed) Fields(c *wire.Codec) {
	c.Varint(&n.Lease)
	wire.List(c, &n.Lost, 3)
}

// Response is what a destination answered.
type Response struct {
	// Status is 0 if there was no HTTP answer.
	Status int
	Header []Field
	// Body may be cut off by the sender. That of a stored response may be apart.
	Body  []byte
	apart payload.Payload
}

// ok reports whether the destination has taken the message.
func (p *Response) ok() bool { return p.Status >= 200 && p.Status <= 299 }

// final reports whether the destination asks for no more retries.
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

func (p *Response) size() int64 { return 80 + headerSize(p.Header) + int64(p.BodySize()) }

// uncounted is how much of size does not count as memory; that of no response is 0.
func (p *Response) uncounted() int64 { return payload.Uncounted(p.BodySize()) }

// Keep puts a large body, which is not changed any more, in the care of k.
func (p *Response) Keep(k payload.Keeper) {
	if len(p.Body) >= payload.Apart {
		p.apart, p.Body = payload.New(p.Body, k), nil
	}
}

// whole is the response with its body in Body; nil if there is no response.
func (p *Response) whole() *Response {
	if p == nil || p.apart.Len() == 0 {
		return p
	}
	w := p.Whole()
	return &w
}

// Whole is the response with its body in Body, which may have to be read from the disk.
func (p *Response) Whole() Response {
	w := *p
	if p.apart.Len() > 0 {
		w.Body, w.apart = p.apart.Bytes(), payload.Payload{}
	}
	return w
}

// clone is a copy that shares nothing with the bytes it was decoded from.
func (p *Response) clone() *Response {
	c := &Response{Status: p.Status, Body: append([]byte(nil), p.Body...), apart: p.apart}
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
	return len(p.Body) + p.apart.Len()
}

// Fields are those of the format; texts and bytes alias what they are read from.
func (p *Response) Fields(c *wire.Codec) {
	c.Int(&p.Status)
	wire.List(c, &p.Header, 2)
	if c.Reading() {
		c.Bytes(&p.Body)
		return
	}
	body := p.apart
	if body.Len() == 0 {
		body = payload.New(p.Body, nil)
	}
	body.Field(c)
}

// Result is how an attempt went.
type Result struct {
	AttemptRef
	Response Response
	// Error says why there is no answer; empty if there is one.
	Error string
	// RetryDelay is the time until the next attempt in milliseconds, should there be one. The leader computes it, from
	// the answer's headers, the message's expression or the default, for Attempt.Retried retries so far.
	// It is cut to [0, MaxRetryDelay].
	RetryDelay int64
	// Took is how long the attempt ran, in milliseconds.
	Took int64
	// Lost: the sender has ended the attempt before its outcome was known, because it leads no more or could not renew
	// the lease. It will not run on, so the next need not wait for the lease's end. The rest then means nothing.
	Lost bool
	// DB is that of the attempt.
	DB string
}

// Fields are those of the format; texts and bytes alias what they are read from.
func (n *Result) Fields(c *wire.Codec) {
	n.AttemptRef.Fields(c)
	c.Record(n.Response.Fields)
	c.Text(&n.Error)
	c.Varint(&n.RetryDelay)
	c.Varint(&n.Took)
	if c.More(n.Lost || n.DB != "") {
		c.Bool(&n.Lost)
	}
	if c.More(n.DB != "") {
		c.Text(&n.DB)
	}
}

// Results is the argument of the operation Finish.
type Results struct{ Items []Result }

// Fields are those of the format; texts and bytes alias what they are read from.
func (n *Results) Fields(c *wire.Codec) { wire.Records(c, &n.Items) }

// Disposition is what a result made of its message.
type Disposition struct {
	// Stale: the attempt is not the current one, and nothing was changed.
	Stale bool
	State State
	// Next is when the next attempt is due, in unix milliseconds, if State is Retry.
	Next int64
}

// Fields are those of the format.
func (d *Disposition) Fields(c *wire.Codec) {
	c.Bool(&d.Stale)
	d.State.field(c)
	c.Varint(&d.Next)
}

// Dispositions is the result of the operation Finish, one for each Result.
type Dispositions struct{ Items []Disposition }

// Fields are those of the format.
func (n *Dispositions) Fields(c *wire.Codec) { wire.List(c, &n.Items, 3) }
