// Package httpapi is the HTTP edge of a node: it authenticates requests, turns them into
// operations or reads, calls the engine once, and writes the reply. It keeps no state that a
// restart would lose.
//
// Central types: Server joins the parts; call is one request while it is answered, pooled with its
// buffers: what is asked (request), what it may (rights) and what it is answered (response); route is a row
// of the table of routes, by which gin leads every request that is no command; failure is a reply that is not a
// command's own, with what it says about the outcome of a write. Below it, fastpath answers simple
// HTTP/1.1 requests without net/http, redis turns paths and bodies into commands and replies into JSON
// or RESP2, messages serves /v2, workflows serves those paths of /v2 that concern runs.
//
// Invariants:
//   - Bytes of a body are read only after the token is known, and count against the budget of
//     all bodies and replies under way.
//   - Every failure says by Svc-Outcome whether the write may have been applied.
//   - A refused token is confirmed by a state that holds everything acknowledged so far, so
//     that a token works on every node as soon as it was made.
//   - No argument, body, token or query string is logged.
//
// cmd/trireme makes the Server; package httpapi imports neither cluster nor resp.
package httpapi
