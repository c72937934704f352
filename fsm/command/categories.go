package command

import "trireme/fsm/acl"

// groupCategories are the categories of a family's rows.
var groupCategories = map[string]acl.Category{
	"generic":      acl.Keyspace,
	"string":       acl.String,
	"bitmap":       acl.Bitmap,
	"hash":         acl.Hash,
	"list":         acl.List,
	"set":          acl.Set,
	"sorted-set":   acl.SortedSet,
	"geo":          acl.Geo,
	"hyperloglog":  acl.HyperLogLog,
	"stream":       acl.Stream,
	"json":         acl.JSON,
	"pubsub":       acl.PubSub,
	"scripting":    acl.Scripting,
	"transactions": acl.Transaction,
	"connection":   acl.Connection,
	"messages":     acl.MessagesCategory,
	"acl":          0,
	"cluster":      0,
	"server":       0,
}

// moreCategories are those that neither group nor flags tell, as in Redis. A container
// stands for its subcommands.
var moreCategories = map[string]acl.Category{
	"dbsize": acl.Keyspace, "flushall": acl.Keyspace | acl.Dangerous, "flushdb": acl.Keyspace | acl.Dangerous,
	"keys": acl.Dangerous, "restore": acl.Dangerous, "info": acl.Dangerous, "lastsave": acl.AdminCategory | acl.Dangerous, "role": acl.AdminCategory | acl.Dangerous,
	"asking": acl.Connection, "readonly": acl.Connection, "readwrite": acl.Connection, "swapdb": acl.Dangerous | acl.Keyspace,
	"sort":    acl.Dangerous | acl.Set | acl.SortedSet | acl.List,
	"sort_ro": acl.Dangerous | acl.Set | acl.SortedSet | acl.List,
	"wait":    acl.Connection | acl.Blocking, "waitaof": acl.Connection | acl.Blocking, "command": acl.Connection,
	"blmove": acl.Blocking, "blmpop": acl.Blocking, "blpop": acl.Blocking, "brpop": acl.Blocking, "brpoplpush": acl.Blocking,
	"bzmpop": acl.Blocking, "bzpopmax": acl.Blocking, "bzpopmin": acl.Blocking, "xread": acl.Blocking, "xreadgroup": acl.Blocking,
}

// notOfGroup are the categories of a group that Redis does not give some of its commands.
var notOfGroup = map[string]acl.Category{"sort": acl.Keyspace, "sort_ro": acl.Keyspace, "wait": acl.Keyspace, "waitaof": acl.Keyspace, "pubsub help": acl.PubSub}

// categories are all categories of the row.
func (c *Command) categories() acl.Category {
	set := groupCategories[c.Group]&^notOfGroup[c.Name] | moreCategories[c.Name] | moreCategories[container(c.Name)]
	for _, f := range []struct {
		flag     Flags
		category acl.Category
	}{{Write, acl.Write}, {ReadOnly, acl.Read}, {Admin, acl.AdminCategory | acl.Dangerous}, {Fast, acl.Fast}, {ReadOnlyUser, acl.ReadOnlyCategory}} {
		if c.Flags&f.flag != 0 {
			set |= f.category
		}
	}
	if c.Flags&Fast == 0 {
		set |= acl.Slow
	}
	if c.Flags&Admin != 0 || c.Group == "pubsub" || c.Group == "scripting" { // these are about the data
		set &^= acl.Read | acl.Write
	}
	return set
}

// container is the first word of a row's name.
func container(name string) string {
	for i := range len(name) {
		if name[i] == ' ' {
			return name[:i]
		}
	}
	return name
}

// newCatalog is the table as rules of users see it, in the order of its rows.
func (t *Table) newCatalog() *acl.Catalog {
	list := make([]acl.Command, len(t.rows))
	for i, c := range t.rows {
		list[i] = acl.Command{Name: outward(c.Name), Categories: c.categories()}
	}
	return acl.NewCatalog(list)
}

// Catalog is the table as rules of users see it.
func (t *Table) Catalog() *acl.Catalog { return t.catalog }

// The accesses of commands that write, one for each key they name, the last one for all
// that follow; a row that is not listed reads and writes all its keys. What only reads
// isn't listed: it reads.
const (
	keyR  = acl.ReadKey
	keyW  = acl.WriteKey
	keyRW = acl.ReadKey | acl.WriteKey
)

var keyAccess = func() map[string][]acl.Access {
	m := map[string][]acl.Access{}
	for _, one := range []struct {
		access []acl.Access
		names  []string
	}{
		{[]acl.Access{keyW}, []string{
			"append", "del", "unlink", "expire", "expireat", "pexpire", "pexpireat", "persist", "restore",
			"mset", "msetnx", "msetex", "psetex", "setex", "setnx", "setrange", "setbit",
			"hdel", "hmset", "hset", "hsetnx", "hexpire", "hexpireat", "hpexpire", "hpexpireat", "hpersist", "hsetex",
			"linsert", "lpush", "lpushx", "rpush", "rpushx", "lrem", "lset", "ltrim", "sadd", "srem",
			"zadd", "zrem", "zremrangebylex", "zremrangebyrank", "zremrangebyscore", "geoadd", "pfadd",
			"xack", "xackdel", "xadd", "xautoclaim", "xclaim", "xdel", "xdelex", "xtrim", "xsetid",
			"xgroup create", "xgroup createconsumer", "xgroup delconsumer", "xgroup destroy", "xgroup setid",
			"json.set", "json.mset", "json.del", "json.forget", "json.clear", "json.merge", "json.arrappend", "json.arrinsert", "json.arrtrim",
		}},
		{[]acl.Access{keyR}, []string{"xreadgroup"}},
		{[]acl.Access{keyR, keyW}, []string{"copy", "georadius", "georadiusbymember", "sort"}},
		{[]acl.Access{keyRW, keyW}, []string{"blmove", "brpoplpush", "lmove", "rename", "renamenx", "rpoplpush", "smove"}},
		{[]acl.Access{keyRW, keyR}, []string{"pfmerge"}},
		{[]acl.Access{keyW, keyR}, []string{
			"bitop", "geosearchstore", "sdiffstore", "sinterstore", "sunionstore", "zdiffstore", "zinterstore", "zrangestore", "zunionstore",
		}},
	} {
		for _, name := range one.names {
			m[name] = one.access
		}
	}
	return m
}()

// access is what the command does with the key number i that it names.
func (c *Command) access(argv [][]byte, i int) acl.Access {
	if c.Flags&Write == 0 {
		return keyR
	}
	if c.Name == "set" {
		return setAccess(argv)
	}
	list := keyAccess[c.Name]
	if list == nil {
		return keyRW
	}
	return list[min(i, len(list)-1)]
}

// setAccess: SET answers what was there, or depends on it, only if it is asked to.
func setAccess(argv [][]byte) acl.Access {
	for _, a := range argv[min(3, len(argv)):] {
		for _, word := range []string{"GET", "IFEQ", "IFNE", "IFDEQ", "IFDNE"} {
			if EqualFold(a, word) {
				return keyRW
			}
		}
	}
	return keyW
}
