package queue

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/wire"
)

// Content is the part of a message that its publication settled. It never changes. Its texts and its
// body alias the stored message and must not be written to.
type Content struct {
	// URL is the destination, verbatim.
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
	// Run is the coded workflow.Ref of a message of a workflow run; empty for others.
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
func (co *Content) Host() string {
	_, rest, _ := strings.Cut(co.URL, "://")
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	return strings.ToLower(rest[strings.LastIndexByte(rest, '@')+1:])
}

// Path is the path of the destination without query, / if it is empty.
func (co *Content) Path() string {
	_, rest, _ := strings.Cut(co.URL, "://")
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		rest = rest[:i]
	}
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		return rest[i:]
	}
	return "/"
}

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (co *Content) Fields(c *wire.Codec) {
	c.Text(&co.URL)
	c.Text(&co.API)
	c.Bytes(&co.Body)
	c.Record(co.Options.Fields)
	c.Text(&co.Group)
	c.Text(&co.Endpoint)
	c.Text(&co.Schedule)
	c.Text(&co.CallerIP)
	c.Varint(&co.Created)
	c.Varint(&co.FirstAt)
	co.Source.ID.Fields(c)
	c.Bool(&co.Source.Failed)
	c.Bytes(&co.Run)
	if c.More(co.kept != kept{}) {
		c.Bool(&co.kept.reserves)
		c.Uvarint(&co.kept.body)
	}
}
