package queue

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/wire"
)

// Content is what a message is: everything that was settled when it was published. It never changes. Its texts and its
// body alias the stored message and must not be written to.
type Content struct {
	// URL is where it is delivered, verbatim.
	URL string
	// API is the name of the API destination that URL stands for; the deliverer adds that API's credentials.
	API  string
	Body []byte
	Options
	// Group and Endpoint name the URL group (topic) it was published to, and the endpoint of it.
	Group, Endpoint string
	// Schedule is the id of the schedule that made it.
	Schedule string
	// CallerIP is the address of the publisher.
	CallerIP string
	// Created is in unix milliseconds; FirstAt is the earliest first attempt, the same as Created without a delay.
	Created, FirstAt int64
	// Source is the message of which this one is a callback.
	Source Source
	// Run is what package flow has to say about a message of a workflow run; empty for others.
	Run []byte

	kept kept
}

// kept says how a message is stored. What version 0.1.0 stored has none of it.
type kept struct {
	reserves bool
	body     uint64 // the number of a body that several messages have
}

// Source says of a callback message what it tells.
type Source struct {
	// ID is the message whose outcome it tells; zero if this is no callback.
	ID ID
	// Failed: it is the failure callback, not the callback after an attempt.
	Failed bool
}

// Host is the destination's host with its port, in lower case: what a host's share of attempts is counted by.
func (c *Content) Host() string {
	_, rest, _ := strings.Cut(c.URL, "://")
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	return strings.ToLower(rest[strings.LastIndexByte(rest, '@')+1:])
}

// Path is the path of the destination without query, / if it is empty.
func (c *Content) Path() string {
	_, rest, _ := strings.Cut(c.URL, "://")
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		rest = rest[:i]
	}
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		return rest[i:]
	}
	return "/"
}

// Fields are those of the format; texts and bytes alias what they are read from.
func (m *Content) Fields(c *wire.Codec) {
	c.Text(&m.URL)
	c.Text(&m.API)
	c.Bytes(&m.Body)
	c.Record(m.Options.Fields)
	c.Text(&m.Group)
	c.Text(&m.Endpoint)
	c.Text(&m.Schedule)
	c.Text(&m.CallerIP)
	c.Varint(&m.Created)
	c.Varint(&m.FirstAt)
	m.Source.ID.Fields(c)
	c.Bool(&m.Source.Failed)
	c.Bytes(&m.Run)
	if c.More(m.kept != kept{}) {
		c.Bool(&m.kept.reserves)
		c.Uvarint(&m.kept.body)
	}
}
