package command

import (
	"math"

	"trireme/fsm/script/lua"
)

// What a command costs a script beyond its words and its reply, which the script engine
// counts: the elements that it looks at without showing them.

// How many logical bytes of a value are looked at for one step: of a text, and of what
// has elements.
const (
	textPerStep     = 64
	elementsPerStep = 6
)

// pagesCost is what a write at an offset costs, which makes pages.
const pagesCost = 400

// wholeValues are commands that look at all of the values of their keys.
var wholeValues = map[string]bool{
	"bitcount": true, "bitop": true, "bitpos": true, "copy": true, "dump": true, "lcs": true, "linsert": true, "lpos": true,
	"lrem": true, "pfcount": true, "pfmerge": true, "sdiff": true, "sdiffstore": true, "sinter": true, "sintercard": true,
	"sinterstore": true, "sort": true, "sort_ro": true, "sunion": true, "sunionstore": true, "zdiff": true, "zdiffstore": true,
	"zinter": true, "zintercard": true, "zinterstore": true, "zunion": true, "zunionstore": true, "georadius": true,
	"georadiusbymember": true, "geosearch": true, "geosearchstore": true, "zrangestore": true, "zremrangebylex": true,
	"zremrangebyrank": true, "zremrangebyscore": true, "ltrim": true, "xtrim": true, "spop": true, "digest": true,
	"append": true, "setrange": true, "setbit": true, "getset": true, "getdel": true,
}

// wholeKeyspace are commands that look at every key.
var wholeKeyspace = map[string]bool{"keys": true, "flushall": true, "flushdb": true}

// charge spends what the command will look at. It ends the script when the budget is
// spent, before the command has run.
func (r *running) charge(b *lua.Budget, c *Command, argv [][]byte) {
	tx := r.tx
	steps := int64(0)
	switch {
	case wholeKeyspace[c.Name]:
		steps = int64(tx.DB.Len())
	case wholeValues[c.Name] || c.Group == "json":
		steps = tx.sizes(c, argv)
	}
	if c.reach(argv) > 0 {
		steps += pagesCost
	}
	b.Step(int(min(steps, math.MaxInt32)))
}
