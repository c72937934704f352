// Package keyspace is one database: keys to values, with expiry times, in trees that fork in constant time. Keys
// are ordered by a hash, so that a SCAN cursor is a place in that order and needs no memory on any node. Small values stand in one
// allocation with their key; larger ones are Containers.
package keyspace
