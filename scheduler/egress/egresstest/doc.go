// Package egresstest has what tests of deliveries need: a resolver that can be told to
// change its mind.
package egresstest
