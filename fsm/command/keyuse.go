package command

import (
	"strings"

	"trireme/fsm/reply"
)

// keyUse is one of the places where a command names keys, and what it does with them, in
// the terms of COMMAND INFO.
type keyUse struct {
	// does are the flags: RO, RW, OW (writes without a look at what was there) or RM, then
	// access, insert, update, delete.
	does string
	// from is where the first of the keys stands; 0 behind word, from there on; unknown
	// says that neither can be told.
	from    int
	word    string
	unknown bool
	// last and step are those of a KeySpec, but counted from the first key; limit divides
	// what is left, as in XREAD. counted says that the word at from is a number of keys.
	last, step, limit int
	counted           bool
}

// one is a single key at a place.
func one(does string, at int) keyUse { return keyUse{does: does, from: at, step: 1} }

// rest are keys from a place to the last word, or to that before it and so on.
func rest(does string, at, last, step int) keyUse {
	return keyUse{does: does, from: at, last: last, step: step}
}

// counted are keys behind their number, which stands at a place.
func counted(does string, at int) keyUse {
	return keyUse{does: does, from: at, step: 1, counted: true}
}

// behind are keys behind a word, which is looked for from a place on.
func behind(does, word string, start int) keyUse {
	return keyUse{does: does, word: word, from: start, step: 1}
}

// keyUses are the places of commands that do not simply read their keys, in the words of
// Redis where it knows them. The commands of a row do the same.
var keyUses = func() map[string][]keyUse {
	const read, update, insert, take, drop, put, both = "RO access", "RW update", "RW insert", "RW access delete", "RW delete", "OW update", "RW access update"
	m := map[string][]keyUse{}
	for _, row := range []struct {
		names string
		uses  []keyUse
	}{
		{"hexists hlen hstrlen llen scard sismember strlen type xlen zcard", []keyUse{one("RO", 1)}},
		{"xinfo consumers,xinfo groups,xinfo stream", []keyUse{one(read, 2)}},
		{"memory usage,object encoding,object freq,object idletime,object refcount", []keyUse{one("RO", 2)}},
		{"exists touch watch", []keyUse{rest("RO", 1, -1, 1)}},
		{"append hsetnx linsert lpush lpushx pfadd rpush rpushx sadd", []keyUse{one(insert, 1)}},
		{"expire expireat geoadd hmset hset hsetex lset persist pexpire pexpireat setrange xack xclaim xsetid zadd xadd " +
			"hexpire hexpireat hpexpire hpexpireat hpersist json.clear json.merge json.arrappend json.arrinsert json.set", []keyUse{one(update, 1)}},
		{"json.mset", []keyUse{rest(update, 1, -1, 3)}},
		{"getdel hgetdel lpop rpop spop zpopmax zpopmin json.arrpop", []keyUse{one(take, 1)}},
		{"decr decrby getset hincrby hincrbyfloat incr incrby incrbyfloat move setbit zincrby getex hgetex set bitfield " +
			"json.numincrby json.nummultby json.numpowby json.toggle json.strappend", []keyUse{one(both, 1)}},
		{"hdel lrem ltrim srem xautoclaim xdel xdelex xackdel xtrim zrem zremrangebylex zremrangebyrank zremrangebyscore json.del json.forget json.arrtrim", []keyUse{one(drop, 1)}},
		{"psetex restore setex", []keyUse{one(put, 1)}},
		{"setnx", []keyUse{one("OW insert", 1)}},
		{"del unlink", []keyUse{rest("RM delete", 1, -1, 1)}},
		{"delex", []keyUse{one("RM delete", 1)}},
		{"mset", []keyUse{rest(put, 1, -1, 2)}},
		{"msetnx", []keyUse{rest("OW insert", 1, -1, 2)}},
		{"msetex", []keyUse{{does: put, from: 1, step: 2, counted: true}}},
		{"copy", []keyUse{one(read, 1), one(put, 2)}},
		{"rename", []keyUse{one(take, 1), one(put, 2)}},
		{"renamenx", []keyUse{one(take, 1), one("OW insert", 2)}},
		{"lmove rpoplpush smove blmove brpoplpush", []keyUse{one(take, 1), one(insert, 2)}},
		{"blpop brpop bzpopmax bzpopmin", []keyUse{rest(take, 1, -2, 1)}},
		{"lmpop zmpop", []keyUse{counted(take, 1)}},
		{"blmpop bzmpop", []keyUse{counted(take, 2)}},
		{"sdiffstore sunionstore", []keyUse{one(put, 1), rest(read, 2, -1, 1)}},
		{"sinterstore", []keyUse{one(update, 1), rest(read, 2, -1, 1)}},
		{"zdiffstore zinterstore zunionstore", []keyUse{one(put, 1), counted(read, 2)}},
		{"geosearchstore zrangestore", []keyUse{one(put, 1), one(read, 2)}},
		{"georadius", []keyUse{one(read, 1), behind(put, "STORE", 6), behind(put, "STOREDIST", 6)}},
		{"georadiusbymember", []keyUse{one(read, 1), behind(put, "STORE", 5), behind(put, "STOREDIST", 5)}},
		{"sort", []keyUse{one(read, 1), {does: read, unknown: true}, {does: put, unknown: true}}},
		{"sort_ro", []keyUse{one(read, 1), {does: read, unknown: true}}},
		{"bitop", []keyUse{one(put, 2), rest(read, 3, -1, 1)}},
		{"pfmerge", []keyUse{one("RW access insert", 1), rest(read, 2, -1, 1)}},
		{"pfcount", []keyUse{rest(read, 1, -1, 1)}},
		{"pfdebug", []keyUse{one("RW access", 2)}},
		{"lcs", []keyUse{rest(read, 1, 1, 1)}},
		{"xread", []keyUse{{does: read, word: "STREAMS", from: 1, last: -1, step: 1, limit: 2}}},
		{"xreadgroup", []keyUse{{does: read, word: "STREAMS", from: 4, last: -1, step: 1, limit: 2}}},
		{"xgroup create,xgroup createconsumer", []keyUse{one(insert, 2)}},
		{"xgroup delconsumer,xgroup destroy", []keyUse{one(drop, 2)}},
		{"xgroup setid,", []keyUse{one(update, 2)}},
		{"eval evalsha fcall", []keyUse{counted(both, 2)}},
		{"eval_ro evalsha_ro fcall_ro", []keyUse{counted(read, 2)}},
		{"sintercard zdiff zinter zintercard zunion", []keyUse{counted(read, 1)}},
		{"spublish", []keyUse{one("not_key", 1)}},
		{"ssubscribe sunsubscribe", []keyUse{rest("not_key", 1, -1, 1)}},
	} {
		split := strings.Fields
		if strings.Contains(row.names, ",") {
			split = func(s string) []string { return strings.FieldsFunc(s, func(r rune) bool { return r == ',' }) }
		}
		for _, name := range split(row.names) {
			m[name] = row.uses
		}
	}
	return m
}()

