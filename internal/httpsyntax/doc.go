// Package httpsyntax judges the parts of HTTP/1.1 messages: tokens, values, hosts, line ends, dates, and which headers
// belong to a connection.
//
// The server's fast path (httpapi/fastpath) and the client of deliveries (internal/httpclient) leave to net/http what they
// are not certain about. Everything that passes headers on asks IsHopByHop or EndToEnd, in every direction. Its functions have no state.
package httpsyntax
