package cli

import (
	"bufio"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/trireme-dev/trireme/internal/plural"
)

// consent are the flags of a command that can't be taken back.
type consent struct{ yes, dryRun bool }

func (c *consent) flags(f *pflag.FlagSet) {
	f.BoolVarP(&c.yes, "yes", "y", false, "skip the confirmation")
	f.BoolVar(&c.dryRun, "dry-run", false, "print what would be affected and how many, and change nothing")
}

// A choice holds the flags that say what a destructive command is about.
type choice struct {
	filters
	consent
	all bool
}

func (c *choice) flags(f *pflag.FlagSet, everything string, lists ...[]filter) {
	c.filters.flags(f, lists...)
	f.BoolVar(&c.all, "all", false, everything)
	c.consent.flags(f)
}

// selection returns the API's parameters for ids, filters or --all, which exclude one another.
func (s *session) selection(c *choice) (url.Values, error) {
	query, err := c.query(time.Now())
	switch {
	case err != nil:
		return nil, err
	case len(s.args) > 0 && (len(query) > 0 || c.all):
		return nil, Usagef("give either ids, filters or --all")
	case len(query) > 0 && c.all:
		return nil, Usagef("--all selects everything: give either --all or filters")
	case len(s.args) == 0 && len(query) == 0 && !c.all:
		return nil, Usagef("give ids, filters, or --all for everything")
	}
	return query, nil
}

// found returns the names of what the arguments or a query select; an unknown argument is an error.
func (s *session) found(l *listing, query url.Values) ([]string, error) {
	if len(s.args) > 0 {
		return s.args, s.known(s.in(l.path + "/"))
	}
	items, err := s.every(l, query)
	return texts(items, l.id), err
}

// known fails if an argument names nothing below a path.
func (s *session) known(path string) error {
	for _, id := range s.args {
		if _, err := s.get(path + escape(id)); err != nil {
			return err
		}
	}
	return nil
}

// An act is something destructive.
type act struct {
	verb, noun string // "delete", "queue"
	// find are the names of what it is about. It is asked for --dry-run and before a question, so that both know what
	// and how much; an unknown name is an error.
	find func() ([]string, error)
	// do it, and say so.
	do func() error
}

// plan is the output of --dry-run for programs.
type plan struct {
	DryRun bool     `json:"dryRun"`
	Action string   `json:"action"`
	Kind   string   `json:"kind"`
	Count  int      `json:"count"`
	Names  []string `json:"names"`
}

// carry out an act, unless it is to be shown only, or the user says no.
func (c *consent) carry(s *session, a act) error {
	if c.yes && !c.dryRun {
		return a.do()
	}
	names, err := a.find()
	if err != nil {
		return err
	}
	if c.dryRun {
		return a.plan(s, names)
	}
	if len(names) == 0 {
		return s.say(plan{false, a.verb, a.noun, 0, []string{}}, "no %s to %s", a.noun, a.verb)
	}
	question := fmt.Sprintf("%s %s?", a.verb, a.what(names))
	if !IsTerminal(s.cmd.InOrStdin()) {
		return Usagef("%s Give --yes: there is no terminal to ask at", question)
	}
	if err := agreed(s.cmd, question); err != nil {
		return err
	}
	return a.do()
}

// agreed asks a question; every answer but yes is an error.
func agreed(cmd *cobra.Command, question string) error {
	fmt.Fprintf(cmd.ErrOrStderr(), "%s [y/N] ", question)
	line, _ := bufio.NewReader(cmd.InOrStdin()).ReadString('\n') // an end is a no
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	return errorf(ExitFailed, "nothing was done: the answer was no")
}

func (a act) plan(s *session, names []string) error {
	if names == nil {
		names = []string{}
	}
	doc, err := encode(plan{true, a.verb, a.noun, len(names), names})
	if err != nil {
		return err
	}
	out := s.cmd.OutOrStdout()
	if done, err := s.structured(out, doc); done {
		return err
	}
	items := make([]any, len(names))
	for i, name := range names {
		items[i] = map[string]any{"name": name}
	}
	if s.format == asCSV {
		return writeCSV(out, items, []column{{"NAME", "name", nil, named}}, true)
	}
	if err := s.names(out, items, column{member: "name"}); err != nil {
		return err
	}
	s.note("would %s %s; nothing was done", a.verb, plural.Of(len(names), a.noun))
	return nil
}

// what names one thing, and counts several.
func (a act) what(names []string) string {
	if len(names) == 1 {
		return a.noun + " " + printable(names[0])
	}
	return plural.Of(len(names), a.noun)
}

// named is a find for one thing that has an address.
func (s *session) named(path string, names ...string) func() ([]string, error) {
	return func() ([]string, error) {
		_, err := s.get(path)
		return names, err
	}
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
