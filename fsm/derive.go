package fsm

import (
	"crypto/hmac"
	"crypto/sha256"
)

// Derive returns a key for a purpose, made of the cluster's secret: the same on every
// node, another one for every purpose and every cluster. It tells nothing of the secret.
func (v *View) Derive(purpose string) (key [32]byte) {
	h := hmac.New(sha256.New, v.s.secret[:])
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
