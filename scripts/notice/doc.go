// Command notice writes NOTICE: the licences of all modules that the binary links.
//
//	go run ./scripts/notice > NOTICE
//
// A module without a licence file, or with one it does not know, is an error: somebody
// has to read it.
package main
