package command

import (
	"trireme/fsm/env"
	"trireme/fsm/reply"
)

// connection is the Connection family.
func connection() []Command {
	return []Command{
		{Name: "echo", Arity: 2, Flags: Fast | ReadOnlyUser, Keys: noKeys, Since: env.Base, Version: "1.0.0", Complexity: "O(1)",
			Syntax: "ECHO message", Summary: "Returns the message.", Run: echo},
		{Name: "ping", Arity: -1, Flags: Fast | ReadOnlyUser, Keys: noKeys, Since: env.Base, Version: "1.0.0", Complexity: "O(1)",
			Syntax: "PING [message]", Summary: "Returns PONG, or the message.", Run: ping},
	}
}

func echo(tx *Tx, a *Args) reply.Value {
	msg := a.String()
	if err, ok := a.Done(); !ok {
		return err
	}
	return reply.Bulk(msg)
}

func ping(tx *Tx, a *Args) reply.Value {
	switch a.Left() {
	case 0:
		return reply.Status("PONG")
	case 1:
		return reply.Bulk(a.String())
	}
	return ErrArity("ping")
}
