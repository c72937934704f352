// Package listpack reads and writes Redis's listpack: a string of bytes that holds a
// list of short strings, integers in binary. RDB files and DUMP payloads are made of
// them, and their size decides what OBJECT ENCODING answers.
package listpack
