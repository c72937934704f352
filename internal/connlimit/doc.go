// Package connlimit limits the connections of a listener: in total and for each address. It is used by the HTTP
// and the RESP listeners.
//
// A table that is full makes room by closing the connection that has been silent for longest (Redis calls such clients idle): of
// those that have not logged in first, of others only if they have been silent for SilentAtLeast. A connection that is being
// answered is never closed. If nothing can be closed the new one is refused, unless it is one of those for which a reserve is
// kept: operators on the machine itself (loopback), and whoever shows the admin token. So an address that opens all the
// connections it may neither keeps others out nor keeps the operator from ending it.
//
// Invariants: the number of slots is at most Total + 2*Reserve; the limit for one address holds always, and its default for every
// address but loopback, behind which a proxy may be; Leave may be called more than once.
package connlimit
