// Package commandtest generates random commands, valid and invalid, for tests that feed them to several machines
// or to a real server.
package commandtest
