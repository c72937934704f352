package command

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/script"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// testTx returns the context of a test's commands, at a time of 1000 ms.
func testTx(user *acl.User, origin Origin) *Tx {
	e := env.New(1, 1000, env.Latest, [16]byte{}, 0)
	table := NewTable()
	return &Tx{Env: e, DB: keyspace.New(), Users: acl.NewStore(table.Catalog(), 0), User: user, Table: table, Origin: origin, Config: new(Config), Scripting: Scripting{Scripts: script.NewStore()}}
}

func readOnly() *acl.User { return acl.NewStore(NewTable().Catalog(), 0).User(acl.ReadOnlyName) }

func words(line string) [][]byte {
	var argv [][]byte
	for _, w := range strings.Fields(line) {
		argv = append(argv, []byte(w))
	}
	return argv
}

func (tx *Tx) do(line string) reply.Value { return tx.Exec(words(line)) }

// lacks are the fields that a row must have and does not, with what to write there.
func (c *Command) lacks() (missing []string) {
	for _, f := range []struct {
		there bool
		field string
	}{
		{c.Cost != noCost, "Cost: costConstant for look-ups, costValues if it reads all of its keys' values, or another one of cost.go"},
		{c.Keys.First == 0 && c.Keys.Find == nil || len(c.Keys.uses) > 0, "Keys: what it does with its keys, such as firstKey.with(roAccess)"},
		{!strings.Contains(c.Syntax, " key") || len(c.Keys.uses) > 0 || c.Name == "cluster keyslot", "Keys: its syntax names a key, such as Keys: firstKey.with(roAccess)"},
		{!strings.Contains(c.Syntax, "channel") || c.Channels != noChannels || c.Flags&Write == 0, "Channels: its syntax names a channel, such as firstChannel"},
		{c.Run != nil, "Run: its handler"},
		{c.Version != "" && c.Complexity != "" && c.Syntax != "" && c.Summary != "", "Version, Complexity, Syntax and Summary"},
	} {
		if !f.there {
			missing = append(missing, f.field)
		}
	}
	return missing
}

// TestLackingRowsAreFound tests the check itself: for a row without its cost or its keys it says what to add.
func TestLackingRowsAreFound(t *testing.T) {
	whole := Command{Name: "x", Cost: costConstant, Keys: firstKey.with(ro), Doc: Doc{Version: "1", Complexity: "O(1)", Syntax: "X key", Summary: "Does."}, Run: get}
	for want, corrupt := range map[string]func(c *Command){
		"":         func(*Command) {},
		"Cost:":    func(c *Command) { c.Cost = noCost },
		"Keys:":    func(c *Command) { c.Keys = KeySpec{} },
		"Run:":     func(c *Command) { c.Run = nil },
		"Version,": func(c *Command) { c.Summary = "" },
	} {
		c := whole
		corrupt(&c)
		if got := strings.Join(c.lacks(), "; "); !strings.HasPrefix(got, want) || (want == "") != (got == "") {
			t.Errorf("corrupted %q: %q", want, got)
		}
	}
}

// TestRowsAreConsistent checks that every row is complete (lacks) and does not contradict itself.
func TestRowsAreConsistent(t *testing.T) {
	for _, c := range NewTable().Rows() {
		switch {
		case c.Name != strings.ToLower(c.Name) || c.Run == nil || c.Group() == "" || c.Arity == 0:
			t.Errorf("%q: name, handler, group or arity", c.Name)
		case c.Flags&Write != 0 && c.Flags&(ReadOnly|ReadOnlyUser) != 0:
			t.Errorf("%s: writes and is open to readers", c.Name)
		case (c.Flags&MayRead != 0) != (c.Reads != nil):
			t.Errorf("%s: MayRead and Reads go together", c.Name)
		case c.Flags&MayRead != 0 && c.Flags&Write == 0:
			t.Errorf("%s: MayRead without Write", c.Name)
		case c.Flags&DenyOOM != 0 && c.Flags&Write == 0:
			t.Errorf("%s: DenyOOM without Write", c.Name)
		}
		least := c.Arity
		if least < 0 {
			least = -least
		}
		for _, lack := range c.lacks() {
			t.Errorf("%s: add %s", c.Name, lack)
		}
		if k := c.Keys; k.Find == nil && (k.First >= least && k.First > 0 || (k.First > 0) != (k.Step > 0)) {
			t.Errorf("%s: keys %+v", c.Name, k)
		}
	}
}

