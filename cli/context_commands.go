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
	Current  bool `json:"current"`
	HasToken bool `json:"hasToken"`
}

// contextGroup are the commands about named contexts. They ask no node.
func contextGroup() *cobra.Command {
	g := newGroup(ofDatabase, "context", "Name clusters to ask: URL, token, certificate authority, database")
	g.Long = g.Short + "\n\nContexts are in a file that only its owner can read: " + contextsVariable + ", or trireme/contexts.yaml in the folder of\n" +
		"settings. A command takes --url, else --context or " + contextVariable + ", else " + urlVariable + ", else the current context. The token\n" +
		"of a context is sent to its own URL only."
	use := false
	g.add(spec{
		use: "add NAME", short: "Add or replace a context", local: true, args: cobra.ExactArgs(1),
		long: "Adds a context with the --url, --ca, --database and token given here. The token is that of --token-file or --token, or\n" +
			"of " + tokenVariable + "; without any, commands take it from that variable. The first context is the current one.",
		example: "context add prod --url https://trireme.example:8080 --token-file token.txt --use\ncontext add local --url http://127.0.0.1:8080",
		flags:   func(f *pflag.FlagSet) { f.BoolVar(&use, "use", false, "make it the current context") },
		run:     func(s *session) error { return s.addContext(use) },
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
		use: "list", short: "List the contexts", local: true,
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

func (s *session) addContext(use bool) error {
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
	if n.Token, _, err = s.findToken(nil); err != nil {
		return err
	}
	if n.CA != "" {
		if _, err := loadCA(n.CA); err != nil {
			return err
		}
	}
	return changeContexts(func(all *contexts) error {
		all.put(n)
		if use {
			all.Current = n.Name
		}
		return s.say(view(all, n), "the context %s asks %s", n.Name, n.URL)
	})
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
	return contextView{n, n.Name == all.Current, n.Token != ""}
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
	_, err = s.table(views, []column{
		{"NAME", "name", nil}, {"CURRENT", "current", nil}, {"URL", "url", nil}, {"DATABASE", "database", nil}, {"TOKEN", "hasToken", nil}, {"CA", "ca", nil},
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
