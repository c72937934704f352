package command

import (
	"strconv"

	"trireme/fsm/env"
	"trireme/fsm/reply"
)

// server is the Server family.
func server() []Command {
	return []Command{
		{Name: "dbsize", Arity: 1, Flags: ReadOnly | Fast | ReadOnlyUser, Keys: noKeys, Since: env.Base, Version: "1.0.0", Complexity: "O(1)",
			Syntax: "DBSIZE", Summary: "Returns the number of keys.", Run: dbSize},
		{Name: "flushall", Arity: -1, Flags: Write, Keys: noKeys, Since: env.Base, Version: "1.0.0", Complexity: "O(1)",
			Syntax: "FLUSHALL [ASYNC | SYNC]", Summary: "Deletes all keys.", Run: flush},
		{Name: "flushdb", Arity: -1, Flags: Write, Keys: noKeys, Since: env.Base, Version: "1.0.0", Complexity: "O(1)",
			Syntax: "FLUSHDB [ASYNC | SYNC]", Summary: "Deletes all keys, like FLUSHALL.", Run: flush},
		{Name: "time", Arity: 1, Flags: Fast | ReadOnlyUser, Keys: noKeys, Since: env.Base, Version: "2.6.0", Complexity: "O(1)",
			Syntax: "TIME", Summary: "Returns cluster time as Unix seconds and the microseconds within the second.", Run: timeNow},
	}
}

// dbSize counts keys past their deadline as gone, swept or not.
func dbSize(tx *Tx, a *Args) reply.Value {
	if err, ok := a.Done(); !ok {
		return err
	}
	return reply.Int(int64(tx.DB.Live(tx.Env)))
}

func flush(tx *Tx, a *Args) reply.Value {
	if a.Left() > 0 && !a.Word("ASYNC") && !a.Word("SYNC") {
		a.Fail(ErrSyntax)
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	tx.DB.Flush(tx.Env)
	return reply.OK()
}

// timeNow answers in cluster time, which has milliseconds.
func timeNow(tx *Tx, a *Args) reply.Value {
	if err, ok := a.Done(); !ok {
		return err
	}
	sec, ms := tx.Now/1000, tx.Now%1000
	return reply.Array(reply.Bulk(strconv.FormatInt(sec, 10)), reply.Bulk(strconv.FormatInt(ms*1000, 10)))
}
