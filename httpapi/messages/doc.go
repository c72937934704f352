// Package messages is the HTTP API of messages under /v2: it parses requests into operations of package queue, and
// writes their results in the form that existing clients expect.
//
// What a header means is settled here, once, for every way in: headers of a request,
// its query string, the items of a batch, the defaults of a URL group, the overrides of
// a dead letter that is retried. What a message may ask for is judged by the state
// machine.
package messages
