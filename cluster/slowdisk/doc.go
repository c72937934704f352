// Package slowdisk judges from the times of syncs whether a node's disk is slow, and whether a leader with a slow disk gives
// leadership away. It does no I/O and reads no clock: its caller notes what it has measured, and ticks every Interval.
//
// A disk is slow by an absolute bound: syncs that take microseconds are never slow, whatever others do. A leader gives way only
// if that helps, which is judged by its followers' answers: a majority of the voters, without this leader, must be several
// times faster. Where all disks are slow, or too few are healthy, leadership stays.
//
// See docs/design/failover.md.
package slowdisk
