package command

import (
	"strings"

	"trireme/fsm/acl"
	"trireme/fsm/reply"
)

// open are the commands by which somebody says who they are, or leaves.
var open = map[string]bool{"auth": true, "hello": true, "quit": true, "reset": true}

// permit tells why tx's user may not call c with these words, which have passed the
// arity check; nil if it may.
func (tx *Tx) permit(c *Command, argv [][]byte) *reply.Value {
	switch {
	case (tx.User != nil && tx.User.Free()) || open[c.Name]:
		return nil
	case tx.User == nil:
		return ptr(errNobody(tx.Door))
	}
	denied, name := tx.User.Permit(c.call(argv))
	if denied == acl.Permitted {
		return nil
	}
	return ptr(refusal(tx, c, denied, name))
}

// call is what the user must be permitted to do.
func (c *Command) call(argv [][]byte) *acl.Call {
	call := &acl.Call{Command: c.number}
	places := c.Keys.Positions(argv)
	for i, at := range places {
		call.Keys = append(call.Keys, acl.Key{Name: string(argv[at]), Access: c.access(argv, i)})
	}
	call.Channels, call.Patterns = c.channels(argv)
	return call
}

// channels are the channels that a command names.
func (c *Command) channels(argv [][]byte) (names []string, patterns bool) {
	switch c.Name {
	case "publish", "spublish":
		return []string{string(argv[1])}, false
	case "subscribe", "ssubscribe", "psubscribe":
		for _, a := range argv[1:] {
			names = append(names, string(a))
		}
		return names, c.Name == "psubscribe"
	}
	return nil, false
}

// errNobody is what somebody hears whose credential proves nothing any more.
func errNobody(d Door) reply.Value {
	if d.rest() {
		return reply.Error("WRONGPASS invalid or missing auth token")
	}
	return reply.Error("NOAUTH Authentication required.")
}

// refusal is a denial in the words of the door.
func refusal(tx *Tx, c *Command, denied acl.Denied, _ string) reply.Value {
	name := outward(c.Name)
	if tx.Door.rest() {
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
	if tx.Door == Script {
		text = "ACL failure in script: " + text
	}
	return reply.Error("NOPERM " + text)
}

// outward is a row's name as clients see it: "config|get".
func outward(name string) string { return strings.ReplaceAll(name, " ", "|") }
