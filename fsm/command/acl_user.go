package command

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// The refusals of the ACL family.
var (
	errUserName = reply.Error("ERR Usernames can't contain spaces or null characters")
	errWeak     = reply.Error("ERR the password is too weak: it needs 16 characters, 6 of them different")
	errChance   = reply.Error("ERR random secrets can't be drawn in a request that writes: they would stand in the log")
)

// userName reads a name that a user may have.
func (a *Args) userName() string {
	name := a.String()
	if !acl.ValidUserName(name) {
		a.Fail(errUserName)
	}
	return name
}

func errBuiltin(name, what string) reply.Value {
	return reply.Error("ERR The '" + name + "' user cannot be " + what)
}

func aclSetUser(tx *Tx, a *Args) reply.Value {
	name := a.userName()
	rules, open := mergeSelectors(a.Rest())
	switch err, ok := a.Done(); {
	case !ok:
		return err
	case name == acl.DefaultName || name == acl.ReadOnlyName:
		return errBuiltin(name, "modified")
	case open != "":
		return reply.Error("ERR Unmatched parenthesis in acl selector starting at '" + shown(open) + "'.")
	}
	var refused *acl.RuleError
	if err := tx.Users.SetUser(name, rules); errors.As(err, &refused) {
		return reply.Error("ERR Error in ACL SETUSER modifier '" + shown(refused.Rule) + "': " + refused.Reason)
	}
	return reply.OK()
}

// mergeSelectors joins the words of a selector, which parentheses hold together, into
// one rule. A selector that never ends is given as open.
func mergeSelectors(words [][]byte) (rules []string, open string) {
	rules = make([]string, 0, len(words))
	for i := 0; i < len(words); i++ {
		from := i
		if bytes.HasPrefix(words[i], []byte("(")) {
			for ; !bytes.HasSuffix(words[i], []byte(")")); i++ {
				if i+1 >= len(words) {
					return nil, string(words[from])
				}
			}
		}
		rules = append(rules, string(bytes.Join(words[from:i+1], []byte(" "))))
	}
	return rules, ""
}

// aclSetUserWork counts reading and applying the rules, and making the user anew.
func aclSetUserWork(tx *Tx, argv [][]byte) int64 {
	size := 0
	for _, word := range argv[3:] {
		size += len(word)
	}
	return tx.Users.WorkOfRules(string(argv[2]), len(argv)-3, size)
}

func aclDelUser(tx *Tx, a *Args) reply.Value {
	names := a.Rest()
	for _, name := range names {
		if s := string(name); s == acl.DefaultName || s == acl.ReadOnlyName {
			return errBuiltin(s, "removed")
		}
	}
	n := int64(0)
	for _, name := range names {
		if tx.Users.Delete(string(name)) {
			n++
		}
	}
	return reply.Int(n)
}

func aclGetUser(tx *Tx, a *Args) reply.Value {
	name := a.String()
	if err, ok := a.Done(); !ok {
		return err
	}
	u := tx.Users.User(name)
	if u == nil {
		return reply.Nil()
	}
	d := u.Describe()
	fields := append([]reply.Value{
		reply.Bulk("flags"), reply.Set(bulks(d.Flags).Elems()...), reply.Bulk("passwords"), bulks(d.Passwords),
	}, selectorFields(d.Root)...)
	if tx.dialect().fiveUserFields && len(d.Selectors) == 0 {
		return reply.Map(fields...)
	}
	var selectors []reply.Value
	for _, s := range d.Selectors {
		selectors = append(selectors, reply.Map(selectorFields(s)...))
	}
	return reply.Map(append(fields, reply.Bulk("selectors"), reply.Array(selectors...))...)
}

func selectorFields(s acl.SelectorText) []reply.Value {
	return []reply.Value{
		reply.Bulk("commands"), reply.Bulk(s.Commands), reply.Bulk("keys"), reply.Bulk(s.Keys),
		reply.Bulk("channels"), reply.Bulk(s.Channels),
	}
}

func bulks(list []string) reply.Value {
	values := make([]reply.Value, len(list))
	for i, s := range list {
		values[i] = reply.Bulk(s)
	}
	return reply.Array(values...)
}

func aclList(tx *Tx, _ *Args) reply.Value {
	var lines []string
	for _, u := range tx.Users.Users() {
		lines = append(lines, u.Line())
	}
	return bulks(lines)
}

func aclUsers(tx *Tx, _ *Args) reply.Value {
	var names []string
	for _, u := range tx.Users.Users() {
		names = append(names, u.Name)
	}
	return bulks(names)
}

func aclWhoAmI(tx *Tx, _ *Args) reply.Value { return reply.Bulk(tx.User.Name) }

func aclNothing(*Tx, *Args) reply.Value { return reply.OK() }

// aclLog keeps nothing, so there is nothing to show or to reset.
func aclLog(_ *Tx, a *Args) reply.Value {
	switch {
	case a.Left() > 1:
		return a.errWords()
	case a.Word("RESET"):
		return reply.OK()
	case a.Left() > 0:
		a.Int()
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	return reply.Array()
}

// errWords is for subcommands that check the number of their words themselves.
func (a *Args) errWords() reply.Value {
	return a.badSubcommand()
}

func aclCat(tx *Tx, a *Args) reply.Value {
	switch a.Left() {
	case 0:
		return bulks(acl.CategoryNames())
	case 1:
		name := a.String()
		category := acl.CategoryNamed(name)
		if category == 0 {
			return reply.Error("ERR Unknown category '" + shown(name) + "'")
		}
		return bulks(tx.Table.Catalog().In(category))
	}
	return a.errWords()
}

// aclDryRun answers OK, or the error that the user would get, as a string.
func aclDryRun(tx *Tx, a *Args) reply.Value {
	name := a.String()
	argv := a.Rest()
	u := tx.Users.User(name)
	if u == nil {
		return reply.Error("ERR User '" + shown(name) + "' not found")
	}
	c := tx.Table.Find(argv)
	if c == nil || c.Since > tx.Level {
		return reply.Error("ERR Command '" + shown(string(argv[0])) + "' not found")
	}
	if !c.Takes(len(argv)) {
		return ErrArity(c.Name)
	}
	call := tx.call(c, argv)
	if refusal := tx.spendCheck(tx.Table.Row("acl dryrun"), u, call); refusal != nil {
		return *refusal
	}
	denied, what := u.Permit(call)
	switch text := "User " + u.Name + " has no permissions to "; denied {
	case acl.DeniedCommand:
		return reply.Bulk(text + "run the '" + outward(c.Name) + "' command")
	case acl.DeniedKey:
		return reply.Bulk(text + "access the '" + what + "' key")
	case acl.DeniedChannel:
		return reply.Bulk(text + "access the '" + what + "' channel")
	}
	return reply.OK()
}

func aclHelp(tx *Tx, _ *Args) reply.Value {
	lines := []string{"ACL <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"}
	for _, c := range tx.Table.Rows() {
		if syntax, ok := strings.CutPrefix(c.Syntax, "ACL "); ok {
			lines = append(lines, syntax, "    "+c.Summary)
		}
	}
	return statuses(slices.Clip(lines))
}

// statuses is a list of simple strings, as the HELP subcommands answer.
func statuses(list []string) reply.Value {
	values := make([]reply.Value, len(list))
	for i, s := range list {
		values[i] = reply.Status(s)
	}
	return reply.Array(values...)
}
