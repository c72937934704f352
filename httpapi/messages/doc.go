// Package messages is the HTTP API of messages under /v2: it parses requests into operations of package queue, and
// writes their results in the form that existing clients expect.
//
// It defines the meaning of a header once, for every place: headers of a request, its query string, the items of a
// batch, the defaults of a URL group, the overrides of a dead letter that is retried. The state machine judges what a
// message may ask for.
package messages
