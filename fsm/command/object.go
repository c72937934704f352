package command

import (
	"math"
	"strings"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// objectRows are the subcommands of OBJECT.
func objectRows() []Command {
	const read = ReadOnly | ReadOnlyUser
	second := keyPlaces{First: 2, Last: 2, Step: 1}
	return []Command{
		{Name: "object encoding", Arity: 3, Flags: read | HidesMiss | NoTouch, Keys: second.with(ro), Cost: costConstant, Doc: Doc{Version: "2.2.3", Complexity: "O(1) for strings and large values, O(n) for values that Redis packs",
			Syntax: "OBJECT ENCODING key", Summary: "Returns the form in which Redis would keep the value as it is now.",
			Tips: vagueOutput}, Run: objectEncoding},
		{Name: "object freq", Arity: 3, Flags: read | HidesMiss | NoTouch | NodeLocal, Keys: second.with(ro), Cost: costConstant, Doc: Doc{Version: "4.0.0", Complexity: "O(1)",
			Syntax: "OBJECT FREQ key", Summary: "Returns the logarithm of how often the key is used, as far as the node knows that answers; under an LFU policy only.",
			Tips: vagueOutput}, Run: objectFreq},
		{Name: "object help", Arity: 2, Flags: ReadOnlyUser, Cost: costConstant, Doc: Doc{Version: "6.2.0", Complexity: "O(1)",
			Syntax: "OBJECT HELP", Summary: "Describes the subcommands.",
			Info: whileLoading}, Run: helpOf("OBJECT")},
		{Name: "object idletime", Arity: 3, Flags: read | HidesMiss | NoTouch | NodeLocal, Keys: second.with(ro), Cost: costConstant, Doc: Doc{Version: "2.2.3", Complexity: "O(1)",
			Syntax: "OBJECT IDLETIME key", Summary: "Returns for how many seconds the key was not read or written, as far as the node knows that answers.",
			Tips: vagueOutput}, Run: objectIdleTime},
		{Name: "object refcount", Arity: 3, Flags: read | HidesMiss | NoTouch, Keys: second.with(ro), Cost: costConstant, Doc: Doc{Version: "2.2.3", Complexity: "O(1)",
			Syntax: "OBJECT REFCOUNT key", Summary: "Answers 1, or for the small integers that Redis shares the largest number.",
			Tips: vagueOutput}, Run: objectRefCount},
	}
}

// helpOf lists the subcommands of a container, given in upper case, from the table.
func helpOf(container string) Handler {
	return func(tx *Tx, _ *Args) reply.Value {
		lines := []string{container + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"}
		for _, c := range tx.Table.Rows() {
			if syntax, ok := strings.CutPrefix(c.Syntax, container+" "); ok && strings.Contains(c.Name, " ") {
				lines = append(lines, syntax, "    "+c.Summary)
			}
		}
		return statuses(lines)
	}
}

// ofObject answers about the object under the one key that is left, null if there is
// none.
func ofObject(tx *Tx, a *Args, answer func(*keyspace.Object) reply.Value) reply.Value {
	key := a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	o := tx.DB.Find(tx.Env, key)
	if o == nil {
		return reply.Nil()
	}
	return answer(o)
}

func objectEncoding(tx *Tx, a *Args) reply.Value {
	return ofObject(tx, a, func(o *keyspace.Object) reply.Value { return reply.Bulk(o.EncodingBy(tx.thresholds())) })
}

// The refusals of what the policy does not keep, in Redis's words.
var (
	errNoFrequency = reply.Error("ERR An LFU maxmemory policy is not selected, access frequency not tracked. " + adjusting)
	errNoIdleTime  = reply.Error("ERR An LFU maxmemory policy is selected, idle time not tracked. " + adjusting)
)

const adjusting = "Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust."

func objectFreq(tx *Tx, a *Args) reply.Value {
	return ofObject(tx, a, func(o *keyspace.Object) reply.Value {
		switch {
		case !tx.policy().Counts():
			return errNoFrequency
		case !tx.ReadOnly:
			return errNodeLocal
		}
		return reply.Int(int64(o.Frequency(tx.Now)))
	})
}

// errNodeLocal refuses what would make nodes differ.
var errNodeLocal = reply.Error("ERR each node knows by itself when keys were used: ask outside of scripts, transactions and HTTP pipelines that write")

func objectIdleTime(tx *Tx, a *Args) reply.Value {
	return ofObject(tx, a, func(o *keyspace.Object) reply.Value {
		switch {
		case tx.policy().Counts():
			return errNoIdleTime
		case tx.ReadOnly:
			return reply.Int(tx.DB.Idle(tx.Env, o) / 1000)
		}
		return errNodeLocal
	})
}

// sharedInts are the integers from 0 that Redis has one object each for.
const sharedInts = 10_000

func objectRefCount(tx *Tx, a *Args) reply.Value {
	return ofObject(tx, a, func(o *keyspace.Object) reply.Value {
		if o.Type() == keyspace.String && o.Len() <= maxIntText {
			if n, ok := parseIntString(o.Text()); ok && n >= 0 && n < sharedInts {
				return reply.Int(math.MaxInt32)
			}
		}
		return reply.Int(1)
	})
}
