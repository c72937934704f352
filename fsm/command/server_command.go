package command

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/ascii"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// heads are the names of all commands without their subcommands, in the table's order.
func (t *Table) heads() (names []string) {
	seen := map[string]bool{}
	for _, c := range t.rows {
		head, _, _ := strings.Cut(c.Name, " ")
		if !seen[head] {
			seen[head] = true
			names = append(names, head)
		}
	}
	return names
}

// describe is the entry of a name in COMMAND INFO at a level; nil if there is none.
func (t *Table) describe(name string, level env.Level) reply.Value {
	c := t.named(name)
	if c == nil {
		return reply.NilArray()
	}
	var subs, tips, uses []reply.Value
	for _, row := range t.subcommands(c.Name) {
		subs = append(subs, t.describe(row.Name, level))
	}
	for _, tip := range ascii.Fields(c.Tips) {
		tips = append(tips, reply.Bulk(tip))
	}
	for _, u := range c.Keys.uses {
		uses = append(uses, u.describe(c.Varies != nil))
	}
	return reply.Array(reply.Bulk(outward(c.Name)), reply.Int(int64(c.Arity)), reply.Set(c.flagNames()...),
		reply.Int(int64(c.Keys.First)), reply.Int(int64(c.Keys.Last)), reply.Int(int64(c.Keys.Step)), reply.Set(c.categoryNames(level)...),
		reply.Set(tips...), reply.Set(uses...), reply.Set(subs...))
}

// named is the row of a name as clients write it, or what stands for a container without a
// row of its own; nil if there is neither.
func (t *Table) named(name string) *Command {
	name = strings.Replace(name, "|", " ", 1)
	if c := t.byName[name]; c != nil || !t.containers[name] {
		return c
	}
	first := t.subcommands(name)[0]
	return &Command{Name: name, Arity: -2, family: first.family, Doc: Doc{Version: first.Version, Complexity: "that of the subcommand",
		Summary: "Holds the subcommands of " + ascii.Upper(name) + "."}, bare: true}
}

// subcommands are the rows of a container.
func (t *Table) subcommands(name string) (rows []*Command) {
	for _, row := range t.rows {
		if head, _, sub := strings.Cut(row.Name, " "); sub && head == name {
			rows = append(rows, row)
		}
	}
	return rows
}

// flagNames are the flags in the words of COMMAND INFO.
func (c *Command) flagNames() (names []reply.Value) {
	if c.bare {
		return nil
	}
	for _, f := range []struct {
		flag Flags
		name string
	}{{Write, "write"}, {ReadOnly, "readonly"}, {DenyOOM, "denyoom"}, {Admin, "admin"}, {NoScript | NoScriptWait, "noscript"}, {Fast, "fast"}, {Blocking, "blocking"}} {
		if c.Flags&f.flag != 0 {
			names = append(names, reply.Status(f.name))
		}
	}
	for _, name := range ascii.Fields(c.Info) {
		names = append(names, reply.Status(name))
	}
	if c.movable() {
		names = append(names, reply.Status("movablekeys"))
	}
	return names
}

// movable reports whether First, Last and Step don't tell all keys.
func (c *Command) movable() bool {
	for _, u := range c.Keys.uses {
		if u.counted || u.word != "" || u.unknown {
			return true
		}
	}
	return c.Keys.Find != nil && c.Keys.First == 0
}

// categoryNames are the names of the row's categories at a level, in the order of ACL CAT.
func (c *Command) categoryNames(level env.Level) (names []reply.Value) {
	set := c.categories()
	if c.bare {
		set = acl.Slow
	}
	for _, name := range acl.CategoryNames() {
		if set&acl.CategoryNamed(name) != 0 {
			names = append(names, reply.Status("@"+name))
		}
	}
	return names
}

// commandTable answers the whole table; over HTTP nothing, as existing clients of the
// gateway know it.
func commandTable(tx *Tx, a *Args) reply.Value {
	if err, ok := a.Done(); !ok {
		return err
	}
	if tx.dialect().hidesCommands {
		return reply.Array()
	}
	return tx.Table.infos(nil, tx.Level)
}

func (t *Table) infos(names []string, level env.Level) reply.Value {
	var all []reply.Value
	if len(names) == 0 {
		names = t.heads()
	}
	for _, name := range names {
		all = append(all, t.describe(name, level))
	}
	return reply.Array(all...)
}

func commandInfo(tx *Tx, a *Args) reply.Value { return tx.Table.infos(lowered(a), tx.Level) }

// lowered are the words left, in lower case.
func lowered(a *Args) (names []string) {
	for _, word := range a.Rest() {
		names = append(names, ascii.Lower(string(word)))
	}
	return names
}

func commandCount(tx *Tx, a *Args) reply.Value {
	if err, ok := a.Done(); !ok {
		return err
	}
	return reply.Int(int64(len(tx.Table.heads())))
}

