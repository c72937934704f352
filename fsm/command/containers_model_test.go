package command_test

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// simple is the model of a container: one of the three is in use.
type simple struct {
	fields  map[string]simpleField
	list    []string
	members map[string]bool
}

type simpleField struct {
	value string
	at    int64
}

// simpleKeys is the model of a keyspace of containers: h and i hold hashes, l and m
// lists, s and u sets.
type simpleKeys struct {
	now  int64
	keys map[string]*simple
}

// get is the container under key without what has expired, an empty one if missing.
func (k *simpleKeys) get(key string) *simple {
	c := k.keys[key]
	if c == nil {
		c = &simple{fields: map[string]simpleField{}, members: map[string]bool{}}
		k.keys[key] = c
	}
	maps.DeleteFunc(c.fields, func(_ string, f simpleField) bool { return f.at != 0 && f.at <= k.now })
	return c
}

func (s *simple) empty() bool { return len(s.fields)+len(s.list)+len(s.members) == 0 }

func (k *simpleKeys) live() (n int64) {
	for key := range k.keys {
		if !k.get(key).empty() {
			n++
		}
	}
	return n
}

func bulkList(texts []string) reply.Value {
	values := []reply.Value{}
	for _, s := range texts {
		values = append(values, reply.Bulk(s))
	}
	return reply.Array(values...)
}

func setOf(members map[string]bool) reply.Value {
	return reply.Set(bulkList(slices.Sorted(maps.Keys(members))).Elems()...)
}

func draw(t *rapid.T, label string, of ...string) string { return rapid.SampledFrom(of).Draw(t, label) }

func drawField(t *rapid.T) string { return fmt.Sprint("f", rapid.IntRange(0, 90).Draw(t, "field")) }

func drawIndex(t *rapid.T, n int) int {
	return rapid.IntRange(-n-2, n+2).Draw(t, "index")
}

// clip turns indexes as of LRANGE into a slice.
func clip(list []string, start, stop int) []string {
	var kept []string
	for i, v := range list {
		up, down := i, i-len(list)
		if (start >= 0 && up >= start || start < 0 && down >= start) && (stop >= 0 && up <= stop || stop < 0 && down <= stop) {
			kept = append(kept, v)
		}
	}
	return kept
}

type containerMove func(t *rapid.T, k *simpleKeys) (argv []string, want reply.Value)

