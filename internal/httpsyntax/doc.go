// Package httpsyntax judges the parts of HTTP/1.1 messages: tokens, values, hosts and line ends.
//
// It is shared by the server's fast path (httpapi/fastpath) and by the client of deliveries (internal/httpclient), which
// both leave to net/http what they are not certain about. Its functions have no state.
package httpsyntax
