package command

import (
	"encoding/hex"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// drawToken returns n secret random bytes, which must never stand in the log: in an apply there
// are none.
func (tx *Tx) drawToken(n int) ([]byte, bool) {
	if !tx.ReadOnly {
		return nil, false
	}
	b := make([]byte, n)
	if tx.Secret(b) {
		return b, true
	}
	for i := range b {
		b[i] = byte(tx.Uint64())
	}
	return b, true
}

// The bits of a drawn password.
const (
	passwordBits    = 256
	maxPasswordBits = 4096
)

var errBits = reply.Error("ERR ACL GENPASS argument must be the number of bits for the output password, a positive number up to 4096")

func aclGenPass(tx *Tx, a *Args) reply.Value {
	bits := int64(passwordBits)
	switch a.Left() {
	case 0:
	case 1:
		bits = a.Int()
	default:
		return a.errWords()
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	if bits <= 0 || bits > maxPasswordBits {
		return errBits
	}
	digits := int(bits+3) / 4
	b, ok := tx.drawToken((digits + 1) / 2)
	if !ok {
		return errChance
	}
	return reply.Bulk(hex.EncodeToString(b)[:digits])
}

// aclGenToken makes a token from chance or from a password, of which it gets the digest.
func aclGenToken(tx *Tx, a *Args) reply.Value {
	if a.Left() > 2 {
		return a.errWords()
	}
	name, proof := a.userName(), []byte(nil)
	if a.Left() > 0 {
		word := a.String()
		d, ok := sealedDigest(word)
		switch {
		case word == weakPassword || !ok:
			a.Fail(errWeak)
		default:
			proof = d[:]
		}
	}
	switch err, ok := a.Done(); {
	case !ok:
		return err
	case name == acl.DefaultName || name == acl.ReadOnlyName:
		return errBuiltin(name, "modified")
	}
	if proof == nil {
		var ok bool
		if proof, ok = tx.drawToken(32); !ok {
			return errChance
		}
	}
	return reply.Bulk(acl.GeneratedToken(name, proof))
}

func aclRESTToken(tx *Tx, a *Args) reply.Value {
	name, word := a.String(), a.String()
	if err, ok := a.Done(); !ok {
		return err
	}
	password, sealed := sealedDigest(word)
	token, ok := tx.Users.RESTToken(name, password)
	if !ok || !sealed {
		return reply.Error("ERR Wrong password or user " + clean(name) + " does not exist")
	}
	return reply.Bulk(token)
}
