package command

import "trireme/fsm/reply"

// strings_ is the String family.
func strings_() []Command {
	one := KeySpec{First: 1, Last: 1, Step: 1}
	return []Command{
		{Name: "get", Arity: 2, Flags: ReadOnly | Fast | ReadOnlyUser, Keys: one, Group: "string", Since: 1,
			Syntax: "GET key", Summary: "Returns the string value of a key.", Run: get},
	}
}

func get(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	o := tx.DB.Find(tx.Env, key)
	if o == nil {
		return reply.Nil()
	}
	if o.Type() != 1 {
		return ErrWrongType
	}
	return reply.Bulk(o.Text())
}
