package command

import (
	"errors"
	"strconv"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/script"
	"github.com/trireme-dev/trireme/fsm/script/lua"
)

// Commit runs rows as a script would, and then record. If a row is answered with an error, if the budget of a script is spent, or if
// record returns false, nothing of it has happened. refused is the error then, and at the number of its row from 1 on, 0 if it was
// record.
func (tx *Tx) Commit(rows [][][]byte, record func() bool) (at int, refused *reply.Value) {
	tx.looped = false
	v := tx.program(false, nil, func(_ *script.Engine, h script.Host, b *lua.Budget) (v reply.Value, stop error) {
		defer func() {
			switch r := recover().(type) {
			case nil:
			case *lua.Stopped:
				v, stop = reply.Error("ERR "+b.Explain(r)), r
			default:
				panic(r)
			}
		}()
		for i, row := range rows {
			at = i + 1
			if v := h.Call(row, b); v.IsError() {
				return v, errRolledBack
			}
			if tx.looped {
				return errLoop, errRolledBack
			}
		}
		if at = 0; !record() {
			return reply.Error("ERR not recorded"), errRolledBack
		}
		return reply.OK(), nil
	})
	if v.IsError() {
		return at, &v
	}
	return 0, nil
}

var errRolledBack = errors.New("rolled back")

// conditions are the rows that are there for commits.
func conditions() []Command {
	return []Command{
		{Name: "if", Arity: -3, Flags: ReadOnly | Fast | ReadOnlyUser, Since: env.Files, Keys: firstKey.with(roAccess), Cost: costConstant, Doc: Doc{Version: "extension", Complexity: "O(N) in the length of the value",
			Syntax: "IF key EQ value | IF key NE value | IF key EXISTS | IF key MISSING", Summary: "Returns OK if a string has a value, or has not, or if there is a key, or none; otherwise the error CONDITION. Among the commands of a step or an answer all of them depend on it."}, Run: ifHolds},
	}
}

// ConditionCode begins the error of a condition that does not hold.
const ConditionCode = "CONDITION"

// errUnmet refuses a commit whose condition does not hold.
var errUnmet = reply.Error(ConditionCode + " the key is not as IF demands")

func ifHolds(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	equal, exists := a.Word("EQ"), a.Word("EXISTS")
	compares := equal || !exists && a.Word("NE")
	var value []byte
	switch {
	case compares:
		value = a.Bytes()
	case !exists && !a.Word("MISSING"):
		a.Fail(ErrSyntax)
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	if !compares {
		return whether(exists == (tx.DB.Find(tx.Env, key) != nil))
	}
	o, ok := tx.findText(key)
	if !ok {
		return ErrWrongType
	}
	if o == nil || o.Len() != len(value) {
		return whether(!equal)
	}
	text := tx.readText(o)
	return whether(equal == (text.Text() == string(value)))
}

func whether(holds bool) reply.Value {
	if !holds {
		return errUnmet
	}
	return reply.OK()
}

// MayActAs refuses a message or run whose answers are to act for a user, unless the caller is that user or may give itself any right.
func MayActAs(tx *Tx, user string) error {
	no := func(of *queue.Error, text string) error {
		return &queue.Error{Code: of.Code, Text: "invalid commit-as: " + text}
	}
	if tx.Level < env.Files {
		return no(queue.ErrInvalid, "it needs feature level "+strconv.Itoa(int(env.Files))+": upgrade all nodes")
	}
	if tx.User == nil {
		return no(queue.ErrForbidden, onlyThatUser)
	}
	if tx.User.Name != user && !tx.User.Free() {
		setUser := tx.Table.Find([][]byte{[]byte("ACL"), []byte("SETUSER")})
		if denied, _ := tx.User.Permit(&acl.Call{Command: setUser.number}); denied != acl.Permitted {
			return no(queue.ErrForbidden, onlyThatUser)
		}
	}
	if tx.Users.User(user) == nil {
		return no(queue.ErrInvalid, "there is no such user in the database")
	}
	return nil
}

const onlyThatUser = "only that user, or one that may run ACL SETUSER, may name it"

// commitsAs is MayActAs for the options of a command, which all nodes have to know.
func commitsAs(tx *Tx, p *queue.Publication) error {
	if tx.Level < p.Since() {
		return queue.LevelRule()
	}
	if p.CommitAs == "" {
		return nil
	}
	return MayActAs(tx, p.CommitAs)
}
