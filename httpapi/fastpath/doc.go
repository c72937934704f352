// Package fastpath answers simple HTTP/1.1 requests with little overhead, and passes every connection with any
// other request to net/http.
//
// net/http does more for a request than a command costs: a header map and its strings anew
// each time, a goroutine that watches the connection, deadlines, chunking. A client sends the
// same head over and over on one connection. The fast path takes a request only if all of it is
// beyond doubt: GET, HEAD, POST, PUT, PATCH or DELETE, HTTP/1.1, well-formed lines, one Host, at
// most one Content-Length, no coding, no upgrade, no expectation, a path that is the handler's.
// Anything else, with all its bytes, goes to net/http, which keeps the connection from then on.
// So there is one judge of odd requests, and it is not this one. docs/design/edge.md has the
// figures.
//
// Connections that send only simple requests attach to an event loop (loop.go), which runs those of
// many connections together.
//
// Central types: Server, conn (one connection and its buffers), head (the parsed head of a request, and the parts of
// the last one that still apply).
//
// Invariants: of every request that is answered here net/http would have read the same method, target, headers, host,
// length and body; the next request on a connection sees nothing of the one before, except a map of headers whose lines
// are the same byte by byte, which handlers must not change. FuzzConnection and FuzzRepeatedRequest compare both on
// whole connections.
//
// Rejected: a whole HTTP server of our own (servers differ in odd requests, which
// makes smuggling possible), and fasthttp (another judge of odd requests, and no net/http handlers).
package fastpath