func TestKeyPositions(t *testing.T) {
	table := NewTable()
	for line, want := range map[string][]int{
		"GET a": {1}, "MGET a b c": {1, 2, 3}, "MSET a 1 b 2": {1, 3}, "RENAME a b": {1, 2}, "COPY a b REPLACE": {1, 2},
		"PING": nil, "MSETEX 2 a 1 b 2 EX 10": {2, 4}, "MSETEX x a 1": nil, "MSETEX 99 a 1": nil, "MSETEX 2 a 1": {2},
	} {
		argv := words(line)
		if got := table.Find(argv).Keys.Positions(argv); !slices.Equal(got, want) {
			t.Errorf("%s: keys at %v, want %v", line, got, want)
		}
	}
}

// TestRefusals checks the texts of commands that don't run, and their order.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		user   *acl.User
		origin Origin
		line   string
		want   string
	}{
		{acl.Default, RESP, "FOO bar baz", "ERR unknown command 'FOO', with args beginning with: 'bar' 'baz' "},
		{acl.Default, RESP, "foo", "ERR unknown command 'foo', with args beginning with: "},
		{acl.Default, OriginHTTP, "foo bar", "ERR Command is not available: 'FOO'"},
		{acl.Default, Script, "foo", "ERR Unknown Redis command called from script"},
		{readOnly(), RESP, "SET", "ERR wrong number of arguments for 'set' command"},
		{readOnly(), RESP, "SET k v", "NOPERM User default_ro has no permissions to run the 'set' command"},
		{readOnly(), Script, "SET k v", "NOPERM ACL failure in script: User default_ro has no permissions to run the 'set' command"},
		{readOnly(), OriginHTTP, "KEYS *", "NOPERM this user has no permissions to run the 'keys' command or its subcommand"},
		{nil, RESP, "GET k", "NOAUTH Authentication required."},
		{nil, OriginHTTP, "GET k", "WRONGPASS invalid or missing auth token"},
	} {
		if got := testTx(c.user, c.origin).do(c.line); got.Text() != c.want || !got.IsError() {
			t.Errorf("%s: %q, want %q", c.line, got.Text(), c.want)
		}
	}
	tx := testTx(acl.Default, RESP)
	if got := tx.Exec(nil); !got.IsError() {
		t.Errorf("an empty command: %v", got)
	}
	long := tx.Exec([][]byte{[]byte("x\r\ny" + strings.Repeat("z", 200)), []byte(strings.Repeat("a", 200)), []byte("b")})
	want := "ERR unknown command 'x  y" + strings.Repeat("z", 124) + "', with args beginning with: '" + strings.Repeat("a", 128) + "' "
	if long.Text() != want {
		t.Errorf("a long unknown command: %q", long.Text())
	}
	if got := tx.Exec([][]byte{[]byte("\xff")}); got.Text() != "ERR unknown command '\xff', with args beginning with: " {
		t.Errorf("bytes that are no text: %q", got.Text())
	}
}

// TestLevelHidesCommands checks that a row above the level in force is unknown.
func TestLevelHidesCommands(t *testing.T) {
	tx := testTx(acl.Default, RESP)
	tx.Table.byName["ping"].Since = tx.Level + 1
	if got := tx.do("PING"); !strings.HasPrefix(got.Text(), "ERR unknown command") {
		t.Errorf("%q", got.Text())
	}
	tx.Level++
	if got := tx.do("PING"); got.Text() != "PONG" {
		t.Errorf("%q", got.Text())
	}
}

// TestContainers checks rows with subcommands, of which the table has none yet.
func TestContainers(t *testing.T) {
	tx := testTx(acl.Default, RESP)
	run := func(*Tx, *Args) reply.Value { return reply.OK() }
	tx.Table.add(&Command{Name: "box open", Arity: 3, Run: run, Flags: NoHTTP | NoScript | NoMulti})
	for line, want := range map[string]string{
		"BOX open k": "OK",
		"box OPEN":   "ERR wrong number of arguments for 'box|open' command",
		"BOX":        "ERR wrong number of arguments for 'box' command",
		"BOX shut k": "ERR unknown subcommand 'shut'. Try BOX HELP.",
	} {
		if got := tx.do(line); got.Text() != want {
			t.Errorf("%s: %q, want %q", line, got.Text(), want)
		}
	}
	if v := tx.Refuse([][][]byte{words("PING"), words("BOX open k")}); v == nil || !v.IsError() {
		t.Errorf("a transaction took a row that may not stand in one: %v", v)
	}
	tx.Origin = OriginHTTP
	if got := tx.do("BOX shut k"); got.Text() != "ERR Command is not available: 'BOX SHUT'" {
		t.Errorf("%q", got.Text())
	}
	if got := tx.do("BOX open k"); got.Text() != "ERR Command \"BOX OPEN\" is not allowed in REST or it has a special context path" {
		t.Errorf("%q", got.Text())
	}
	tx.Origin = Script
	if got := tx.do("BOX open k"); got.Text() != "ERR This Redis command is not allowed from script" {
		t.Errorf("%q", got.Text())
	}
}

