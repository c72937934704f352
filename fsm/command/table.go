package command

import (
	"bytes"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/glob"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// Table is all commands by name. It is a value made by NewTable, not a package
// variable: handlers that look at the table would otherwise make an initialization
// cycle.
type Table struct {
	rows       []*Command
	byName     map[string]*Command
	containers map[string]bool // names that only have subcommands
	catalog    *acl.Catalog
}

// NewTable is the table of this binary.
func NewTable() *Table {
	t := &Table{byName: map[string]*Command{}, containers: map[string]bool{}}
	for _, f := range families() {
		for i := range f.rows {
			f.rows[i].family = &f
			t.add(&f.rows[i])
		}
	}
	for name := range t.containers { // unordered: each row by itself
		if c := t.byName[name]; c != nil {
			c.container = true
		}
	}
	t.catalog = t.newCatalog()
	return t
}

// family is the rows of one group.
type family struct {
	group    string
	title    string       // for people
	category acl.Category // of its rows, 0 for none
	rows     []Command
}

// families are all rows that there are.
func families() []family {
	return []family{
		{"generic", "Keys of any type", acl.Keyspace, slices.Concat(generic(), objectRows(), sortRows(), dumpRows(), conditions())},
		{"string", "Strings", acl.String, stringRows()},
		{"connection", "Connection", acl.Connection, connection()},
		{"transactions", "Transactions", acl.Transaction, transactions()},
		{"server", "Server", 0, slices.Concat(server(), memoryRows())},
		{"acl", "Users (ACL)", 0, aclRows()},
		{"hash", "Hashes", acl.Hash, hashRows()},
		{"list", "Lists", acl.List, listRows()},
		{"set", "Sets", acl.Set, setRows()},
		{"sorted-set", "Sorted sets", acl.SortedSet, sortedSetRows()},
		{"geo", "Geo", acl.Geo, geoRows()},
		{"bitmap", "Bitmaps", acl.Bitmap, bitmapRows()},
		{"hyperloglog", "HyperLogLog", acl.HyperLogLog, hyperLogLogRows()},
		{"json", "JSON documents", acl.JSON, jsonRows()},
		{"array", "Arrays", 0, arrayRows()},
		{"vector", "Vector indexes", 0, vectorRows()},
		{"search", "Search indexes", 0, searchRows()},
		{"stream", "Streams", acl.Stream, streamRows()},
		{"pubsub", "Pub/Sub", acl.PubSub, pubsub()},
		{"cluster", "Cluster", 0, clusterRows()},
		{"messages", "Messages", acl.MessagesCategory, slices.Concat(messageRows(), workflowRows(), triggerRows())},
		{"scripting", "Scripting", acl.Scripting, scripting()},
	}
}

func (t *Table) add(c *Command) {
	if t.byName[c.Name] != nil {
		panic("command: two rows named " + c.Name)
	}
	c.number = len(t.rows)
	c.words = 1 + strings.Count(c.Name, " ")
	if c.family == nil {
		c.family = &family{}
	}
	c.Since = max(c.Since, env.Base)
	t.rows = append(t.rows, c)
	t.byName[c.Name] = c
	if head, _, sub := strings.Cut(c.Name, " "); sub {
		t.containers[head] = true
	}
}

// Rows are all commands in the order of the families.
func (t *Table) Rows() []*Command { return t.rows }

// Row is the row of a name in the table, such as "xgroup create"; nil if
// there is none.
func (t *Table) Row(name string) *Command { return t.byName[name] }

// Number is the row's place in the table.
func (c *Command) Number() int { return c.number }

// Find is the row that argv calls, nil if there is none. A container is looked up
// with its subcommand.
func (t *Table) Find(argv [][]byte) *Command {
	if len(argv) == 0 {
		return nil
	}
	var buf [64]byte
	name := lower(buf[:0], argv[0])
	if c := t.byName[string(name)]; c != nil && (!c.container || len(argv) == 1) {
		return c
	}
	if len(argv) > 1 && t.containers[string(name)] {
		name = lower(append(name, ' '), argv[1])
		return t.byName[string(name)]
	}
	return nil
}

// findAgain is Find for a batch, whose rows often call one command after another by the
// same word.
func (t *Table) findAgain(tx *Tx, argv [][]byte) *Command {
	if c := tx.last.row; c != nil && len(argv) > 0 && bytes.Equal(argv[0], tx.last.word) {
		return c
	}
	c := t.Find(argv)
	if c != nil && !c.container && c.words == 1 {
		tx.last.row, tx.last.word = c, argv[0]
	}
	return c
}

func lower(dst, b []byte) []byte {
	for _, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

// Takes reports whether a call may have that many words, the name included.
func (c *Command) Takes(words int) bool {
	return (c.Arity < 0 || words == c.Arity) && words >= -c.Arity
}

// Check finds the row that argv calls and reports whether this user may call it with
// that many words from this origin. It is asked at the edge, to answer early, and
// again in the apply, to be right.
func (t *Table) Check(tx *Tx, argv [][]byte) (*Command, *reply.Value) {
	c := t.findAgain(tx, argv)
	if c == nil || c.Since > tx.Level {
		return nil, ptr(t.unknown(tx, argv))
	}
	if !c.Takes(len(argv)) {
		if tx.Origin == Script {
			return nil, &errScriptArity
		}
		return nil, ptr(ErrArity(c.Name))
	}
	if refusal := tx.permit(c, argv); refusal != nil {
		return nil, refusal
	}
	if v, refused := refusedAt(tx, c, argv); refused {
		return nil, ptr(v)
	}
	if c.Channels == patternsOnly && slices.ContainsFunc(argv[1:], func(word []byte) bool { return glob.Costly(string(word)) }) {
		return nil, &errPattern
	}
	if refusal := tx.Limits.exceeds(tx, c, argv); refusal != nil {
		return nil, refusal
	}
	return c, nil
}

func ptr(v reply.Value) *reply.Value { return &v }

// Exec runs one command: the one dispatcher for every origin.
func (tx *Tx) Exec(argv [][]byte) reply.Value {
	if len(tx.Triggers) == 0 {
		return tx.exec(argv)
	}
	tx.lookBack()
	v := tx.exec(argv)
	tx.fire()
	return v
}

func (tx *Tx) exec(argv [][]byte) reply.Value {
	c, refusal := tx.Table.Check(tx, argv)
	if refusal != nil {
		return *refusal
	}
	if tx.ReadOnly && tx.run == nil && c.Flags&Write != 0 && !c.OnlyReads(argv) {
		return reply.Error("ERR " + c.Name + " writes and was called in a read")
	}
	if tx.run != nil {
		if refusal := tx.run.admit(c, argv); refusal != nil {
			return *refusal
		}
		if tx.Monitors() && c.Flags&Admin == 0 {
			tx.TellCall(argv)
		}
		if c.Flags&ReadOnly != 0 && tx.Tracks() {
			tx.TellRead()
		}
	} else if tx.needsRoom(c, argv) && tx.full() && !tx.makeRoom() {
		return tx.overMemory()
	}
	if refusal := tx.spend(c, argv); refusal != nil {
		return *refusal
	}
	if refusal := tx.refuseTriggers(c, argv); refusal != nil {
		return *refusal
	}
	if tx.Bounded && tx.chargeRead(c, argv) {
		return reply.Nil()
	}
	if tx.Watch != nil {
		tx.row = c
	}
	if c.Flags&Write != 0 && !tx.ReadOnly {
		tx.DB.Cool(keyspace.Hot)
	}
	tx.NoTouch, tx.Looked = c.Flags&NoTouch != 0, false
	var undo func(reply.Value) reply.Value // takes no pointer, which would move the reply of every command to the heap
	if c.Flags&(DenyOOM|MayGrow) != 0 && tx.limited() {
		undo = tx.guardMemory(c, argv)
	}
	touches := tx.DB.Touches()
	tx.changes = 0
	var v reply.Value
	if tx.deep {
		args := Args{argv: argv, at: c.words}
		v = c.Run(tx, &args)
		tx.work.used += args.steps
	} else {
		tx.deep, tx.args = true, Args{argv: argv, at: c.words}
		v = c.Run(tx, &tx.args)
		tx.deep = false
		tx.work.used += tx.args.steps
	}
	tx.spendDocument()
	if refusal := tx.refuseRead(c, argv); refusal != nil {
		v = *refusal
	}
	if undo != nil {
		v = undo(v)
	}
	if tx.Messages != nil && c.Flags&Write != 0 && c.Group() == "messages" {
		tx.measure()
	}
	if tx.DB.Touches() != touches {
		tx.DB.CountChanges(tx.changesOf(c, argv, v))
	}
	return v
}

// OnlyReads reports whether the command with these arguments changes nothing, so
// that it can be answered without the log.
func (c *Command) OnlyReads(argv [][]byte) bool {
	return c.Flags&Write == 0 || (c.Flags&MayRead != 0 && c.Reads(argv))
}

// Refuse is the reason to discard a transaction of these rows before any of them
// runs: the first row's own error, nil if all can run.
func (tx *Tx) Refuse(rows [][][]byte) *reply.Value {
	for _, argv := range rows {
		c, refusal := tx.Table.Check(tx, argv)
		if refusal != nil {
			return refusal
		}
		if c.Flags&NoMulti != 0 {
			return ptr(reply.Error("ERR Command not allowed inside a transaction"))
		}
	}
	return tx.refuseWork(rows)
}
