package command

import (
	"math"
	"strings"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// permit says why tx's user may not call c with these words, which have passed the
// arity check; nil if it may.
func (tx *Tx) permit(c *Command, argv [][]byte) *reply.Value {
	switch {
	case (tx.User != nil && tx.User.Free()) || c.Flags&NoAuth != 0:
		return nil
	case tx.User == nil:
		return ptr(errNobody(tx.Origin))
	}
	call := tx.call(c, argv)
	if refusal := tx.spendCheck(c, tx.User, call); refusal != nil {
		return refusal
	}
	denied, name := tx.User.Permit(call)
	if denied == acl.Permitted {
		return nil
	}
	return ptr(refusal(tx, c, denied, name))
}

// call describes the call that the user must be permitted to make.
func (tx *Tx) call(c *Command, argv [][]byte) *acl.Call {
	call := &acl.Call{Command: c.number}
	places := c.Keys.Positions(argv)
	for i, at := range places {
		call.Keys = append(call.Keys, acl.Key{Name: string(argv[at]), Access: c.access(argv, i)})
	}
	call.Channels, call.Patterns = c.channels(argv)
	return call
}

// spendCheck takes the work of checking a call with the patterns of a user off the budget, or is the refusal of a call whose
// check needs more than is left. A read that keeps writes waiting is run again on a fork if the check takes long.
func (tx *Tx) spendCheck(c *Command, u *acl.User, call *acl.Call) *reply.Value {
	names, size := len(call.Keys)+len(call.Channels), 0
	for i := range call.Keys {
		size += len(call.Keys[i].Name)
	}
	for _, name := range call.Channels {
		size += len(name)
	}
	steps := u.CheckWork(names, size)
	if steps == 0 {
		return nil
	}
	if tx.Charge(stepsPerElement * steps) {
		return ptr(reply.Nil()) // which is discarded
	}
	tx.looked(int(min(steps*scriptPerWork, math.MaxInt32)))
	if steps > tx.allowed() {
		return ptr(overWork(c, tx.work.whole+tx.work.used+steps, tx.Limits.Work()))
	}
	tx.work.used += steps
	return nil
}

// channelUse says which words of a command are channels.
type channelUse uint8

// The words that may be channels.
const (
	noChannels   channelUse = iota
	firstChannel            // the first word after the name
	allChannels             // every word
	patternsOnly            // every word, and each is a pattern
)

// channels are the channels that a call names, and whether they are patterns.
func (c *Command) channels(argv [][]byte) (names []string, patterns bool) {
	words := argv[1:]
	switch c.Channels {
	case noChannels:
		return nil, false
	case firstChannel:
		words = words[:1]
	}
	for _, a := range words {
		names = append(names, string(a))
	}
	return names, c.Channels == patternsOnly
}

// errNobody is the answer to a credential that was revoked.
func errNobody(d Origin) reply.Value {
	if d.isREST() {
		return reply.Error("WRONGPASS invalid or missing auth token")
	}
	return reply.Error("NOAUTH Authentication required.")
}

// refusal is a denial in the words of the origin.
func refusal(tx *Tx, c *Command, denied acl.Denied, _ string) reply.Value {
	name := outward(c.Name)
	if tx.Origin.isREST() {
		return reply.Error("NOPERM this user has no permissions to " + map[acl.Denied]string{
			acl.DeniedCommand: "run the '" + name + "' command or its subcommand",
			acl.DeniedKey:     "access one of the keys used as arguments",
			acl.DeniedChannel: "access one of the channels used as arguments",
		}[denied])
	}
	text := map[acl.Denied]string{
		acl.DeniedCommand: "User " + clean(tx.User.Name) + " has no permissions to run the '" + name + "' command",
		acl.DeniedKey:     "No permissions to access a key",
		acl.DeniedChannel: "No permissions to access a channel",
	}[denied]
	if tx.Origin == Script {
		text = "ACL failure in script: " + text
	}
	return reply.Error("NOPERM " + text)
}

// outward is a row's name as clients see it: "config|get".
func outward(name string) string { return strings.ReplaceAll(name, " ", "|") }
