// Package importer imports a Redis RDB file into a database, through the HTTP API of any node.
//
// A key is sent as it is in the file, by RESTORE, many to a request; values larger than a request
// are sent in parts under a temporary name and renamed. Invariant: a key is in the database
// completely or not at all, so that an import that was stopped can be repeated, or resumed with the
// number of keys that Report.Done names. Run is the entry point; cmd/trireme is its only caller.
package importer
