package fsm

import (
	"crypto/hmac"
	"crypto/sha256"

	"github.com/trireme-dev/trireme/fsm/acl"
)

// Derive returns a key for a purpose, made of the cluster's secret: the same on every
// node, another one for every purpose and every cluster. It tells nothing of the secret.
func (v *View) Derive(purpose string) (key [32]byte) { return v.s.derive(purpose) }

func (s *State) derive(purpose string) (key [32]byte) {
	h := hmac.New(sha256.New, s.secret[:])
	h.Write([]byte("derived key\x00" + purpose))
	copy(key[:], h.Sum(nil))
	return key
}

// RESTToken returns the bearer token of a user of a database (empty: default) whose
// password has that digest; false if they don't match.
func (v *View) RESTToken(db, user string, password [32]byte) (string, bool) {
	d := v.s.database(db)
	if d == nil {
		return "", false
	}
	return d.users.RESTToken(user, password)
}

// roleTokens is the purpose of the key of role tokens.
const roleTokens = "role token"

// hasRoleTokens reports whether there are role tokens of a role: those of the cluster.
func hasRoleTokens(role acl.Role) bool {
	return role == acl.Admin || role == acl.Messages || role == acl.MessagesReadOnly
}

// RoleToken returns a bearer token for whoever the operator lets act in a role of the cluster
// without its token. It dies when that token is replaced. False for roles of a database, and
// where the role has no token.
func (v *View) RoleToken(role acl.Role) (string, bool) {
	if !hasRoleTokens(role) || v.s.tokens.inForce[role] == (acl.Digest{}) {
		return "", false
	}
	return acl.RoleToken(v.s.derive(roleTokens), role, &v.s.tokens.inForce[role]), true
}

// DelegatedToken returns a bearer token for whoever the operator lets act as a user of a
// database (empty: default) without the password. It dies with the password. False if the user
// can't sign in.
func (v *View) DelegatedToken(db, user string) (string, bool) {
	d := v.s.database(db)
	if d == nil {
		return "", false
	}
	return d.users.DelegatedToken(user)
}
