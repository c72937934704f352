package command

import (
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/script"
	"github.com/trireme-dev/trireme/fsm/script/lua"
)

func scriptLoad(tx *Tx, a *Args) reply.Value {
	body := a.String()
	if err, ok := a.Done(); !ok {
		return err
	}
	if _, err := script.ParseShebang(body, tx.scriptRules()); err != nil {
		return reply.Error("ERR " + clean(err.Error()))
	}
	if refusal := tx.roomFor(len(body)); refusal != nil {
		return *refusal
	}
	engine, release := tx.engine()
	budget := tx.scriptBudget()
	err := engine.Compile(body, false, budget)
	release()
	switch {
	case err != nil:
		return errCompile(err)
	case budget.Left() < 0:
		return reply.Error("ERR " + budget.Explain(lua.SpentSteps))
	}
	return reply.Bulk(tx.Scripts.Keep(body))
}

func scriptExists(tx *Tx, a *Args) reply.Value {
	var found []reply.Value
	for _, digest := range a.Rest() {
		n := int64(0)
		if _, ok := tx.Scripts.Script(string(lower(nil, digest))); ok {
			n = 1
		}
		found = append(found, reply.Int(n))
	}
	return reply.Array(found...)
}

func scriptShow(tx *Tx, a *Args) reply.Value {
	digest := string(lower(nil, a.Bytes()))
	if err, ok := a.Done(); !ok {
		return err
	}
	body, ok := tx.Scripts.Script(digest)
	if !ok {
		return errNoScript
	}
	return reply.Bulk(body)
}

func scriptFlush(tx *Tx, a *Args) reply.Value {
	if a.Left() > 1 || a.Left() == 1 && !a.Word("ASYNC") && !a.Word("SYNC") {
		return reply.Error("ERR SCRIPT FLUSH only support SYNC|ASYNC option")
	}
	tx.Scripts.Flush()
	return reply.OK()
}
