package acl

import (
	"crypto/sha256"
	"crypto/subtle"

	"github.com/trireme-dev/trireme/fsm/wire"
)

// Digest is the SHA-256 of a token or password. The secrets themselves never enter the
// log.
type Digest [sha256.Size]byte

// DigestOf is the digest of a token or password.
func DigestOf(secret string) Digest { return sha256.Sum256([]byte(secret)) }

// equal compares in constant time; no credential is zero.
func (d *Digest) equal(o *Digest) bool {
	return *d != (Digest{}) && subtle.ConstantTimeCompare(d[:], o[:]) == 1
}

// Role is what a token that a cluster is founded with opens.
type Role uint8

// The roles. The codes stand in the log and never change. Standard and ReadOnly are
// those of the database "default"; the others belong to the cluster.
const (
	NoRole Role = iota
	Standard
	ReadOnly
	Messages
	MessagesReadOnly
	Admin
	roles
)

// Tokens are the digests of the tokens that a cluster is founded with, one for each
// role; a role whose digest is zero has no token.
type Tokens [roles]Digest

// Role is what token opens, NoRole if nothing. Every digest is compared in constant
// time.
func (t *Tokens) Role(token Digest) Role {
	found := NoRole
	for r := Standard; r < roles; r++ {
		if t[r].equal(&token) {
			found = r
		}
	}
	return found
}

// Fields are those of the format.
func (t *Tokens) Fields(c *wire.Codec) {
	for r := Standard; r < roles; r++ {
		digest := t[r][:]
		if c.Bytes(&digest); c.Reading() {
			copy(t[r][:], digest)
		}
	}
}
