// Package logstore is the raft log and the stable store of one node: raft-boltdb behind a wrapper that detects
// damage which the database itself does not detect.
//
// The database checks nothing but its two meta records, and silently falls back
// to the older one. Here every entry and every stable value carries a checksum,
// every page is looked at before the database opens the file, and a high-water
// mark beside it shows a lost tail. What does not fit is refused with
// ErrDamaged; it is never repaired in place.
//
// Appends go to a journal first, with one sync each, and are moved into the database in
// the background; see journal.
//
// The order is raft, then the cache, then this wrapper, the journal, the database.
// Every node sums its own entries, so the network never carries a sum.
//
// Errors at run time: a full disk stays (the outcome of that write is unknown),
// everything else that the disk says ends the process through Options.Fatal. So
// does a disk that does not answer. See docs/design/logstore.md for the reasons.
package logstore
