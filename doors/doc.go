// Package doors holds the test that takes every script of the commands through the doors
// that clients use: single commands and transactions over HTTP, calls from a Lua script,
// the RESP port. What went through, and was answered as the script has it, is written down
// in docs/coverage.md.
package doors
