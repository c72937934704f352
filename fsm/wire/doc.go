// Package wire is the field codec of the log and of snapshots. Fields are written
// in a fixed order and only ever appended; a record is length-prefixed, fields
// missing at its end read as zero, and fields left over are an error, so that an
// old binary stops at what it doesn't know rather than differ.
package wire