var hashMoves = []containerMove{
	func(t *rapid.T, k *simpleKeys) ([]string, reply.Value) {
		key := draw(t, "key", "h", "i")
		argv, c, n := []string{"HSET", key}, k.get(key), int64(0)
		for range rapid.SampledFrom([]int{1, 2, 80}).Draw(t, "fields") {
			field, value := drawField(t), fmt.Sprint(k.now)
			if _, had := c.fields[field]; !had {
				n++
			}
			c.fields[field] = simpleField{value, 0}
			argv = append(argv, field, value)
		}
		return argv, reply.Int(n)
	},
	func(t *rapid.T, k *simpleKeys) ([]string, reply.Value) {
		key := draw(t, "key", "h", "i")
		argv, c, n := []string{"HDEL", key}, k.get(key), int64(0)
		for range rapid.SampledFrom([]int{1, 2, 80}).Draw(t, "fields") {
			field := drawField(t)
			if _, had := c.fields[field]; had {
				n++
			}
			delete(c.fields, field)
			argv = append(argv, field)
		}
		return argv, reply.Int(n)
	},
	func(t *rapid.T, k *simpleKeys) ([]string, reply.Value) {
		key := draw(t, "key", "h", "i")
		ms, flag := rapid.Int64Range(0, 60).Draw(t, "ms"), draw(t, "flag", "", "NX", "XX", "GT", "LT")
		argv, c := []string{"HPEXPIRE", key, fmt.Sprint(ms)}, k.get(key)
		if flag != "" {
			argv = append(argv, flag)
		}
		n := rapid.IntRange(1, 30).Draw(t, "fields")
		argv = append(argv, "FIELDS", fmt.Sprint(n))
		codes := make([]reply.Value, n)
		for i := range n {
			field, at := drawField(t), k.now+ms
			argv = append(argv, field)
			f, had := c.fields[field]
			ok := map[string]bool{"": true, "NX": f.at == 0, "XX": f.at != 0, "GT": f.at != 0 && at > f.at, "LT": f.at == 0 || at < f.at}[flag]
			switch {
			case !had:
				codes[i] = reply.Int(-2)
			case !ok:
				codes[i] = reply.Int(0)
			case ms == 0:
				codes[i] = reply.Int(2)
				delete(c.fields, field)
			default:
				codes[i] = reply.Int(1)
				c.fields[field] = simpleField{f.value, at}
			}
		}
		return argv, reply.Array(codes...)
	},
	func(t *rapid.T, k *simpleKeys) ([]string, reply.Value) {
		key, field := draw(t, "key", "h", "i"), drawField(t)
		f, had := k.get(key).fields[field]
		switch {
		case !had:
			return []string{"HPTTL", key, "FIELDS", "1", field}, reply.Array(reply.Int(-2))
		case f.at == 0:
			return []string{"HPTTL", key, "FIELDS", "1", field}, reply.Array(reply.Int(-1))
		}
		return []string{"HPTTL", key, "FIELDS", "1", field}, reply.Array(reply.Int(f.at - k.now))
	},
	func(t *rapid.T, k *simpleKeys) ([]string, reply.Value) {
		key, field := draw(t, "key", "h", "i"), drawField(t)
		c := k.get(key)
		f, had := c.fields[field]
		code := reply.Int(-2)
		if had {
			if code = reply.Int(-1); f.at != 0 {
				code = reply.Int(1)
			}
			c.fields[field] = simpleField{f.value, 0}
		}
		return []string{"HPERSIST", key, "FIELDS", "1", field}, reply.Array(code)
	},
	func(t *rapid.T, k *simpleKeys) ([]string, reply.Value) {
		key, field := draw(t, "key", "h", "i"), drawField(t)
		f, had := k.get(key).fields[field]
		if !had {
			return []string{"HGET", key, field}, reply.Nil()
		}
		return []string{"HGET", key, field}, reply.Bulk(f.value)
	},
	func(t *rapid.T, k *simpleKeys) ([]string, reply.Value) {
		key := draw(t, "key", "h", "i")
		return []string{"HLEN", key}, reply.Int(int64(len(k.get(key).fields)))
	},
	func(t *rapid.T, k *simpleKeys) ([]string, reply.Value) {
		key := draw(t, "key", "h", "i")
		var pairs []reply.Value
		for field, f := range k.get(key).fields {
			pairs = append(pairs, reply.Bulk(field), reply.Bulk(f.value))
		}
		return []string{"HGETALL", key}, reply.Map(pairs...)
	},
	func(t *rapid.T, k *simpleKeys) ([]string, reply.Value) {
		key := draw(t, "key", "h", "i")
		names := slices.Collect(maps.Keys(k.get(key).fields))
		return []string{"HRANDFIELD", key, "1000"}, bulkList(names)
	},
}

