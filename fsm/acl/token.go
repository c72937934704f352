package acl

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash"
)

// A token of an ACL user names its user, so that one look-up finds who it is. In base64:
//
//	kind, length of the name, name, proof
//
// The proof of a REST token is an HMAC of the user's name and one of its password
// digests under the cluster's secret: nothing is stored, and the token dies with the
// password. That of a generated token is random; the token as a whole is a password.
// A role token names a role of the cluster in the place of a user; its proof is an HMAC of
// the digest of that role's token, so it dies when that one is replaced.
const (
	kindREST      = 1
	kindGenerated = 2
	kindRole      = 3
)

// maxUserName is the longest name of a user in bytes.
const maxUserName = 255

// maxToken is the longest token that names its user, in bytes before its encoding.
const maxToken = 768

var tokenEncoding = base64.URLEncoding.Strict()

// SetKey makes the key of REST tokens from the cluster's secret and the database's
// number: a token of one database proves nothing to another.
func (s *Store) SetKey(secret [32]byte, database uint64) {
	h := hmac.New(sha256.New, secret[:])
	h.Write([]byte("rest token"))
	h.Write(binary.BigEndian.AppendUint64(nil, database))
	copy(s.key[:], h.Sum(nil))
}

func (s *Store) proof(user string, password *Digest) (d Digest) {
	return proof(hmac.New(sha256.New, s.key[:]), user, password)
}

func proof(h hash.Hash, user string, password *Digest) (d Digest) {
	h.Write(password[:])
	h.Write([]byte(user))
	copy(d[:], h.Sum(nil))
	return d
}

func assemble(kind byte, user string, proof []byte) string {
	b := append([]byte{kind, byte(len(user))}, user...)
	return tokenEncoding.EncodeToString(append(b, proof...))
}

// anyPassword stands for the password of a user that has none.
var anyPassword = Digest{1}

// RESTToken is the token for a user whose password has that digest; false if the user
// is unknown, disabled, or has another password.
func (s *Store) RESTToken(user string, password Digest) (string, bool) {
	u := s.User(user)
	if u == nil || len(user) > maxUserName {
		return "", false
	}
	number := u.prove(&Presented{Digest: password})
	if number == 0 {
		return "", false
	}
	stored := anyPassword
	for i := range u.credentials {
		if u.credentials[i].number == number {
			stored = u.credentials[i].digest
		}
	}
	proof := s.proof(user, &stored)
	return assemble(kindREST, user, proof[:]), true
}

// DelegatedToken is RESTToken without the password, for whoever the operator lets act as the
// user: it dies with the user's first password. False if the user is unknown, disabled, or has no
// password.
func (s *Store) DelegatedToken(user string) (string, bool) {
	u := s.User(user)
	if u == nil || !u.enabled || len(user) > maxUserName || len(u.credentials) == 0 && u.noPass == 0 {
		return "", false
	}
	stored := anyPassword
	if len(u.credentials) > 0 {
		stored = u.credentials[0].digest
	}
	proof := s.proof(user, &stored)
	return assemble(kindREST, user, proof[:]), true
}

// RoleToken is a bearer token of a role of the cluster whose token has that digest, under a
// key of the cluster's.
func RoleToken(key [32]byte, role Role, token *Digest) string {
	proof := roleProof(key, role, token)
	return assemble(kindRole, string([]byte{byte(role)}), proof[:])
}

func roleProof(key [32]byte, role Role, token *Digest) (d Digest) {
	h := hmac.New(sha256.New, key[:])
	h.Write([]byte{byte(role)})
	h.Write(token[:])
	copy(d[:], h.Sum(nil))
	return d
}

// DelegatedRole is the role that a role token names, NoRole for every other token.
func (b *Bearer) DelegatedRole() Role {
	if b.kind != kindRole || len(b.user) != 1 {
		return NoRole
	}
	return Role(b.user[0])
}

// ProvesRole reports whether a role token was made under that key for that digest.
func (b *Bearer) ProvesRole(key [32]byte, token *Digest) bool {
	want := roleProof(key, b.DelegatedRole(), token)
	return b.DelegatedRole() != NoRole && want.equal(&b.proof)
}

// GeneratedToken is a password for the user that is a bearer token too, made of random
// bytes or of a password of the caller's.
func GeneratedToken(user string, proof []byte) string { return assemble(kindGenerated, user, proof) }

// Token is the digest of a token of a built-in user as it is stored under a salt, or the proof of its REST token.
type Token struct {
	Digest Digest
	Salt   Salt
}

// Builtins returns the built-in users, which are other ones after their tokens have changed.
func (s *Store) Builtins() [2]*User { return s.builtins }

// Tokens returns what the tokens of the built-in users are found by.
func (s *Store) Tokens() (all []Token) {
	h := hmac.New(sha256.New, s.key[:])
	for _, u := range s.builtins {
		for i := range u.credentials {
			c := &u.credentials[i]
			h.Reset()
			all = append(all, Token{c.digest, c.salt}, Token{Digest: proof(h, u.Name, &c.digest)})
		}
	}
	return all
}

// Bearer is a token as a client presents it.
type Bearer struct {
	Presented
	kind  byte
	user  string
	proof Digest
}

// ParseBearer reads a token of any kind.
func ParseBearer(token []byte) Bearer {
	t := Bearer{Presented: Presented{Digest: sha256.Sum256(token)}}
	var buf [maxToken]byte
	if tokenEncoding.DecodedLen(len(token)) > len(buf) {
		return t
	}
	n, err := tokenEncoding.Decode(buf[:], token)
	b := buf[:n]
	if err != nil || n < 2 || n < 2+int(b[1]) {
		return t
	}
	name, proof := b[2:2+int(b[1])], b[2+int(b[1]):]
	switch {
	case (b[0] == kindREST || b[0] == kindRole) && len(proof) == len(t.proof):
		copy(t.proof[:], proof)
	case b[0] != kindGenerated:
		return t
	}
	t.kind, t.user = b[0], string(name)
	return t
}

// NamesUser reports whether the token names its user, and returns its proof if it is a REST token, zero otherwise.
func (b *Bearer) NamesUser() (proof Digest, names bool) {
	if b.kind == kindREST {
		return b.proof, true
	}
	return Digest{}, b.kind == kindGenerated
}

// Bearer returns the user of a token and the number of its credential, 0 if it has
// none. Digests are compared in constant time.
func (s *Store) Bearer(t *Bearer) (user string, credential uint64) {
	for _, name := range [...]string{DefaultName, ReadOnlyName} {
		if number := s.User(name).prove(&t.Presented); number != 0 {
			user, credential = name, number
		}
	}
	if credential != 0 || t.kind == 0 || t.kind == kindRole {
		return user, credential
	}
	u := s.User(t.user)
	switch {
	case u == nil || !u.enabled:
		return "", 0
	case t.kind == kindGenerated:
		return u.Name, u.proveOnly(&t.Presented)
	}
	return u.Name, s.proveREST(u, &t.proof)
}

// proveOnly is prove for users that take any password: a bearer token must be one of
// theirs.
func (u *User) proveOnly(password *Presented) uint64 {
	if number := u.prove(password); number != u.noPass {
		return number
	}
	return 0
}

func (s *Store) proveREST(u *User, proof *Digest) (number uint64) {
	for i := range u.credentials {
		if want := s.proof(u.Name, &u.credentials[i].digest); want.equal(proof) {
			number = u.credentials[i].number
		}
	}
	if want := s.proof(u.Name, &anyPassword); u.noPass != 0 && want.equal(proof) {
		number = u.noPass
	}
	return number
}
