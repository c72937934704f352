package queue

import (
	"bytes"
	"slices"

	"github.com/trireme-dev/trireme/fsm/wire"
)

// Publication asks for one message, or for one message to each endpoint of a URL group.
type Publication struct {
	// URL is the destination, as httpurl.Read returns it; or Group names the URL group, by its name or id. One of the two is set.
	URL, Group string
	// API is the name of the API destination that was resolved to URL.
	API string
	Options
	// DedupID and ContentDedup ask for at most one message in the window of Settings.DedupWindow.
	DedupID      string
	ContentDedup bool
	Body         []byte
	CallerIP     string
	// Run is kept with the message for package flow.
	Run []byte
}

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (p *Publication) Fields(c *wire.Codec) {
	c.Text(&p.URL)
	c.Text(&p.Group)
	c.Text(&p.API)
	c.Record(p.Options.Fields)
	c.Text(&p.DedupID)
	c.Bool(&p.ContentDedup)
	c.Bytes(&p.Body)
	c.Text(&p.CallerIP)
	c.Bytes(&p.Run)
}

// sameContent reports whether two publications ask for the same. Who asked, in which trace, and the salt of what is
// redacted differ when a client sends a request again.
func (p *Publication) sameContent(o *Publication) bool {
	a, b := p.withoutBody(), o.withoutBody()
	return bytes.Equal(p.Body, o.Body) && bytes.Equal(wire.Marshal(&a), wire.Marshal(&b))
}

// withoutBody returns a publication without its body.
func (p *Publication) withoutBody() Publication {
	a := *p
	a.Options, a.Body, a.CallerIP = a.InTrace(TraceContext{}), nil, ""
	if p.Redact != nil {
		r := *p.Redact
		r.Salt, a.Redact = nil, &r
	}
	return a
}

// Publications is the argument of the operation Publish: each is judged on its own.
type Publications struct{ Items []Publication }

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (p *Publications) Fields(c *wire.Codec) { wire.Records(c, &p.Items) }

// Published is one message that a publication made, or found to be there already.
type Published struct {
	ID  ID
	URL string
	// Deduplicated: nothing was made; ID is the message of that deduplication id.
	Deduplicated bool
	// Debounced: ID was there already, and delivers this publication instead of the one before.
	Debounced bool
	// Attached: nothing was made; ID is the live message of that singleton.
	Attached bool
	// Batch is the message that delivers the publication with others; zero for one that is delivered on its own.
	Batch ID
}

// Fields codes the value in its wire format.
func (p *Published) Fields(c *wire.Codec) {
	p.ID.Fields(c)
	c.String(&p.URL)
	c.Bool(&p.Deduplicated)
}

// Receipt answers one publication: Refused, or its messages, in the order of the group's endpoints.
type Receipt struct {
	Messages []Published
	// Group: the destination was a URL group, so that Messages is answered as a list.
	Group bool
	// Refused is nil if the publication was accepted.
	Refused *Error
}

// Receipts is the result of the operation Publish, one for each publication.
type Receipts struct{ Items []Receipt }

// Fields codes the value in its wire format.
func (r *Receipts) Fields(c *wire.Codec) { wire.Records(c, &r.Items) }

// Fields codes the value in its wire format.
func (r *Receipt) Fields(c *wire.Codec) {
	wire.List(c, &r.Messages, 4)
	c.Bool(&r.Group)
	OptionalError(c, &r.Refused)
	joinedFields(c, r.Messages)
}

// joinedFields codes at the end of a record how publications have joined others, from the level env.Files on.
func joinedFields(c *wire.Codec, list []Published) {
	if !c.More(slices.ContainsFunc(list, Published.joined)) {
		return
	}
	for i := range list {
		m := &list[i]
		c.Bool(&m.Debounced)
		c.Bool(&m.Attached)
		m.Batch.Fields(c)
	}
}

// joined reports whether the publication has joined others.
func (p Published) joined() bool { return p.Debounced || p.Attached || !p.Batch.IsZero() }
