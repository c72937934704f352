// Package redis turns the HTTP forms of a Redis command into argument vectors, and
// replies into the HTTP forms of a reply. It is pure: no sockets, no state.
package redis