var listMoves = []containerMove{
	func(t *rapid.T, k *simpleKeys) ([]string, reply.Value) {
		key, name := draw(t, "key", "l", "m"), draw(t, "push", "LPUSH", "RPUSH")
		argv, c := []string{name, key}, k.get(key)
		for range rapid.SampledFrom([]int{1, 2, 150}).Draw(t, "elements") {
			v := fmt.Sprint(rapid.IntRange(0, 20).Draw(t, "element"))
			argv = append(argv, v)
			if name == "LPUSH" {
				c.list = slices.Insert(c.list, 0, v)
			} else {
				c.list = append(c.list, v)
			}
		}
		return argv, reply.Int(int64(len(c.list)))
	},
	func(t *rapid.T, k *simpleKeys) ([]string, reply.Value) {
		key, name, n := draw(t, "key", "l", "m"), draw(t, "pop", "LPOP", "RPOP"), rapid.SampledFrom([]int{0, 1, 2, 150}).Draw(t, "count")
		c := k.get(key)
		if len(c.list) == 0 {
			return []string{name, key, fmt.Sprint(n)}, reply.NilArray()
		}
		var popped []string
		for range min(n, len(c.list)) {
			at := 0
			if name == "RPOP" {
				at = len(c.list) - 1
			}
			popped = append(popped, c.list[at])
			c.list = slices.Delete(c.list, at, at+1)
		}
		return []string{name, key, fmt.Sprint(n)}, bulkList(popped)
	},
	func(t *rapid.T, k *simpleKeys) ([]string, reply.Value) {
		key := draw(t, "key", "l", "m")
		c := k.get(key)
		start, stop := drawIndex(t, len(c.list)), drawIndex(t, len(c.list))
		return []string{"LRANGE", key, strconv.Itoa(start), strconv.Itoa(stop)}, bulkList(clip(c.list, start, stop))
	},
	func(t *rapid.T, k *simpleKeys) ([]string, reply.Value) {
		key := draw(t, "key", "l", "m")
		c := k.get(key)
		start, stop := drawIndex(t, 5), drawIndex(t, len(c.list))
		c.list = clip(c.list, start, stop)
		return []string{"LTRIM", key, strconv.Itoa(start), strconv.Itoa(stop)}, reply.OK()
	},
	func(t *rapid.T, k *simpleKeys) ([]string, reply.Value) {
		key := draw(t, "key", "l", "m")
		c := k.get(key)
		index := drawIndex(t, len(c.list))
		found := clip(c.list, index, index)
		if len(found) == 0 {
			return []string{"LINDEX", key, strconv.Itoa(index)}, reply.Nil()
		}
		return []string{"LINDEX", key, strconv.Itoa(index)}, reply.Bulk(found[0])
	},
	func(t *rapid.T, k *simpleKeys) ([]string, reply.Value) {
		key, v, count := draw(t, "key", "l", "m"), fmt.Sprint(rapid.IntRange(0, 20).Draw(t, "element")), rapid.IntRange(-3, 3).Draw(t, "count")
		c, n := k.get(key), 0
		if count < 0 {
			slices.Reverse(c.list)
		}
		c.list = slices.DeleteFunc(c.list, func(e string) bool {
			if e != v || count != 0 && n == max(count, -count) {
				return false
			}
			n++
			return true
		})
		if count < 0 {
			slices.Reverse(c.list)
		}
		return []string{"LREM", key, strconv.Itoa(count), v}, reply.Int(int64(n))
	},
	func(t *rapid.T, k *simpleKeys) ([]string, reply.Value) {
		key, v, where := draw(t, "key", "l", "m"), fmt.Sprint(rapid.IntRange(0, 20).Draw(t, "element")), draw(t, "where", "BEFORE", "AFTER")
		c := k.get(key)
		argv := []string{"LINSERT", key, where, v, "new"}
		at := slices.Index(c.list, v)
		switch {
		case len(c.list) == 0:
			return argv, reply.Int(0)
		case at < 0:
			return argv, reply.Int(-1)
		case where == "AFTER":
			at++
		}
		c.list = slices.Insert(c.list, at, "new")
		return argv, reply.Int(int64(len(c.list)))
	},
	func(t *rapid.T, k *simpleKeys) ([]string, reply.Value) {
		from, to := draw(t, "from", "l", "m"), draw(t, "to", "l", "m")
		c := k.get(from)
		if len(c.list) == 0 {
			return []string{"LMOVE", from, to, "LEFT", "RIGHT"}, reply.Nil()
		}
		v := c.list[0]
		c.list = slices.Delete(c.list, 0, 1)
		k.get(to).list = append(k.get(to).list, v)
		return []string{"LMOVE", from, to, "LEFT", "RIGHT"}, reply.Bulk(v)
	},
}

