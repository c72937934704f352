// Package resptest runs real nodes with RESP servers in one process, and speaks to them as
// a client that shows everything it gets.
package resptest
