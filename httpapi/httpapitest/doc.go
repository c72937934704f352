// Package httpapitest has an engine for tests of the HTTP edge: a real state machine
// behind a log that is one process's and applies at once.
package httpapitest
