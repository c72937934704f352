// Package httpsyntax judges the parts of HTTP/1.1 messages: tokens, values, hosts, line ends and dates.
//
// The server's fast path (httpapi/fastpath) and the client of deliveries (internal/httpclient) leave to net/http what they
// are not certain about. Its functions have no state.
package httpsyntax
