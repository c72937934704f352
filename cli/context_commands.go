package cli

import (
	"bufio"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// contextView is a context without its token.
type contextView struct {
	namedContext
	Current   bool   `json:"current"`
	HasToken  bool   `json:"hasToken"`
	TokenFrom string `json:"tokenFrom,omitempty"` // of one that was just stored
}

// contextGroup are the commands about named contexts. They ask no node.
func contextGroup() *cobra.Command {
	g := newGroup(ofDatabase, "context", "Name clusters to ask: URL, token, certificate authority, database")
	g.Long = g.Short + "\n\nContexts are in a file that only its owner can read: " + contextsVariable + ", or trireme/contexts.yaml in the folder of\n" +
		"settings. A command takes --url, else --context or " + contextVariable + ", else " + urlVariable + ", else the current context. The token\n" +
		"of a context is sent to its own URL only."
	var adding contextChoice
	g.add(spec{
		use: "add NAME", short: "Add or replace a context", local: true, args: cobra.ExactArgs(1),
		long: "Adds a context with the --url, --ca, --database and token given here, and says which token it stores, and where. The token is\n" +
			"that of --token-file or --token, or of " + tokenVariable + ". One of the variable is asked about on a terminal, unless --yes is\n" +
			"given; elsewhere it is stored, and the command says so. --no-token stores none: commands then take that of the variable.\n" +
			"The first context is the current one.",
		example: "context add prod --url https://trireme.example:8080 --token-file token.txt --use\ncontext add local --url http://127.0.0.1:8080",
		flags:   adding.flags,
		run:     func(s *session) error { return s.addContext(&adding) },
	})
	g.add(spec{
		use: "use NAME", short: "Make a context the current one", local: true, args: cobra.ExactArgs(1),
		example: "context use prod",
		run: func(s *session) error {
			return changeContexts(func(all *contexts) error {
				if _, err := all.find(s.args[0]); err != nil {
					return err
				}
				all.Current = s.args[0]
				return s.say(map[string]string{"current": s.args[0]}, "the current context is %s", s.args[0])
			})
		},
	}).ValidArgsFunction = localNames
	g.add(spec{
		view: watched, use: "list", short: "List the contexts", local: true,
		example: "context list\ncontext list --output json",
		run:     (*session).listContexts,
	})
	var c consent
	g.add(spec{
		use: "remove NAME", short: "Remove a context with its token", local: true, args: cobra.ExactArgs(1),
		example: "context remove staging --yes",
		flags:   c.flags,
		run:     func(s *session) error { return s.removeContext(&c) },
	}).ValidArgsFunction = localNames
	return g.Command
}

func localNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return contextNames(nil), cobra.ShellCompDirectiveNoFileComp
}

// changeContexts changes the file.
func changeContexts(change func(*contexts) error) error {
	all, path, err := loadContexts()
	if err != nil {
		return err
	}
	if err := change(all); err != nil {
		return err
	}
	return all.save(path)
}

// A contextChoice holds the flags of context add.
type contextChoice struct{ use, yes, noToken bool }

func (c *contextChoice) flags(f *pflag.FlagSet) {
	f.BoolVar(&c.use, "use", false, "make it the current context")
	f.BoolVarP(&c.yes, "yes", "y", false, "store the token of "+tokenVariable+" without asking")
	f.BoolVar(&c.noToken, "no-token", false, "store no token: commands take that of "+tokenVariable)
}

func (s *session) addContext(c *contextChoice) error {
	n := namedContext{Name: s.args[0], URL: s.Connection.url, CA: s.Connection.ca, Database: s.Connection.database}
	if !contextName.MatchString(n.Name) {
		return Usagef("%q is not a valid name of a context: use up to 64 letters, digits, dots, hyphens and underscores", n.Name)
	}
	if n.URL == "" {
		n.URL = first(os.Getenv(urlVariable), DefaultURL)
	}
	var err error
	if n.URL, err = checkURL(n.URL); err != nil {
		return err
	}
	from := ""
	if n.Token, from, err = s.tokenToKeep(c, n.Name); err != nil {
		return err
	}
	if n.CA != "" {
		if _, err := loadCA(n.CA); err != nil {
			return err
		}
	}
	return changeContexts(func(all *contexts) error {
		all.put(n)
		if c.use {
			all.Current = n.Name
		}
		added := view(all, n)
		if n.Token == "" {
			return s.say(added, "the context %s asks %s; it stores no token: commands take that of %s", n.Name, n.URL, tokenVariable)
		}
		added.TokenFrom = from
		return s.say(added, "the context %s asks %s with the token of %s, which is now in %s, a file that only you can read", n.Name, n.URL, from, contextsPath())
	})
}

// tokenToKeep returns the token that a new context stores, and where it is from; none if the user wants that. A flag has told which one;
// one that happens to be in a variable is asked about.
func (s *session) tokenToKeep(c *contextChoice, name string) (token, from string, err error) {
	token, from, err = s.findToken(nil)
	switch {
	case err != nil || token == "":
		return "", "", err
	case c.noToken && from != tokenVariable:
		return "", "", Usagef("both --no-token and a token are given: give one of them")
	case c.noToken:
		return "", "", nil
	case from != tokenVariable || c.yes || !IsTerminal(s.cmd.InOrStdin()):
		return token, from, nil
	}
	if agreed(s.cmd, "store the token of "+tokenVariable+" in "+contextsPath()+", for the context "+name+"?") != nil {
		return "", "", nil
	}
	return token, from, nil
}

// readToken reads a token from a file or, for -, from standard input: one line.
func readToken(path string) (string, error) {
	in := io.Reader(os.Stdin)
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return "", Usagef("can't read the file of --token-file: %w", err)
		}
		defer f.Close()
		in = f
	}
	line, err := bufio.NewReader(io.LimitReader(in, 1<<16)).ReadString('\n')
	if token := strings.TrimSpace(line); token != "" {
		return token, nil
	}
	if err != nil && err != io.EOF {
		return "", Usagef("can't read the file of --token-file: %w", err)
	}
	return "", Usagef("the file of --token-file (%s) is empty", path)
}

func view(all *contexts, n namedContext) contextView {
	return contextView{namedContext: n, Current: n.Name == all.Current, HasToken: n.Token != ""}
}

func (s *session) listContexts() error {
	all, _, err := loadContexts()
	if err != nil {
		return err
	}
	views := []contextView{}
	for _, n := range all.Contexts {
		views = append(views, view(all, n))
	}
	_, err = s.listed(views, []column{
		{"NAME", "name", nil, named}, {"CURRENT", "current", nil, keep}, {"URL", "url", nil, keep}, {"DATABASE", "database", nil, keep}, {"TOKEN", "hasToken", nil, keep}, {"CA", "ca", nil, keep},
	})
	return err
}

func (s *session) removeContext(c *consent) error {
	all, path, err := loadContexts()
	if err != nil {
		return err
	}
	name := s.args[0]
	if _, err := all.find(name); err != nil {
		return err
	}
	return c.carry(s, act{"remove", "context", func() ([]string, error) { return s.args, nil }, func() error {
		all.remove(name)
		if err := all.save(path); err != nil {
			return err
		}
		return s.say(map[string]string{"removed": name}, "removed the context %s", name)
	}})
}
