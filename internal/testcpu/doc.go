// Package testcpu tells tests how much processor time their process has used, and how large scaling tests are.
//
// A test that judges how work grows can't judge by the clock: on a busy machine it may wait for a processor longer than it works.
package testcpu
