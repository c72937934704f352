package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// AddHints makes every command below root answer a mistyped subcommand or flag with the names that are nearest to it. It takes the
// completed tree: commands that are added later have no hints for subcommands.
func AddHints(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	hintSubcommands(root)
	for _, cmd := range root.Commands() {
		if cmd.Name() == "help" {
			cmd.Run, cmd.RunE = nil, helpTopic
		}
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return Usagef("%w%s", err, flagHint(cmd, err)) })
}

// helpTopic prints the help of a command. Cobra's own prints that of the program, and ends well, if there is no such command.
func helpTopic(cmd *cobra.Command, args []string) error {
	at := cmd.Root()
	for _, word := range args {
		i := slices.IndexFunc(at.Commands(), func(c *cobra.Command) bool { return c.Name() == word || c.HasAlias(word) })
		if i < 0 {
			return unknownCommand(at, word)
		}
		at = at.Commands()[i]
	}
	at.InitDefaultHelpFlag()
	return at.Help()
}

func hintSubcommands(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		hintSubcommands(sub)
	}
	if check := cmd.Args; cmd.HasSubCommands() && check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			switch err := check(cmd, args); {
			case len(args) == 0:
				return err
			case err != nil:
				return unknownCommand(cmd, args[0])
			case !strings.ContainsAny(args[0], "./_:") && len(nearest(args[0], subcommands(cmd))) > 0: // it also takes a name of something
				return Usagef("%w (write ./%s for what has that name)", unknownCommand(cmd, args[0]), args[0])
			}
			return nil
		}
		if !cmd.Runnable() { // cobra would print help and report success
			cmd.RunE = requireSubcommand
		}
	}
}

// subcommands are the names of those that users see.
func subcommands(parent *cobra.Command) (names []string) {
	for _, sub := range parent.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			names = append(append(names, sub.Name()), sub.Aliases...)
		}
	}
	return names
}

func unknownCommand(parent *cobra.Command, word string) error {
	return Usagef("unknown command %q of %s%s", word, parent.CommandPath(), orHelp(didYouMean("", nearest(word, subcommands(parent))), parent))
}

// flagHint returns the text to put after a complaint about a flag: it names the flags that were probably meant.
func flagHint(cmd *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return ""
	}
	word := unknown.GetSpecifiedName()
	if short := unknown.GetSpecifiedShortnames(); len(short) > 1 { // -name for --name
		word, _, _ = strings.Cut(short, "=")
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Deprecated == "" {
			names = append(names, f.Name)
		}
	})
	return orHelp(didYouMean("--", nearest(word, names)), cmd)
}

// orHelp is a hint, or, where no name is near, where all of them are listed.
func orHelp(hint string, cmd *cobra.Command) string {
	if hint != "" {
		return hint
	}
	return ": " + cmd.CommandPath() + " --help lists all"
}

// didYouMean is the hint at some names, empty without any.
func didYouMean(prefix string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ": did you mean " + prefix + strings.Join(names, " or "+prefix) + "?"
}

// maxHints is the most names of a hint.
const maxHints = 3

// nearest returns the names that a mistyped word was probably meant to be, by the least number of typing mistakes; without any
// those that begin with the word.
func nearest(word string, names []string) []string {
	word = strings.ToLower(word)
	least, found := max(1, (len(word)+1)/3), []string(nil)
	for _, name := range names {
		switch d := typos(word, strings.ToLower(name)); {
		case d < least:
			least, found = d, []string{name}
		case d == least && d < len(name):
			found = append(found, name)
		}
	}
	if len(found) == 0 && len(word) > 1 {
		for _, name := range names {
			if strings.HasPrefix(strings.ToLower(name), word) {
				found = append(found, name)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)[:min(len(slices.Compact(found)), maxHints)]
}

// typos is the number of letters to insert, to delete or to replace, and of neighbours to swap, that make b of a.
func typos(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, now := rows[(i-1)%3], rows[i%3], rows[(i+1)%3]
		now[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
	}
	return rows[(len(a)+1)%3][len(b)]
}
