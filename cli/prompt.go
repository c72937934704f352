package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/internal/plural"
)

// prompt reads commands from the terminal until its end.
func (r *redis) prompt() error {
	in := r.cmd.InOrStdin().(*os.File) // a terminal
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return fmt.Errorf("set up the terminal: %w", err)
	}
	restore := func() { _ = term.Restore(int(in.Fd()), before) } // nothing more can be done
	defer restore()
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{in, os.Stdout}, "")
	t.AutoCompleteCallback = r.completion(t)
	fmt.Fprintf(t, "%s: help lists commands, tab completes, quit ends\n", r.Client.url)
	for {
		if w, h, err := term.GetSize(int(in.Fd())); err == nil {
			_ = t.SetSize(w, h) // it has another size then
		}
		t.SetPrompt(r.sign())
		line, err := t.ReadLine()
		if errors.Is(err, io.EOF) { // also an interrupt
			return nil
		}
		if err != nil {
			return err
		}
		words, err := splitWords(line)
		if err != nil {
			fmt.Fprintf(t, "%s\n", err)
			continue
		}
		if len(words) == 0 {
			continue
		}
		switch strings.ToLower(words[0]) {
		case "quit", "exit":
			return nil
		case "help", "?":
			fmt.Fprint(t, r.help(words[1:]))
			continue
		}
		restore() // replies are printed, and interrupted, as everywhere else
		if err := r.step(words, os.Stdout); err != nil && ExitCode(err) != ExitFailed {
			fmt.Printf("(error) %s\n", err)
		}
		if r.ctx.Err() != nil {
			return nil
		}
		if _, err = term.MakeRaw(int(in.Fd())); err != nil {
			return fmt.Errorf("set up the terminal: %w", err)
		}
	}
}

// sign is the text in front of a line.
func (r *redis) sign() string {
	name := first(r.Client.database, "default")
	if r.queued != nil {
		name += " (" + plural.Of(len(r.queued), "command") + ")"
	}
	return name + "> "
}

// completion completes names of commands: as far as they agree, and lists them where they don't.
func (r *redis) completion(out io.Writer) func(string, int, rune) (string, int, bool) {
	return func(line string, pos int, key rune) (string, int, bool) {
		if key != '\t' || pos != len(line) {
			return "", 0, false
		}
		names := commandNames(line, 0)
		if len(names) == 0 {
			return line, pos, true
		}
		common := names[0]
		for _, n := range names {
			for !strings.HasPrefix(n, common) {
				common = common[:len(common)-1]
			}
		}
		if len(names) == 1 {
			common += " "
		} else if len(common) <= len(line) {
			fmt.Fprintln(out, strings.Join(names, "  "))
			return line, pos, true
		}
		return common, len(common), true
	}
}

// commandNames are the names of commands that begin with a line, in capitals; of each without its first words.
func commandNames(line string, words int) []string {
	var all []string
	for _, row := range command.NewTable().Rows() {
		name := strings.ToUpper(row.Name)
		if rest := strings.Fields(name); strings.HasPrefix(name, strings.ToUpper(line)) && len(rest) > words {
			all = append(all, strings.Join(rest[words:], " "))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// help is a page of all families, or of a command and its subcommands.
func (r *redis) help(words []string) string {
	var b strings.Builder
	if len(words) == 0 {
		families, order := map[string][]string{}, []string{}
		for _, row := range r.table.Rows() {
			if families[row.Title()] == nil {
				order = append(order, row.Title())
			}
			families[row.Title()] = append(families[row.Title()], strings.ToUpper(row.Name))
		}
		for _, title := range order {
			fmt.Fprintf(&b, "%s: %s\n", title, strings.Join(families[title], ", "))
		}
		b.WriteString("help COMMAND shows its syntax. MULTI collects commands until EXEC or DISCARD.\n")
		return b.String()
	}
	name := strings.ToLower(strings.Join(words, " "))
	for _, row := range r.table.Rows() {
		if row.Name == name || strings.HasPrefix(row.Name, name+" ") {
			fmt.Fprintf(&b, "%s\n  %s\n", printable(syntaxOf(row)), printable(row.Summary))
		}
	}
	if b.Len() == 0 {
		fmt.Fprintf(&b, "there is no command %q; help lists all\n", name)
	}
	return b.String()
}

// syntaxOf is the syntax of a command, with its name.
func syntaxOf(row *command.Command) string {
	name := strings.ToUpper(row.Name)
	if strings.HasPrefix(strings.ToUpper(row.Syntax), name) {
		return row.Syntax
	}
	return strings.TrimSpace(name + " " + row.Syntax)
}
