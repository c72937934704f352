package command

import (
	"fmt"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// memoryRows are the subcommands of MEMORY that look at something. All sizes are
// logical: the same on every node, whatever its process happens to use.
func memoryRows() []Command {
	return []Command{
		{Name: "memory doctor", Arity: 2, Flags: 0, Cost: costConstant, Doc: Doc{Version: "4.0.0", Complexity: "O(1)",
			Syntax: "MEMORY DOCTOR", Summary: "Says how the database's memory stands to the limit.",
			Tips: "nondeterministic_output request_policy:all_shards response_policy:special"}, Run: memoryDoctor},
		{Name: "memory help", Arity: 2, Flags: ReadOnlyUser, Cost: costConstant, Doc: Doc{Version: "4.0.0", Complexity: "O(1)",
			Syntax: "MEMORY HELP", Summary: "Describes the subcommands.",
			Info: whileLoading}, Run: helpOf("MEMORY")},
		{Name: "memory malloc-stats", Arity: 2, Flags: 0, Cost: costConstant, Doc: Doc{Version: "4.0.0", Complexity: "O(1)",
			Syntax: "MEMORY MALLOC-STATS", Summary: "Says that the allocator keeps no figures of this kind.",
			Tips: "nondeterministic_output request_policy:all_shards response_policy:special"}, Run: mallocStats},
		{Name: "memory prefixes", Arity: -3, Flags: ReadOnly | NoTouch, Since: env.Files, Cost: costConstant, Doc: Doc{Version: "extension", Complexity: "O(count) for a call, O(n) for all keys",
			Syntax:  "MEMORY PREFIXES cursor [PREFIX prefix] [SEPARATOR separator] [COUNT count]",
			Summary: "Adds up the number and the logical size of some of the keys by what their names begin with, up to the first separator after the prefix, and returns the cursor to go on with, 0 at the end.",
			Tips:    "nondeterministic_output request_policy:special"}, Run: memoryPrefixes},
		{Name: "memory stats", Arity: 2, Flags: 0, Cost: costConstant, Doc: Doc{Version: "4.0.0", Complexity: "O(log n)",
			Syntax: "MEMORY STATS", Summary: "Returns the logical memory of the database and what it is used for.",
			Tips: "nondeterministic_output request_policy:all_shards response_policy:special"}, Run: memoryStats},
		{Name: "memory usage", Arity: -3, Flags: ReadOnly | ReadOnlyUser | HidesMiss | NoTouch, Keys: keyPlaces{First: 2, Last: 2, Step: 1}.with(ro), Cost: costConstant, Doc: Doc{Version: "4.0.0", Complexity: "O(1)",
			Syntax: "MEMORY USAGE key [SAMPLES count]", Summary: "Returns the logical size of a key with its value in bytes, the same on every node."}, Run: memoryUsage},
	}
}

// memoryUsage is exact, so that the number of samples makes no difference.
func memoryUsage(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	for a.Left() > 0 && !a.bad {
		if a.Left() < 2 || !a.Word("SAMPLES") {
			return ErrSyntax
		}
		if a.Int() < 0 {
			a.Fail(ErrSyntax)
		}
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	o := tx.DB.Find(tx.Env, key)
	if o == nil {
		return reply.Nil()
	}
	return reply.Int(o.Cost(key))
}

// whenFull says what happens at the memory limit.
func (tx *Tx) whenFull() string {
	if p := tx.policy(); p != keyspace.NoEviction {
		return "keys are evicted by " + p.String()
	}
	return "writes that need room are refused"
}

func memoryDoctor(tx *Tx, a *Args) reply.Value {
	if err, ok := a.Done(); !ok {
		return err
	}
	used, own := tx.DB.Used()+tx.OtherMemory, tx.DB.Used()+tx.OwnOther
	switch {
	case tx.OwnMax > 0 && own > tx.OwnMax:
		return reply.Verbatim(fmt.Sprintf("This database holds %d bytes, more than its limit of %d: %s.", own, tx.OwnMax, tx.whenFull()))
	case tx.OwnMax > 0:
		return reply.Verbatim(fmt.Sprintf("This database holds %d bytes of the %d that it may hold.", own, tx.OwnMax))
	case tx.MaxMemory <= 0:
		return reply.Verbatim(fmt.Sprintf("All databases together hold %d bytes. There is no limit: set max-memory so that a node never runs out.", used))
	case used > tx.MaxMemory:
		return reply.Verbatim(fmt.Sprintf("All databases together hold %d bytes, more than the limit of %d: %s.", used, tx.MaxMemory, tx.whenFull()))
	}
	return reply.Verbatim(fmt.Sprintf("All databases together hold %d bytes of the %d that are allowed.", used, tx.MaxMemory))
}

func mallocStats(*Tx, *Args) reply.Value {
	return reply.Bulk("Stats not supported for the current allocator")
}

// memoryStats has the names of Redis where they mean something here.
func memoryStats(tx *Tx, a *Args) reply.Value {
	if err, ok := a.Done(); !ok {
		return err
	}
	used, keys, deadlines := tx.DB.Used(), int64(tx.DB.Len()), int64(tx.DB.Deadlines())
	main, expires := tx.DB.Overhead()
	data := used - main - expires
	var out []reply.Value
	add := func(name string, v reply.Value) { out = append(out, reply.Bulk(name), v) }
	add("total.allocated", reply.Int(used))
	add("startup.allocated", reply.Int(0))
	add("db.0", reply.Map(reply.Bulk("overhead.hashtable.main"), reply.Int(main), reply.Bulk("overhead.hashtable.expires"), reply.Int(expires)))
	add("overhead.total", reply.Int(main+expires))
	add("keys.count", reply.Int(keys))
	add("keys.expires", reply.Int(deadlines))
	add("keys.bytes-per-key", reply.Int(used/max(1, keys)))
	add("dataset.bytes", reply.Int(data))
	add("dataset.percentage", percentage(data, used))
	return reply.Map(out...)
}

// percentage is part of whole in percent.
func percentage(part, whole int64) reply.Value {
	return reply.Number(float64(part) * 100 / float64(max(1, whole)))
}
