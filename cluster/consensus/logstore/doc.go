// Package logstore is the raft log and the stable store of one node: the log in segments (package wal), raft's own values in
// raft-boltdb behind a wrapper that detects damage which the database itself does not detect.
//
// The database checks nothing but its two meta records, and silently falls back
// to the older one. Here every value carries a checksum, every page is checked before the database opens the file, and a
// high-water mark in another file reveals an older one. Damage, there or in the log, is refused with
// ErrDamaged; it is never repaired in place.
//
// The order is raft, then the store with its cache, then the log and the database.
// Every node sums its own entries, so the network never carries a sum.
//
// Errors at run time: a full disk stays (the outcome of that write is unknown),
// everything else that the disk says ends the process through Options.Fatal. So
// does a disk that does not answer. See docs/design/logstore.md for the reasons.
package logstore
