package queue

import (
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/wire"
)

const (
	// Lease is the life of a claim that is not renewed, in milliseconds.
	Lease = 10_000
	// LeaseMargin is the time before its lease's end by which a sender must have ended an attempt it could not renew, and
	// the time after it that the claims of messages delivered one at a time are kept. In milliseconds.
	LeaseMargin = 2_000
	// MaxClaims is the most attempts that one Advance claims.
	MaxClaims = 256
	// MaxRetryDelay is the longest time between two attempts, in milliseconds.
	MaxRetryDelay = 86_400_000
)

// Sender identifies the leader that runs attempts: by its term and its session. The first Advance of a new term takes
// over the claims of the former ones.
type Sender struct{ Epoch, Term, Session uint64 }

// Attempt is one claimed delivery that has to be sent. Its Content must not be changed.
type Attempt struct {
	ID ID
	// Number names this attempt of the message for Finish and Renew; it rises by one with each attempt.
	Number uint64
	// Retried counts the retries before this attempt: what Upstash-Retried says.
	Retried int
	// Claimed is the time of the claim; Lease is the time until which the attempt may run unless it is renewed, less
	// LeaseMargin. Both in unix milliseconds of cluster time.
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

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
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

// String names the attempt on the wire: the message, a slash and the number.
func (ar AttemptRef) String() string { return ar.ID.String() + "/" + strconv.FormatUint(ar.Number, 10) }

// ParseAttempt reads what String wrote; false for every other text.
func ParseAttempt(text string) (AttemptRef, bool) {
	id, number, _ := strings.Cut(text, "/")
	n, err := strconv.ParseUint(number, 10, 64)
	out, ok := ParseID(id)
	return AttemptRef{out, n}, ok && err == nil && n > 0
}

// Fields codes the value in its wire format.
func (ar *AttemptRef) Fields(c *wire.Codec) {
	ar.ID.Fields(c)
	c.Uvarint(&ar.Number)
}

// Renewal prolongs the leases of attempts that a sender still runs.
type Renewal struct {
	Running []AttemptRef
	// DBs are the databases of the attempts, in their order; missing ones are default.
	DBs []string
}

// Database returns the database of an attempt.
func (r *Renewal) Database(i int) string {
	if i >= len(r.DBs) {
		return ""
	}
	return r.DBs[i]
}

// Fields codes the value in its wire format.
func (r *Renewal) Fields(c *wire.Codec) {
	wire.List(c, &r.Running, 3)
	if c.More(len(r.DBs) > 0) {
		c.Texts(&r.DBs)
	}
}

// Renewed says until when the attempts may run, in unix milliseconds, and which of them are no longer the sender's: it
// should end those.
type Renewed struct {
	Lease int64
	Lost  []AttemptRef
}

// Fields codes the value in its wire format.
func (r *Renewed) Fields(c *wire.Codec) {
	c.Varint(&r.Lease)
	wire.List(c, &r.Lost, 3)
}

// Response is the answer of a destination.
type Response struct {
	// Status is 0 if there was no HTTP answer.
	Status int
	Header []Field
	// Body may be cut off by the sender. That of a stored response may be apart.
	Body  []byte
	apart payload.Payload
}

// ok reports whether the destination has taken the message.
func (r *Response) ok() bool { return r.Status >= 200 && r.Status <= 299 }

// final reports whether the destination asks for no more retries.
func (r *Response) final() bool {
	if r.Status != 489 {
		return false
	}
	for _, name := range []string{"Upstash-NonRetryable-Error", "Svc-NonRetryable-Error"} {
		if strings.EqualFold(strings.TrimSpace(Value(r.Header, name)), "true") {
			return true
		}
	}
	return false
}

func (r *Response) size() int64 { return 80 + headerSize(r.Header) + int64(r.BodySize()) }

// uncounted returns the bytes of size that do not count as memory; 0 for no response.
func (r *Response) uncounted() int64 { return payload.Uncounted(r.BodySize()) }

// Keep puts a large body, which is not changed any more, in the care of k.
func (r *Response) Keep(k payload.Keeper) {
	if len(r.Body) >= payload.Apart {
		r.apart, r.Body = payload.New(r.Body, k), nil
	}
}

// whole is the response with its body in Body; nil if there is no response.
func (r *Response) whole() *Response {
	if r == nil || r.apart.Len() == 0 {
		return r
	}
	w := r.Whole()
	return &w
}

// Whole is the response with its body in Body, which may have to be read from the disk.
func (r *Response) Whole() Response {
	w := *r
	if r.apart.Len() > 0 {
		w.Body, w.apart = r.apart.Bytes(), payload.Payload{}
	}
	return w
}

// clone is a copy that shares nothing with the bytes it was decoded from.
func (r *Response) clone() *Response {
	c := &Response{Status: r.Status, Body: append([]byte(nil), r.Body...), apart: r.apart}
	if len(r.Header) > 0 {
		c.Header = make([]Field, len(r.Header))
		for i, f := range r.Header {
			c.Header[i] = Field{strings.Clone(f.Name), strings.Clone(f.Value)}
		}
	}
	return c
}

// BodySize is the length of the body in bytes; that of no response is 0.
func (r *Response) BodySize() int {
	if r == nil {
		return 0
	}
	return len(r.Body) + r.apart.Len()
}

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (r *Response) Fields(c *wire.Codec) {
	c.Int(&r.Status)
	wire.List(c, &r.Header, 2)
	if c.Reading() {
		if r.apart.Field(c); !r.apart.Held() {
			if r.Body = r.apart.Bytes(); len(r.Body) == 0 {
				r.Body = nil
			}
			r.apart = payload.Payload{}
		}
		return
	}
	body := r.apart
	if body.Len() == 0 {
		body = payload.New(r.Body, nil)
	}
	body.Field(c)
}

// Result is the outcome of an attempt.
type Result struct {
	AttemptRef
	Response Response
	// Error says why there is no answer, or why one does not count; empty if it does.
	Error string
	// RetryDelay is the time until the next attempt in milliseconds, should there be one. The leader computes it, from
	// the answer's headers, the message's expression or the default, for Attempt.Retried retries so far.
	// It is cut to [0, MaxRetryDelay].
	RetryDelay int64
	// Took is the duration of the attempt, in milliseconds.
	Took int64
	// Lost: the sender has ended the attempt before its outcome was known, because it leads no more or could not renew
	// the lease. It will not run on, so the next need not wait for the lease's end. The rest then means nothing.
	Lost bool
	// DB is the database of the attempt.
	DB string
}

// delivers reports whether the destination has taken the message, and what it brought was not refused.
func (r *Result) delivers() bool { return r.Response.ok() && r.Error == "" }

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (r *Result) Fields(c *wire.Codec) {
	r.AttemptRef.Fields(c)
	c.Record(r.Response.Fields)
	c.Text(&r.Error)
	c.Varint(&r.RetryDelay)
	c.Varint(&r.Took)
	if c.More(r.Lost || r.DB != "") {
		c.Bool(&r.Lost)
	}
	if c.More(r.DB != "") {
		c.Text(&r.DB)
	}
}

// Answer is the result of an attempt with the commands that its answer brings.
type Answer struct {
	Result
	// Commit is a JSON array of arrays, empty if the answer brings no commands or none were asked for.
	Commit []byte
}

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (a *Answer) Fields(c *wire.Codec) {
	c.Record(a.Result.Fields)
	c.Bytes(&a.Commit)
}

// Results is the argument of the operation Finish.
type Results struct{ Items []Result }

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (r *Results) Fields(c *wire.Codec) { wire.Records(c, &r.Items) }

// Disposition is the state of a message after the result of its attempt.
type Disposition struct {
	// Stale: the attempt is not the current one, and nothing was changed.
	Stale bool
	State State
	// Next is the time at which the next attempt is due, in unix milliseconds, if State is Retry.
	Next int64
}

// Fields codes the value in its wire format.
func (d *Disposition) Fields(c *wire.Codec) {
	c.Bool(&d.Stale)
	d.State.field(c)
	c.Varint(&d.Next)
}

// Dispositions is the result of the operation Finish, one for each Result.
type Dispositions struct{ Items []Disposition }

// Fields codes the value in its wire format.
func (d *Dispositions) Fields(c *wire.Codec) { wire.List(c, &d.Items, 3) }
