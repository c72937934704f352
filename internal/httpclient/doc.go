// Package httpclient sends plain HTTP/1.1 requests over kept connections with little overhead. It is the counterpart of
// httpapi/fastpath.
//
// net/http has two goroutines for each connection, and hands every request from the caller to one of them and every
// answer from the other one back: four switches, and as many allocations as the request itself. Here the caller writes
// the request by one system call and reads the answer itself.
//
// A Client takes a request only if it is beyond doubt (Fits): plain http, a whole body of known length, no headers of
// the connection; for others there is net/http. Of the answers it parses those itself that are plain: HTTP/1.1, lines
// that end as they should, one Content-Length, or 204. The bytes of every other answer (chunks, interim answers,
// lengths that contradict each other, folded lines, HTTP/1.0, an end by the end of the connection) are read by
// http.ReadResponse, so there is one judge of odd answers; after such an answer the connection is not used again,
// unless all that is special are its chunks.
//
// Central types: Client (an http.RoundTripper, and its pool), conn, body.
//
// Invariants: nothing of a request is sent twice: another connection is tried only if a kept one took not a single
// byte. A connection is not used again once its server may have given it up (KeepFor). It carries one request at a time, and is kept only if exactly the answer was read from it. A context
// that ends closes the connection at once. FuzzAnswer compares every answer with that of net/http.
package httpclient
