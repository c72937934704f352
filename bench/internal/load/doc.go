// Package load is a closed-loop HTTP/1.1 load generator: N keep-alive connections, each
// with one request in flight.
//
// It shares the machine's cores with the servers that it measures. So it writes requests
// and reads replies by hand on the bare socket, at about a tenth of net/http's cost;
// net/http was tried first and took more processor time than the server.
package load