// TestMemoryLimit checks which commands the limit stops.
func TestMemoryLimit(t *testing.T) {
	tx := testTx(acl.Default, RESP)
	tx.do("SET k v")
	tx.MaxMemory = tx.DB.Used() - 1
	used := tx.DB.Used()
	for _, line := range []string{"SET a b", "APPEND k x", "INCR n", "MSET a 1", "COPY k c", "SETRANGE k 5 x", "GETSET k v", "MSETEX 1 a 1"} {
		if got := tx.do(line); !got.Equal(ErrOOM) {
			t.Errorf("%s: %v", line, got)
		}
	}
	if tx.DB.Used() != used {
		t.Errorf("memory went from %d to %d", used, tx.DB.Used())
	}
	for _, line := range []string{"GET k", "EXPIRE k 10", "GETEX k PERSIST", "RENAME k l", "DEL l"} {
		if got := tx.do(line); got.IsError() {
			t.Errorf("%s: %s", line, got.Text())
		}
	}
	if got := tx.do("SET a b"); got.IsError() {
		t.Errorf("with room again: %s", got.Text())
	}
}

// TestMemoryLimitOfFunctions: the limit stops libraries.
func TestMemoryLimitOfFunctions(t *testing.T) {
	tx := testTx(acl.Default, RESP)
	tx.do("SET k v")
	tx.MaxMemory = tx.DB.Used() - 1
	load := tx.Exec([][]byte{[]byte("FUNCTION"), []byte("LOAD"), []byte("#!lua name=lib\nredis.register_function('f', function() return 1 end)")})
	if !load.Equal(ErrOOM) {
		t.Errorf("got %v, want %v", load, ErrOOM)
	}
}

// TestReadsDoNotWrite checks that a read refuses what writes, and that a write that
// only reads is served.
func TestReadsDoNotWrite(t *testing.T) {
	tx := testTx(acl.Default, RESP)
	tx.do("SET k v")
	tx.ReadOnly = true
	if got := tx.do("SET k w"); !got.IsError() {
		t.Errorf("a read wrote: %v", got)
	}
	if got := tx.do("GETEX k EX 10"); !got.IsError() {
		t.Errorf("a read wrote: %v", got)
	}
	if got := tx.do("GETEX k"); got.Text() != "v" {
		t.Errorf("GETEX that only reads: %v", got)
	}
}

// box is a value of another type than string.
type box struct{ keyspace.Owned }

func (*box) Type() keyspace.Type       { return keyspace.List }
func (*box) Size() int64               { return 1 }
func (*box) Clone() keyspace.Container { return &box{} }
func (*box) Encode(w *wire.Writer)     { w.Bool(true) }
func boxed(tx *Tx, key string, at int64) {
	tx.DB.PutContainer(tx.Env, []byte(key), &box{}, keyspace.Deadline(at))
}

