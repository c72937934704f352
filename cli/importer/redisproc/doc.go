// Package redisproc runs a redis-server, for tests and acceptance runs that compare with
// one.
package redisproc
