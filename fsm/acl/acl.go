// Package acl says who may do what: the tokens of the cluster, kept as digests,
// and the users they stand for.
package acl

import (
	"crypto/sha256"
	"crypto/subtle"

	"trireme/fsm/wire"
)

// Digest is the SHA-256 of a token. Tokens themselves never enter the log.
type Digest [sha256.Size]byte

// DigestOf is the digest of a token.
func DigestOf(token string) Digest { return sha256.Sum256([]byte(token)) }

// User is on whose behalf a command runs.
type User struct {
	Name string
	// ReadOnly users may run read commands only, without SCAN and KEYS.
	ReadOnly bool
}

// The built-in users of the keyspace's two tokens.
var (
	Default         = &User{Name: "default"}
	DefaultReadOnly = &User{Name: "default_ro", ReadOnly: true}
)

// Role is what a token opens.
type Role uint8

// The roles. The codes stand in the log and never change.
const (
	NoRole Role = iota
	Standard
	ReadOnly
	Messages
	MessagesReadOnly
	Admin
	roles
)

// Tokens are the digests of the cluster's tokens, one for each role; a role whose
// digest is zero has no token.
type Tokens [roles]Digest

// Role is what token opens, NoRole if nothing. Every digest is compared in constant
// time.
func (t *Tokens) Role(token Digest) Role {
	found := NoRole
	for r := Standard; r < roles; r++ {
		if t[r] != (Digest{}) && subtle.ConstantTimeCompare(t[r][:], token[:]) == 1 {
			found = r
		}
	}
	return found
}

// User is the keyspace user of a role, nil if the role doesn't open the keyspace.
func (r Role) User() *User {
	switch r {
	case Standard, Admin:
		return Default
	case ReadOnly:
		return DefaultReadOnly
	}
	return nil
}

// Encode writes the digests.
func (t *Tokens) Encode(w *wire.Writer) {
	for r := Standard; r < roles; r++ {
		w.Bytes(t[r][:])
	}
}

// Decode reads the digests.
func (t *Tokens) Decode(r *wire.Reader) {
	for i := Standard; i < roles; i++ {
		copy(t[i][:], r.Bytes())
	}
}
