// Package saving writes trees of the state as the records of a snapshot: one byte that
// says of what kind it is, then its fields.
package saving
