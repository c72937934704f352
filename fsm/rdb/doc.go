// Package rdb reads and writes values in the format of Redis's RDB files and DUMP payloads, compatible with
// redis-server 7 in both directions.
//
// Input is hostile: every length is held against the bytes that are there before
// anything is allocated, and what a payload may grow to is bounded by the caller.
package rdb
