package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// user is a user of a database, as ACL LIST writes it.
type user struct {
	Name    string   `json:"name"`
	Enabled bool     `json:"enabled"`
	Tokens  []string `json:"tokens"` // digests of passwords and tokens
	Rules   string   `json:"rules"`
}

func userGroup() *cobra.Command {
	g := newGroup(ofDatabase, "users", "List the users of a database, set their rules and delete them", "user")
	g.add(spec{
		view: watched, use: "list", short: "List the users with their rules", example: "users list\nusers list --database shop --output json",
		run: (*session).listUsers,
	})
	g.add(spec{
		view: watched, use: "get NAME", short: "Show a user", args: cobra.ExactArgs(1), complete: userNames, example: "users get app",
		run: (*session).showUser,
	})
	g.add(spec{
		use: "set NAME RULE…", short: "Create a user, or change its rules", args: cobra.MinimumNArgs(2), complete: userNames,
		long: "Applies rules of ACL SETUSER in their order: on, off, ~PATTERN, &PATTERN, +COMMAND, -COMMAND, +@CATEGORY, reset and so on.\n" +
			"tokens create gives the user a token, which keeps it out of the shell's history.",
		example: "users set app on '~app:*' +@read +@write -@dangerous\nusers set app off",
		run:     (*session).setUser,
	})
	g.Commands()[len(g.Commands())-1].Flags().SetInterspersed(false) // rules may begin with a hyphen
	var c consent
	g.add(spec{
		use: "delete NAME", short: "Delete a user, invalidate its tokens and close its connections", args: cobra.ExactArgs(1), complete: userNames,
		example: "users delete app --yes", flags: c.flags,
		run: func(s *session) error { return s.deleteUser(&c) },
	})
	return g.Command
}

func (s *session) listUsers() error {
	all, err := s.users()
	if err != nil {
		return err
	}
	_, err = s.listed(all, []column{
		{"USER", "name", nil, named}, {"ENABLED", "enabled", nil, keep}, {"TOKENS", "tokens", length, keep}, {"RULES", "rules", nil, keep},
	})
	return err
}

func (s *session) showUser() error {
	u, err := s.user(s.args[0])
	if err != nil {
		return err
	}
	return s.record(u, "name")
}

func (s *session) setUser() error {
	if _, err := s.ask(append([]string{"ACL", "SETUSER"}, s.args...)...); err != nil {
		return err
	}
	u, err := s.user(s.args[0])
	if err != nil {
		return err
	}
	return s.say(u, "the user %s: %s", u.Name, u.Rules)
}

func (s *session) deleteUser(c *consent) error {
	if _, err := s.user(s.args[0]); err != nil {
		return err
	}
	return c.carry(s, act{"delete", "user", func() ([]string, error) { return s.args, nil }, func() error {
		if _, err := s.ask("ACL", "DELUSER", s.args[0]); err != nil {
			return err
		}
		return s.say(map[string]string{"user": s.args[0], "result": "deleted"}, "deleted the user %s", s.args[0])
	}})
}

func userNames(s *session) []string {
	all, _ := s.users() // without an answer there are none
	var names []string
	for _, u := range all {
		names = append(names, u.Name)
	}
	return names
}

// users returns all users of the database.
func (s *session) users() ([]user, error) {
	v, err := s.ask("ACL", "LIST")
	if err != nil {
		return nil, err
	}
	all := []user{}
	for _, line := range v.Elems() {
		all = append(all, readUser(line.Text()))
	}
	return all, nil
}

// readUser reads a line of ACL LIST: the word user, the name, and rules.
func readUser(line string) user {
	words := strings.Fields(line)
	u := user{Tokens: []string{}}
	if len(words) < 2 {
		return u
	}
	u.Name, words = words[1], words[2:]
	u.Enabled = slices.Contains(words, "on")
	for _, w := range words {
		if digest, ok := strings.CutPrefix(w, "#"); ok {
			u.Tokens = append(u.Tokens, digest)
		}
	}
	u.Rules = strings.Join(slices.DeleteFunc(words, func(w string) bool { return strings.HasPrefix(w, "#") }), " ")
	return u
}

func (s *session) user(name string) (user, error) {
	all, err := s.users()
	if err != nil {
		return user{}, err
	}
	for _, u := range all {
		if u.Name == name {
			return u, nil
		}
	}
	return user{}, errorf(ExitUnknown, "there is no user %q: users list shows them", name)
}
