// Package rdb reads and writes values in the format of Redis's RDB files, which is also
// that of DUMP payloads: what a redis-server of version 7 writes is read, and what is
// written a redis-server of version 7 reads.
//
// Input is hostile: every length is held against the bytes that are there before
// anything is allocated, and what a payload may grow to is bounded by the caller.
package rdb
