// Package protocol reads requests of the Redis protocol: arrays of bulk strings, which
// programs send, and inline commands, which people type. It is pure: bytes in, words out.
// It also reads replies, for clients.
package protocol
