// Package buffered counts the memory of requests and replies that are under way on a node, for the node and for each database.
//
// The HTTP edge holds bodies, what is made of them, and replies; the RESP edge holds commands that are arriving, the words of
// blocked calls, and queued transactions. Both count in one Budget, so that --max-buffered-bytes bounds them together. A
// database other than default may hold half of it and no more than its own
// memory limit, 64 MiB (`buffered.leastPart`) at least, counted from 64 KiB (`buffered.largeBytes`) for a request or connection on.
package buffered
