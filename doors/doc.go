// Package doors holds the test that takes every script of the commands through the doors
// that clients use: single commands over HTTP, transactions over HTTP. What went through,
// and was answered as the script has it, is written down in docs/coverage.md.
package doors
