// Package httpapitest provides an engine for tests of the HTTP edge: a real state machine with a log in the same
// process that applies at once.
package httpapitest
