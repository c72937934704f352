// Package socket does nonblocking I/O on plain TCP sockets: Read and Write are those of net.Conn, TryRead, TryWrite and Pending
// never wait, and a Poller waits for many sockets in one goroutine (an epoll of its own), or tells which have input. ReadMarked
// tells how far input was taken. Deadlines, waiting and closing remain package net's. A connection that is more than a socket,
// such as TLS, falls back to package net. A returned function may be used by one goroutine at a time. ShutdownAll ends every
// connection of a process that cannot end itself; BoundRetransmits has a connection go on soon after a partition.
//
// # Why system calls of its own
//
// TryRead, TryWrite and Poller have no counterpart in package net: without them a server
// needs a goroutine for each connection, and a writer may block on a slow client.
//
// On Linux the calls are raw (syscall.RawSyscall): the scheduler is not notified of them. The sockets don't block, so each call
// returns within microseconds, and the notification (entersyscall and exitsyscall, and the monitor thread that looks for
// processors to take away) is a measurable part of so short a call. BenchmarkEcho sends 40 bytes over loopback and back on 32
// connections; processor time of one echo (two reads, two writes, the wakings), mean of four runs on two cores with Go 1.26,
// interleaved:
//
//	package net                               4.64 µs
//	this package, calls that are notified     4.80 µs
//	this package, raw calls                   4.40 µs
//
// Raw calls are 5 % cheaper than package net; the way through syscall.RawConn alone would be 3 % dearer. Under the race detector
// the calls are notified ones, because the detector derives from them what happens before what.
package socket
