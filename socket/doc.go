// Package socket reads and writes TCP sockets with less between the Go runtime and the
// kernel than package net: the sockets don't block, so each call returns within
// microseconds, and telling the scheduler of it costs as much as a short call and makes
// its monitor look for work. Everything else about a connection stays package net's:
// waiting, deadlines, closing. What is not a plain socket is used as it is. Watch waits for
// many sockets at once.
//
// A function that is returned here belongs to one goroutine at a time.
package socket
