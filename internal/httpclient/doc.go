// Package httpclient sends HTTP requests over kept connections with little overhead. It is the counterpart of
// httpapi/fastpath.
//
// net/http has two goroutines for each connection, and hands every request from the caller to one of them and every
// answer from the other one back: four switches, and as many allocations as the request itself. Here the caller writes
// the request by one system call and reads the answer itself. net/http also repeats requests by rules of its own.
//
// A Client sends plain http, https with HTTP/1.1 or HTTP/2 as the server chooses, and both by an HTTP proxy. It refuses
// requests with headers of the connection, trailers, or a name that is not in ASCII. Of the answers over HTTP/1.1 it
// parses those itself that are plain: lines that end as they should, one Content-Length, or 204. The bytes of every other
// answer (chunks, interim answers, lengths that contradict each other, folded lines, HTTP/1.0, an end by the end of the
// connection) are read by http.ReadResponse, so there is one judge of odd answers; after such an answer the connection is
// not used again, unless all that is special are its chunks. HTTP/2 is golang.org/x/net/http2's: one connection of it, not
// its pool, which repeats requests.
//
// Central types: Client (an http.RoundTripper, and its pool), conn, shared, body.
//
// Invariants: nothing of a request is sent twice: another connection is tried only if a kept one took not a single
// byte. A connection is not used again once its server may have given it up (KeepFor). One of HTTP/1.1 carries one request
// at a time, and is kept only if exactly the answer was read from it. A context that ends closes it at once. FuzzAnswer
// compares every answer with that of net/http.
package httpclient
