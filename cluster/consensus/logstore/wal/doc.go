// Package wal keeps raft logs in one sequence of segment files: append, read by index, drop the end, drop the beginning.
//
// Several logs share the files, and a batch of entries of several logs takes one write and one sync. A record notes each drop,
// too, so the files are only ever appended to. A segment in which no log has entries is used again for a new one.
//
// Every record has a checksum, a number, and the checksum of the record before, and every entry a checksum of its own. Open reads
// everything. It takes a record that does not fit for an append that was cut off, if nothing sound follows it, and otherwise
// refuses with ErrDamaged. docs/design/logstore.md has the format and the reasons.
//
// The package judges no error: its caller decides what a failed write or sync means for the process.
package wal
