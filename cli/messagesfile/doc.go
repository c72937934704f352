// Package messagesfile reads and writes the messages and workflow runs of a database as lines of JSON: what `trireme export
// --messages` makes and `trireme import --messages` takes. docs/import.md describes the format.
//
// Each line has a kind, what people and other programs want to see, and the record of the state machine, which alone is
// imported. The last line has the number of records and their sum, so that a file that was cut or changed is refused.
package messagesfile