// variable are the commands whose words decide what they do with their key.
var variable = map[string]func(argv [][]byte) string{
	"set": func(argv [][]byte) string {
		if setAccess(argv) == keyRW {
			return "RW access update"
		}
		return "OW update"
	},
	"bitfield": func(argv [][]byte) string {
		if onlyGets(argv) {
			return "RO access"
		}
		return "RW access update"
	},
}

// uses are the places of the row's keys.
func (c *Command) uses() []keyUse {
	if u := keyUses[c.Name]; u != nil {
		return u
	}
	switch k := c.Keys; {
	case k.First == 0:
		return nil
	case k.Last < 0:
		return []keyUse{rest(c.does(), k.First, k.Last, k.Step)}
	default:
		return []keyUse{rest(c.does(), k.First, k.Last-k.First, k.Step)}
	}
}

func (c *Command) does() string {
	if c.Flags&Write != 0 {
		return "RW access update"
	}
	return "RO access"
}

// doesWith is what a call does with the key number i that it names.
func (c *Command) doesWith(argv [][]byte, i int) string {
	if f := variable[c.Name]; f != nil {
		return f(argv)
	}
	uses := c.uses()
	if len(uses) == 0 {
		return c.does()
	}
	last := len(uses) - 1
	if i = min(i, last); uses[i].unknown { // those of SORT: its words name no key but the destination
		i = last
	}
	return uses[i].does
}

// statusSet is words as a set of status replies.
func statusSet(words string) reply.Value {
	var all []reply.Value
	for _, w := range strings.Fields(words) {
		all = append(all, reply.Status(w))
	}
	return reply.Set(all...)
}

// describe is the place as COMMAND INFO tells it.
func (u *keyUse) describe(varies bool) reply.Value {
	does, kind, spec := u.does, "index", reply.Map(reply.Bulk("index"), reply.Int(int64(u.from)))
	if varies {
		does += " variable_flags"
	}
	find, keys := "range", reply.Map(reply.Bulk("lastkey"), reply.Int(int64(u.last)), reply.Bulk("keystep"), reply.Int(int64(u.step)), reply.Bulk("limit"), reply.Int(int64(u.limit)))
	switch {
	case u.unknown:
		kind, spec, find, keys = "unknown", reply.Map(), "unknown", reply.Map()
	case u.word != "":
		kind, spec = "keyword", reply.Map(reply.Bulk("keyword"), reply.Bulk(u.word), reply.Bulk("startfrom"), reply.Int(int64(u.from)))
	case u.counted:
		find, keys = "keynum", reply.Map(reply.Bulk("keynumidx"), reply.Int(0), reply.Bulk("firstkey"), reply.Int(1), reply.Bulk("keystep"), reply.Int(int64(u.step)))
	}
	part := func(kind string, spec reply.Value) reply.Value {
		return reply.Map(reply.Bulk("type"), reply.Bulk(kind), reply.Bulk("spec"), spec)
	}
	return reply.Map(reply.Bulk("flags"), statusSet(does), reply.Bulk("begin_search"), part(kind, spec), reply.Bulk("find_keys"), part(find, keys))
}
