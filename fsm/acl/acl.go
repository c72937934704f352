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

// Salt goes into the stored digest of a token, so that a table of digests made beforehand finds no token. It is no
// secret. The zero salt is none: what a version before 0.2.0 stored has none.
type Salt [16]byte

// SaltOf is the salt of the tokens that a cluster of that id is founded with.
func SaltOf(cluster string) (s Salt) {
	sum := sha256.Sum256([]byte("salt of tokens\x00" + cluster))
	copy(s[:], sum[:])
	return s
}

// Salted returns the stored form of a token's digest; zero, which is no token, stays zero.
func (d Digest) Salted(by Salt) Digest {
	if by == (Salt{}) || d == (Digest{}) {
		return d
	}
	var b [len(by) + len(d)]byte
	copy(b[copy(b[:], by[:]):], d[:])
	return sha256.Sum256(b[:])
}

// Presented is the digest of a token or password that a client shows. It keeps what it is under the last salt asked
// for: most tokens of a cluster have the same.
type Presented struct {
	Digest Digest
	salt   Salt
	salted Digest
}

// Under returns the stored form of the digest under a salt.
func (p *Presented) Under(salt *Salt) *Digest {
	switch {
	case *salt == Salt{}:
		return &p.Digest
	case p.salt != *salt:
		p.salt, p.salted = *salt, p.Digest.Salted(*salt)
	}
	return &p.salted
}

// equal compares in constant time; no credential is zero.
func (d *Digest) equal(o *Digest) bool {
	return *d != (Digest{}) && subtle.ConstantTimeCompare(d[:], o[:]) == 1
}

// Equal compares in constant time; the zero digest, which is no token, equals nothing.
func (d *Digest) Equal(o *Digest) bool { return d.equal(o) }

// Role is the right of a token of the cluster.
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

// Salted returns the stored form of the tokens.
func (t Tokens) Salted(by Salt) Tokens {
	for r := range t {
		t[r] = t[r].Salted(by)
	}
	return t
}

// Role returns the right of a token, NoRole if it has none. Every digest is compared in constant
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

// Fields codes the value in its wire format.
func (t *Tokens) Fields(c *wire.Codec) {
	for r := Standard; r < roles; r++ {
		digest := t[r][:]
		if c.Bytes(&digest); c.Reading() {
			copy(t[r][:], digest)
		}
	}
}