var setMoves = []containerMove{
	func(t *rapid.T, k *simpleKeys) ([]string, reply.Value) {
		key := draw(t, "key", "s", "u")
		argv, c := []string{"SADD", key}, k.get(key)
		before := len(c.members)
		for range rapid.SampledFrom([]int{1, 2, 80}).Draw(t, "members") {
			m := drawField(t)
			argv = append(argv, m)
			c.members[m] = true
		}
		return argv, reply.Int(int64(len(c.members) - before))
	},
	func(t *rapid.T, k *simpleKeys) ([]string, reply.Value) {
		key := draw(t, "key", "s", "u")
		argv, c := []string{"SREM", key}, k.get(key)
		before := len(c.members)
		for range rapid.SampledFrom([]int{1, 2, 80}).Draw(t, "members") {
			m := drawField(t)
			argv = append(argv, m)
			delete(c.members, m)
		}
		return argv, reply.Int(int64(before - len(c.members)))
	},
	func(t *rapid.T, k *simpleKeys) ([]string, reply.Value) {
		key := draw(t, "key", "s", "u")
		return []string{"SMEMBERS", key}, setOf(k.get(key).members)
	},
	func(t *rapid.T, k *simpleKeys) ([]string, reply.Value) {
		a, b, to, op := draw(t, "a", "s", "u"), draw(t, "b", "s", "u"), draw(t, "to", "s", "u"), draw(t, "op", "SUNIONSTORE", "SINTERSTORE", "SDIFFSTORE")
		x, y, result := k.get(a).members, k.get(b).members, map[string]bool{}
		for i := range 91 {
			m := fmt.Sprint("f", i)
			if map[string]bool{"SUNIONSTORE": x[m] || y[m], "SINTERSTORE": x[m] && y[m], "SDIFFSTORE": x[m] && !y[m]}[op] {
				result[m] = true
			}
		}
		k.get(to).members = result
		return []string{op, to, a, b}, reply.Int(int64(len(result)))
	},
	func(t *rapid.T, k *simpleKeys) ([]string, reply.Value) {
		from, to, m := draw(t, "from", "s", "u"), draw(t, "to", "s", "u"), drawField(t)
		if !k.get(from).members[m] {
			return []string{"SMOVE", from, to, m}, reply.Int(0)
		}
		delete(k.get(from).members, m)
		k.get(to).members[m] = true
		return []string{"SMOVE", from, to, m}, reply.Int(1)
	},
	func(t *rapid.T, k *simpleKeys) ([]string, reply.Value) {
		key := draw(t, "key", "s", "u")
		all := k.get(key).members
		k.get(key).members = map[string]bool{}
		return []string{"SPOP", key, "1000"}, setOf(all)
	},
}

var wholeMoves = []containerMove{
	func(t *rapid.T, k *simpleKeys) ([]string, reply.Value) {
		return []string{"DBSIZE"}, reply.Int(k.live())
	},
	func(t *rapid.T, k *simpleKeys) ([]string, reply.Value) {
		key := draw(t, "key", "h", "i", "l", "m", "s", "u")
		if k.get(key).empty() {
			return []string{"TYPE", key}, reply.Status("none")
		}
		return []string{"TYPE", key}, reply.Status(map[string]string{"h": "hash", "i": "hash", "l": "list", "m": "list", "s": "set", "u": "set"}[key])
	},
	func(t *rapid.T, k *simpleKeys) ([]string, reply.Value) {
		pair := rapid.SampledFrom([][2]string{{"h", "i"}, {"l", "m"}, {"s", "u"}}).Draw(t, "pair")
		argv := []string{"COPY", pair[0], pair[1], "REPLACE"}
		c := k.get(pair[0])
		if c.empty() {
			return argv, reply.Int(0)
		}
		k.keys[pair[1]] = &simple{maps.Clone(c.fields), slices.Clone(c.list), maps.Clone(c.members)}
		return argv, reply.Int(1)
	},
}

