package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/command"
)

const generated = "<!-- Written by cmd/commanddocs from the command table. Do not edit. -->\n\n"

// render returns the pages of the reference by file name.
func render(rows []*command.Command) map[string]string {
	families := map[string][]*command.Command{}
	var groups []string
	for _, c := range rows {
		if families[c.Group()] == nil {
			groups = append(groups, c.Group())
		}
		families[c.Group()] = append(families[c.Group()], c)
	}
	slices.Sort(groups)
	pages := map[string]string{"README.md": index(groups, families)}
	for _, g := range groups {
		slices.SortFunc(families[g], func(a, b *command.Command) int { return strings.Compare(a.Name, b.Name) })
		pages[g+".md"] = page(g, families[g])
	}
	return pages
}

func index(groups []string, families map[string][]*command.Command) string {
	var b strings.Builder
	b.WriteString(generated + "# Commands\n\n")
	b.WriteString("Every command is one row of the command table: what is here is what the server checks.\n\n")
	b.WriteString("| Family | Commands |\n| --- | --- |\n")
	for _, g := range groups {
		names := make([]string, len(families[g]))
		for i, c := range families[g] {
			names[i] = strings.ToUpper(c.Name)
		}
		slices.Sort(names)
		fmt.Fprintf(&b, "| [%s](%s.md) | %s |\n", families[g][0].Title(), g, strings.Join(names, ", "))
	}
	b.WriteString("\nThe words of each page:\n\n")
	b.WriteString("- **Arity** is the number of words, the name included; `at least n` where more may follow.\n")
	b.WriteString("- **Access** is `write` for what goes through the log, `read` for what is answered from a view.\n")
	b.WriteString("- **HTTP** and **Read Only** say whether the gateway takes the command, and whether the Read Only token may call it.\n")
	b.WriteString("- **Level** is the feature level that switched the command on, **Redis** the version of Redis that first had it.\n")
	return b.String()
}

func page(group string, rows []*command.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s# %s\n", generated, rows[0].Title())
	for _, c := range rows {
		fmt.Fprintf(&b, "\n## %s\n\n```\n%s\n```\n\n%s\n\n", strings.ToUpper(c.Name), c.Syntax, c.Summary)
		b.WriteString("| Arity | Access | HTTP | Read Only | Level | Redis | Complexity |\n| --- | --- | --- | --- | --- | --- | --- |\n")
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %d | %s | %s |\n", arity(c.Arity), access(c),
			yes(c.Flags&command.NoHTTP == 0), yes(c.Flags&command.ReadOnlyUser != 0), c.Since, c.Version, c.Complexity)
		if notes := notes(c); notes != "" {
			b.WriteString("\n" + notes)
		}
	}
	return b.String()
}

func arity(n int) string {
	if n < 0 {
		return fmt.Sprintf("at least %d", -n)
	}
	return fmt.Sprint(n)
}

func access(c *command.Command) string {
	switch {
	case c.Flags&command.Write != 0 && c.Flags&command.MayRead != 0:
		return "write or read, by its arguments"
	case c.Flags&command.Write != 0:
		return "write"
	case c.Flags&command.ReadOnly != 0:
		return "read"
	case c.Flags&command.Admin != 0:
		return "admin"
	}
	return "touches no data"
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// notes returns the flags that have no column in the table.
func notes(c *command.Command) string {
	var b strings.Builder
	for _, n := range []struct {
		flag command.Flags
		text string
	}{
		{command.DenyOOM, "Refused with `OOM` when the memory limit is reached."},
		{command.NoScript, "Not allowed in a script."},
		{command.NoMulti, "Not allowed in a transaction."},
		{command.Blocking, "Waits only when called directly; in a transaction or a script it answers null when there is nothing to take."},
	} {
		if c.Flags&n.flag != 0 {
			b.WriteString(n.text + "\n")
		}
	}
	return b.String()
}
