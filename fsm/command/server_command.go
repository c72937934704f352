package command

import (
	"strings"

	"trireme/fsm/acl"
	"trireme/fsm/glob"
	"trireme/fsm/reply"
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

// describe is the entry of a name in COMMAND INFO; nil if there is none.
func (t *Table) describe(name string) reply.Value {
	c := t.byName[strings.ReplaceAll(name, "|", " ")]
	if c == nil && !t.containers[name] {
		return reply.NilArray()
	}
	if c == nil {
		c = &Command{Name: name, Arity: -2, Group: "container"}
	}
	var subs []reply.Value
	for _, row := range t.rows {
		if head, _, sub := strings.Cut(row.Name, " "); sub && head == c.Name {
			subs = append(subs, t.describe(row.Name))
		}
	}
	return reply.Array(reply.Bulk(strings.ReplaceAll(c.Name, " ", "|")), reply.Int(int64(c.Arity)), reply.Set(c.flagNames()...),
		reply.Int(int64(c.Keys.First)), reply.Int(int64(c.Keys.Last)), reply.Int(int64(c.Keys.Step)), reply.Set(c.categoryNames()...),
		reply.Array(), reply.Array(), reply.Array(subs...))
}

// flagNames are the flags in the words of COMMAND INFO.
func (c *Command) flagNames() (names []reply.Value) {
	for _, f := range []struct {
		flag Flags
		name string
	}{{Write, "write"}, {ReadOnly, "readonly"}, {DenyOOM, "denyoom"}, {Admin, "admin"}, {NoScript, "noscript"}, {Fast, "fast"}, {NoMulti, "no_multi"}} {
		if c.Flags&f.flag != 0 {
			names = append(names, reply.Status(f.name))
		}
	}
	if c.Keys.Find != nil {
		names = append(names, reply.Status("movablekeys"))
	}
	return names
}

// categoryNames are the names of the row's categories, in the order of ACL CAT.
func (c *Command) categoryNames() (names []reply.Value) {
	set := c.categories()
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
	if tx.Door == HTTP {
		return reply.Array()
	}
	return tx.Table.infos(nil)
}

func (t *Table) infos(names []string) reply.Value {
	var all []reply.Value
	if len(names) == 0 {
		names = t.heads()
	}
	for _, name := range names {
		all = append(all, t.describe(name))
	}
	return reply.Array(all...)
}

func commandInfo(tx *Tx, a *Args) reply.Value { return tx.Table.infos(lowered(a)) }

// lowered are the words left, in lower case.
func lowered(a *Args) (names []string) {
	for _, word := range a.Rest() {
		names = append(names, strings.ToLower(string(word)))
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
		if c := tx.Table.byName[strings.ReplaceAll(name, "|", " ")]; c != nil {
			all = append(all, reply.Bulk(strings.ReplaceAll(c.Name, " ", "|")), reply.Map(
				reply.Bulk("summary"), reply.Bulk(c.Summary), reply.Bulk("since"), reply.Bulk(c.Version),
				reply.Bulk("group"), reply.Bulk(c.Group), reply.Bulk("complexity"), reply.Bulk(c.Complexity)))
		}
	}
	return reply.Map(all...)
}

// commandList answers names, filtered if asked.
func commandList(tx *Tx, a *Args) reply.Value {
	keep := func(string) bool { return true }
	if a.Left() > 0 {
		if !a.Word("FILTERBY") {
			a.Fail(ErrSyntax)
		}
		switch {
		case a.Word("PATTERN"):
			pattern := strings.ToLower(a.String())
			keep = func(name string) bool { return glob.Match(pattern, name) }
		case a.Word("ACLCAT"):
			category := acl.CategoryNamed(strings.ToLower(a.String()))
			keep = func(name string) bool {
				c := tx.Table.byName[name]
				return c != nil && c.categories()&category != 0
			}
		case a.Word("MODULE"):
			a.Bytes()
			keep = func(string) bool { return false } // there are no modules
		default:
			a.Fail(ErrSyntax)
		}
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	var names []reply.Value
	for _, name := range tx.Table.heads() {
		if keep(name) {
			names = append(names, reply.Bulk(name))
		}
	}
	return reply.Array(names...)
}

// commandGetKeys answers the keys of a command line.
func commandGetKeys(tx *Tx, a *Args) reply.Value {
	argv := a.Rest()
	c := tx.Table.Find(argv)
	switch {
	case c == nil:
		return reply.Error("ERR Invalid command specified")
	case (c.Arity > 0 && len(argv) != c.Arity) || len(argv) < -c.Arity:
		return reply.Error("ERR Invalid number of arguments specified for command")
	}
	var keys []reply.Value
	for _, i := range c.Keys.Positions(argv) {
		keys = append(keys, reply.Bulk(string(argv[i])))
	}
	if len(keys) == 0 {
		return reply.Error("ERR The command has no key arguments")
	}
	return reply.Array(keys...)
}
