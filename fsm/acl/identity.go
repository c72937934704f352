package acl

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/wire"
)

// By says what proved an identity.
type By uint8

// The proofs. The codes stand in the log and never change.
const (
	// Nobody is the identity of a client without a valid credential.
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

// Known reports whether anything proved the identity. Whether it still does is for a state
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

// Fields codes the value in its wire format.
func (i *Identity) Fields(c *wire.Codec) {
	c.String(&i.DB)
	c.Byte((*byte)(&i.By))
	name := i.User
	if c.Text(&name); c.Reading() {
		i.User = known(name)
	}
	c.Uvarint(&i.Credential)
}

// known is name as a string; that of nearly every request costs no allocation.
func known(name string) string {
	if name == DefaultName {
		return DefaultName
	}
	return strings.Clone(name)
}
