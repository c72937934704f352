// Package logstoretest makes entries and snapshots for programs that try package logstore without a raft: they need not
// import the library.
package logstoretest
