// Package conformance runs every script of the commands through the entry points that clients use: single commands
// and transactions over HTTP, calls from a Lua script, the RESP port. What was answered as the script has it is
// written to docs/reports/coverage.md.
package conformance
