package acl

import "trireme/fsm/wire"

// By says what proved an identity.
type By uint8

// The proofs. The codes stand in the log and never change.
const (
	// Nobody: nothing proved anything.
	Nobody By = iota
	// ByCredential: a token or password of the user, still valid while the user has the
	// credential of that number.
	ByCredential
	// ByAdmin: the cluster's admin token, which acts as the user default of any database.
	ByAdmin
	// ByProcess: the request was made by the process itself; no client has this.
	ByProcess
)

// Identity is on whose behalf a request runs, as its credential has proved it. It
// travels in the log without the credential and is judged again by the state that it
// meets there: a credential that was revoked meanwhile proves nothing any more.
type Identity struct {
	// DB names the database; empty is "default".
	DB   string
	By   By
	User string
	// Credential is the number of the user's credential, never given twice in a database.
	Credential uint64
}

// Known tells whether anything proved the identity. Whether it still does is for a state
// to say.
func (i Identity) Known() bool { return i.By != Nobody }

// The names of the built-in users: the Standard token is the first one's only
// credential, the Read Only token the second one's.
const (
	DefaultName  = "default"
	ReadOnlyName = "default_ro"
)

// Trusted is the process itself as a user of the database "default": what tests and
// internal requests run as.
func Trusted(user string) Identity { return Identity{By: ByProcess, User: user} }

// Encode writes the fields.
func (i *Identity) Encode(w *wire.Writer) {
	w.String(i.DB)
	w.Fixed([]byte{byte(i.By)})
	w.String(i.User)
	w.Uvarint(i.Credential)
}

// Decode reads the fields.
func (i *Identity) Decode(r *wire.Reader) {
	i.DB, i.By = r.String(), By(r.Fixed(1)[0])
	i.User, i.Credential = known(r.Bytes()), r.Uvarint()
}

// known is name as a string; that of nearly every request costs no allocation.
func known(name []byte) string {
	if string(name) == DefaultName {
		return DefaultName
	}
	return string(name)
}