// TestWrongType calls every command on a key that holds no string.
func TestWrongType(t *testing.T) {
	for line, want := range map[string]reply.Value{
		"APPEND b x": ErrWrongType, "DECR b": ErrWrongType, "DECRBY b 1": ErrWrongType, "INCR b": ErrWrongType, "INCRBY b 1": ErrWrongType,
		"INCRBYFLOAT b 1": ErrWrongType, "INCRBYFLOAT b x": ErrWrongType, "INCRBY b x": ErrNotInteger,
		"DIGEST b": ErrWrongType, "GET b": ErrWrongType, "GETDEL b": ErrWrongType, "GETEX b": ErrWrongType, "GETEX b EX x": ErrWrongType,
		"GETRANGE b 0 1": ErrWrongType, "SUBSTR b 0 1": ErrWrongType, "GETSET b x": ErrWrongType, "SETRANGE b 0 x": ErrWrongType, "STRLEN b": ErrWrongType,
		"DELEX b IFEQ x": ErrWrongType, "SET b x GET": ErrWrongType, "SET b x NX GET": ErrWrongType, "SET b x IFEQ x": ErrWrongType, "SET b x IFDNE 0000000000000000": ErrWrongType,
		"SET b x NX": reply.Nil(), "SETNX b x": reply.Int(0), "MSETNX b x": reply.Int(0), "MSETEX 1 b x NX": reply.Int(0),
		"MGET b": reply.Array(reply.Nil()), "EXISTS b": reply.Int(1), "TYPE b": reply.Status("list"), "TTL b": reply.Int(5),
		"SCAN 0 TYPE list": reply.Array(reply.Bulk("0"), reply.Array(reply.Bulk("b"))), "SCAN 0 TYPE string": reply.Array(reply.Bulk("0"), reply.Array()),
		"SCAN 0 TYPE search": reply.Array(reply.Bulk("0"), reply.Array()), "SCAN 0 TYPE none": reply.Array(reply.Bulk("0"), reply.Array()), "SCAN 0 TYPE ''": reply.Array(reply.Bulk("0"), reply.Array()),
		"SCAN 0 WITHTYPE": reply.Array(reply.Bulk("0"), reply.Array(reply.Bulk("b"), reply.Bulk("list"))),
	} {
		tx := testTx(acl.Default, RESP)
		boxed(tx, "b", 6000)
		if got := tx.do(line); !got.Equal(want) {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
		if got := tx.do("TYPE b"); got.Text() != "list" {
			t.Errorf("%s left a %s", line, got.Text())
		}
	}
	for _, line := range []string{"SET b x", "SET b x XX KEEPTTL", "SETEX b 1 x", "PSETEX b 1 x", "MSET b x", "MSETEX 1 b x XX"} {
		tx := testTx(acl.Default, RESP)
		boxed(tx, "b", 6000)
		if got := tx.do(line); got.IsError() {
			t.Errorf("%s: %s", line, got.Text())
		}
		if got := tx.do("GET b"); got.Text() != "x" {
			t.Errorf("%s left %v", line, got)
		}
	}
	for _, line := range []string{"DELEX b", "DEL b", "UNLINK b", "EXPIRE b 0", "FLUSHALL"} {
		tx := testTx(acl.Default, RESP)
		boxed(tx, "b", 0)
		if got := tx.do(line); got.IsError() || tx.DB.Len() != 0 || tx.DB.Used() != 0 {
			t.Errorf("%s: %v, %d keys, %d bytes left", line, got, tx.DB.Len(), tx.DB.Used())
		}
	}
	tx := testTx(acl.Default, RESP)
	boxed(tx, "b", 6000)
	if got := tx.do("COPY b c"); !got.Equal(reply.Int(1)) || tx.do("TYPE c").Text() != "list" || !tx.do("TTL c").Equal(reply.Int(5)) {
		t.Errorf("COPY of a container: %v", got)
	}
	if got := tx.do("RENAME b d"); got.Text() != "OK" || tx.do("TYPE d").Text() != "list" || tx.do("EXISTS b").Int() != 0 {
		t.Errorf("RENAME of a container: %v", got)
	}
}

// TestArgsDepth checks that a command that runs others keeps its own arguments.
func TestArgsDepth(t *testing.T) {
	tx := testTx(acl.Default, RESP)
	tx.Table.add(&Command{Name: "outer", Arity: -2, Run: func(tx *Tx, a *Args) reply.Value {
		first := a.String()
		inner := tx.do("ECHO inner")
		return reply.Array(reply.Bulk(first), inner, reply.Bulk(a.String()))
	}})
	want := reply.Array(reply.Bulk("a"), reply.Bulk("inner"), reply.Bulk("b"))
	if got := tx.do("OUTER a b"); !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}

// TestFamiliesAreComplete compares the rows of two families with the commands of Redis
// that belong to them.
func TestFamiliesAreComplete(t *testing.T) {
	table := NewTable()
	for family, list := range map[string]string{
		"generic": `copy del dump exists expire expireat expiretime keys move object|encoding object|freq object|help object|idletime
			object|refcount persist pexpire pexpireat pexpiretime pttl randomkey rename renamenx restore scan sort sort_ro touch ttl type
			unlink wait waitaof`,
		"string": `append decr decrby delex digest get getdel getex getrange getset incr incrby incrbyfloat lcs mget mset msetex msetnx
			psetex set setex setnx setrange strlen substr`,
		"server": `memory|doctor memory|help memory|malloc-stats memory|prefixes memory|purge memory|stats memory|usage`,
	} {
		for _, name := range strings.Fields(list) {
			name = strings.ReplaceAll(name, "|", " ")
			if c := table.byName[name]; c == nil || c.Group() != family {
				t.Errorf("%s: no row %q", family, name)
			}
		}
	}
}

// TestRecordLimitOfVectors: the limit of a record is that of one vector, not of an index, whatever it holds already.
func TestRecordLimitOfVectors(t *testing.T) {
	tx := testTx(acl.Default, RESP)
	tx.do("VECTOR.CREATE i DIM 2 METRIC DOT")
	tx.Limits.MaxRecord = 100
	for n := range 20 {
		if got := tx.do(fmt.Sprintf("VECTOR.ADD i v%d VALUES 2 1 2", n)); !got.Equal(reply.Int(1)) {
			t.Fatalf("vector %d: %v", n, got)
		}
	}
	if got := tx.do("VECTOR.ADD i " + strings.Repeat("v", 100) + " VALUES 2 1 2"); !got.IsError() {
		t.Errorf("a record above the limit: %v", got)
	}
}