// TestContainersAgainstModel runs random commands with time passing, sweeps, forks and
// restores between them, and compares every reply with a simple model's.
func TestContainersAgainstModel(t *testing.T) {
	table := command.NewTable()
	rapid.Check(t, func(t *rapid.T) {
		k := &simpleKeys{now: 1000, keys: map[string]*simple{}}
		tx := &command.Tx{DB: keyspace.New(), User: acl.Default, Table: table}
		moves := rapid.SampledFrom([][]containerMove{hashMoves, listMoves, setMoves}).Draw(t, "family")
		moves = append(slices.Clone(moves), wholeMoves...)
		for i := range rapid.IntRange(1, 60).Draw(t, "commands") {
			k.now += rapid.SampledFrom([]int64{0, 0, 0, 1, 7, 30}).Draw(t, "pause")
			tx.Env = env.New(uint64(i+1), k.now, env.Latest, [16]byte{byte(i)}, 0)
			switch rapid.IntRange(0, 15).Draw(t, "turn") {
			case 0:
				tx.DB.Sweep(tx.Env, 3)
			case 1:
				tx.DB = tx.DB.Fork()
			case 2:
				tx.DB = restored(t, tx.DB)
			}
			words, want := rapid.SampledFrom(moves).Draw(t, "move")(t, k)
			argv := make([][]byte, len(words))
			for j, w := range words {
				argv[j] = []byte(w)
			}
			got := tx.Exec(argv)
			if words[0][0] != 'L' {
				got, want = scripttest.Sorted(got), scripttest.Sorted(want)
			}
			if scripttest.Print(got) != scripttest.Print(want) {
				t.Fatalf("%q:\ngot:\n%s\nwant:\n%s", words, scripttest.Print(got), scripttest.Print(want))
			}
		}
	})
}

// restored is db loaded from its own records; it must count the same memory.
func restored(t *rapid.T, db *keyspace.DB) *keyspace.DB {
	l := keyspace.NewLoader()
	if err := db.Save(l.Add); err != nil {
		t.Fatalf("load: %v", err)
	}
	again, err := l.Finish()
	if err != nil || again.Used() != db.Used() || again.Len() != db.Len() {
		t.Fatalf("loaded: %v, %d bytes of %d", err, again.Used(), db.Used())
	}
	return again
}

// TestForksCloneNoWholeContainer changes large containers right after a fork: what it
// allocates must not grow with their size.
func TestForksCloneNoWholeContainer(t *testing.T) {
	const size = 100_000
	tx := &command.Tx{Env: env.New(1, 1000, env.Latest, [16]byte{}, 0), DB: keyspace.New(), User: acl.Default, Table: command.NewTable()}
	do := func(words ...string) {
		argv := make([][]byte, len(words))
		for i, w := range words {
			argv[i] = []byte(w)
		}
		if v := tx.Exec(argv); v.IsError() {
			t.Fatalf("%q: %s", words, v.Text())
		}
	}
	for i := range size {
		name := fmt.Sprint("name", i)
		do("HSET", "h", name, "v")
		do("HPEXPIRE", "h", "1000000", "FIELDS", "1", name)
		do("RPUSH", "l", name)
		do("SADD", "s", name)
		do("XADD", "x", fmt.Sprint(i+1), "f", name)
	}
	do("XGROUP", "CREATE", "x", "g", "0")
	do("XREADGROUP", "GROUP", "g", "c", "COUNT", "50000", "STREAMS", "x", ">")
	for _, words := range [][]string{
		{"HSET", "h", "name7", "w"}, {"HDEL", "h", "name9"}, {"HGETEX", "h", "PERSIST", "FIELDS", "1", "name11"}, {"SADD", "s", "new"}, {"SPOP", "s"},
		{"LPUSH", "l", "x"}, {"RPOP", "l"}, {"LSET", "l", "5000", "x"}, {"LTRIM", "l", "10", "-10"}, {"COPY", "h", "c"}, {"LMOVE", "l", "l", "LEFT", "RIGHT"},
		{"XADD", "x", "*", "f", "v"}, {"XADD", "x", "MAXLEN", "99000", "*", "f", "v"}, {"XDEL", "x", "5000"}, {"XREADGROUP", "GROUP", "g", "d", "COUNT", "1", "STREAMS", "x", ">"}, {"XACK", "x", "g", "7000-0"},
		{"XCLAIM", "x", "g", "d", "0", "9000"}, {"COPY", "x", "y"},
	} {
		fork := tx.DB.Fork()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		do(words...)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 100_000 {
			t.Errorf("%q after a fork allocated %d bytes", words, used)
		}
		runtime.KeepAlive(fork)
	}
}
