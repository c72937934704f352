// Package saving writes trees of the state as the records of a snapshot: one byte for the kind of the record, then
// its fields.
package saving