// commandDocs answers name and documentation of the commands named, or of all. A name
// that isn't known is left out.
func commandDocs(tx *Tx, a *Args) reply.Value {
	var all []reply.Value
	names := lowered(a)
	if len(names) == 0 {
		names = tx.Table.heads()
	}
	for _, name := range names {
		if c := tx.Table.named(name); c != nil {
			all = append(all, reply.Bulk(outward(c.Name)), tx.Table.docs(c))
		}
	}
	return reply.Map(all...)
}

// docs returns the entry of COMMAND DOCS for a command and its subcommands.
func (t *Table) docs(c *Command) reply.Value {
	about := []reply.Value{reply.Bulk("summary"), reply.Bulk(c.Summary), reply.Bulk("since"), reply.Bulk(c.Version),
		reply.Bulk("group"), reply.Bulk(c.Group()), reply.Bulk("complexity"), reply.Bulk(c.Complexity)}
	if history := c.history(); len(history) > 0 {
		about = append(about, reply.Bulk("history"), reply.Set(history...))
	}
	if arguments := c.arguments(); len(arguments) > 0 {
		keys := 0
		about = append(about, reply.Bulk("arguments"), docsOf(arguments, len(c.Keys.uses), &keys))
	}
	var subs []reply.Value
	for _, row := range t.subcommands(c.Name) {
		subs = append(subs, reply.Bulk(outward(row.Name)), t.docs(row))
	}
	if len(subs) > 0 {
		about = append(about, reply.Bulk("subcommands"), reply.Map(subs...))
	}
	return reply.Map(about...)
}

// commandList answers names with those of subcommands, filtered if asked.
func commandList(tx *Tx, a *Args) reply.Value {
	keep := func(*Command) bool { return true }
	if a.Left() > 0 {
		if !a.Word("FILTERBY") {
			a.Fail(ErrSyntax)
		}
		switch {
		case a.Word("PATTERN"):
			pattern := ascii.Lower(a.String())
			keep = func(c *Command) bool { return tx.matches(pattern, outward(c.Name)) }
		case a.Word("ACLCAT"):
			category := acl.CategoryNamed(ascii.Lower(a.String()))
			keep = func(c *Command) bool { return !c.bare && c.categories()&category != 0 }
		case a.Word("MODULE"):
			a.Bytes()
			keep = func(*Command) bool { return false } // there are no modules
		default:
			a.Fail(ErrSyntax)
		}
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	var names []reply.Value
	list := func(c *Command) {
		if keep(c) {
			names = append(names, reply.Bulk(outward(c.Name)))
		}
	}
	for _, name := range tx.Table.heads() {
		list(tx.Table.named(name))
		for _, row := range tx.Table.subcommands(name) {
			list(row)
		}
	}
	return reply.Array(names...)
}

// keysOf are the keys that the command line left names, and the row it calls.
func (tx *Tx) keysOf(a *Args) (c *Command, argv [][]byte, at []int, refusal *reply.Value) {
	argv = a.Rest()
	c = tx.Table.Find(argv)
	switch {
	case c == nil:
		return nil, nil, nil, ptr(reply.Error("ERR Invalid command specified"))
	case len(c.Keys.uses) == 0 && c.Keys.Find == nil:
		return nil, nil, nil, ptr(reply.Error("ERR The command has no key arguments"))
	case !c.Takes(len(argv)):
		return nil, nil, nil, ptr(reply.Error("ERR Invalid number of arguments specified for command"))
	}
	if at = c.Keys.Positions(argv); c.Keys.overcounted(argv) {
		at = nil
	}
	if len(at) == 0 && c.Flags&KeysOptional != 0 {
		return c, argv, nil, nil
	} else if len(at) == 0 {
		return nil, nil, nil, ptr(reply.Error("ERR Invalid arguments specified for command"))
	}
	return c, argv, at, nil
}

// commandGetKeys answers the keys of a command line.
func commandGetKeys(tx *Tx, a *Args) reply.Value {
	_, argv, at, refusal := tx.keysOf(a)
	if refusal != nil {
		return *refusal
	}
	keys := make([]reply.Value, len(at))
	for i, place := range at {
		keys[i] = reply.Bulk(string(argv[place]))
	}
	return reply.Array(keys...)
}

// commandGetKeysAndFlags answers the keys of a command line and what it does with them.
func commandGetKeysAndFlags(tx *Tx, a *Args) reply.Value {
	c, argv, at, refusal := tx.keysOf(a)
	if refusal != nil {
		return *refusal
	}
	keys := make([]reply.Value, len(at))
	for i, place := range at {
		keys[i] = reply.Array(reply.Bulk(string(argv[place])), statusSet(string(c.doesWith(argv, i))))
	}
	return reply.Array(keys...)
}
