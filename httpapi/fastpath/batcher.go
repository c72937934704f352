package fastpath

import (
	"context"
	"net/http"
)

// Batcher runs simple requests of several connections together.
type Batcher interface {
	// Prepare reads a request that may run together with others, without waiting for anything. It returns nil for one
	// that may not, with which nothing was done then. What Reply writes goes to w.
	Prepare(w http.ResponseWriter, r *http.Request) Request
	// Run runs prepared requests, each of which joins the first. It returns when every one has its Result.
	Run(ctx context.Context, batch []Request)
}

// Request is a request that was prepared.
type Request interface {
	// Joins reports whether the request may be in a batch with another one.
	Joins(Request) bool
	// Result says after Run how the request is to be answered. If it is Alone, the request is over.
	Result() Result
	// Reply writes the reply, after which the request is over.
	Reply()
}

// Result says how a request of a batch is to be answered.
type Result uint8

const (
	// Small requests have a small reply.
	Small Result = iota
	// Large requests have a reply that the client may take long to read.
	Large
	// Alone requests were not run: the handler answers them.
	Alone
)
