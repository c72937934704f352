package command

import "trireme/fsm/reply"

// connection is the Connection family.
func connection() []Command {
	return []Command{
		{Name: "ping", Arity: -1, Flags: ReadOnly | Fast | ReadOnlyUser, Group: "connection", Since: 1,
			Syntax: "PING [message]", Summary: "Returns PONG, or the message.", Run: ping},
	}
}

func ping(tx *Tx, a *Args) reply.Value {
	if a.Left() == 0 {
		return reply.Status("PONG")
	}
	msg := a.String()
	if _, ok := a.Done(); !ok {
		return ErrArity("ping")
	}
	return reply.Bulk(msg)
}
