package cli

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trireme-dev/trireme/fsm/reply"
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
		use: "list", short: "List the users with their rules", example: "users list\nusers list --database shop --output json",
		run: func(s *session) error {
			all, err := s.users()
			if err != nil {
				return err
			}
			doc, err := encode(all)
			if err != nil {
				return err
			}
			items, err := listOf(doc)
			if err != nil {
				return err
			}
			return s.rows(s.cmd.OutOrStdout(), doc, items, []column{
				{"USER", "name", nil}, {"ENABLED", "enabled", nil}, {"TOKENS", "tokens", length}, {"RULES", "rules", nil},
			})
		},
	})
	g.add(spec{
		use: "get NAME", short: "Show a user", args: cobra.ExactArgs(1), complete: userNames, example: "users get app",
		run: func(s *session) error {
			u, err := s.user(s.args[0])
			if err != nil {
				return err
			}
			doc, err := encode(u)
			if err != nil {
				return err
			}
			return s.fields(s.cmd.OutOrStdout(), doc, "name")
		},
	})
	g.add(spec{
		use: "set NAME RULE…", short: "Create a user, or change its rules", args: cobra.MinimumNArgs(2), complete: userNames,
		long: "Applies rules of ACL SETUSER in their order: on, off, ~PATTERN, &PATTERN, +COMMAND, -COMMAND, +@CATEGORY, reset and so on.\n" +
			"tokens create gives the user a token, which keeps it out of the shell's history.",
		example: "users set app on '~app:*' +@read +@write -@dangerous\nusers set app off",
		run: func(s *session) error {
			if _, err := s.ask(append([]string{"ACL", "SETUSER"}, s.args...)...); err != nil {
				return err
			}
			u, err := s.user(s.args[0])
			if err != nil {
				return err
			}
			return s.say(u, "the user %s: %s", u.Name, u.Rules)
		},
	})
	g.Commands()[len(g.Commands())-1].Flags().SetInterspersed(false) // rules may begin with a hyphen
	var c consent
	g.add(spec{
		use: "delete NAME", short: "Delete a user; its tokens are void and its connections end", args: cobra.ExactArgs(1), complete: userNames,
		example: "users delete app --yes", flags: c.flags,
		run: func(s *session) error {
			if _, err := s.user(s.args[0]); err != nil {
				return err
			}
			return c.carry(s, act{"delete", "user", func() ([]string, error) { return s.args, nil }, func() error {
				if _, err := s.ask("ACL", "DELUSER", s.args[0]); err != nil {
					return err
				}
				return s.say(map[string]string{"user": s.args[0], "result": "deleted"}, "deleted the user %s", s.args[0])
			}})
		},
	})
	return g.Command
}

// length is the number of elements of a list.
func length(v any) string {
	list, _ := v.([]any)
	n, _ := encode(len(list)) // a number
	return string(n)
}

func userNames(s *session) []string {
	all, _ := s.users() // without an answer there are none
	var names []string
	for _, u := range all {
		names = append(names, u.Name)
	}
	return names
}

// users are all users of the database.
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

// tokenGroup are the commands about tokens and signing keys.
func tokenGroup() *cobra.Command {
	g := newGroup(ofDatabase, "tokens", "Create, list, revoke and rotate tokens and signing keys", "token")
	g.Long = g.Short + "\n\nA token is a password of a user, of which the cluster keeps the SHA-256 digest only. The admin token and the tokens of\n" +
		"messages are settings of the nodes: see docs/operations.md."
	g.add(spec{
		use: "list [USER]", short: "List the digests of the tokens and passwords of users", args: cobra.MaximumNArgs(1), complete: userNames,
		example: "tokens list\ntokens list app --output json",
		run:     (*session).listTokens,
	})
	g.add(spec{
		use: "create USER", short: "Create a token of a user and print it, once", args: cobra.ExactArgs(1), complete: userNames,
		long: "Draws a random token and adds it to the user. Tokens that it has stay.", example: "tokens create app\ntokens create app --quiet",
		run: (*session).createToken,
	})
	var revoke, rotate, keys consent
	g.add(spec{
		use: "revoke USER DIGEST", short: "Revoke a token or password of a user by its digest, or the beginning of one", args: cobra.ExactArgs(2), complete: userNames,
		example: "tokens revoke app 9f86d081 --yes", flags: revoke.flags,
		run: func(s *session) error { return s.revokeToken(&revoke) },
	})
	g.add(spec{
		use: "rotate [DATABASE]", short: "Replace both tokens of a database and print the new ones, once", args: cobra.MaximumNArgs(1), complete: databaseNames,
		long: "The old ones are void at once. Without a name it is the database of --database or of the context.", example: "tokens rotate shop --yes\ntokens rotate --yes --output json",
		flags: rotate.flags,
		run: func(s *session) error {
			name := first(s.Client.database, "default")
			if len(s.args) > 0 {
				name = s.args[0]
			}
			return s.resetTokens(&rotate, name)
		},
	})
	g.add(spec{
		use: "signing-keys", short: "Show the keys that sign deliveries", example: "tokens signing-keys",
		run: func(s *session) error { return s.show(s.in("/v2/keys"), "current") },
	})
	g.add(spec{
		use: "rotate-signing-keys", short: "Make the next signing key the current one, and draw another", example: "tokens rotate-signing-keys --yes",
		long: "Receivers that know the current and the next key accept deliveries before and after.", flags: keys.flags,
		run: func(s *session) error {
			return keys.carry(s, act{"replace", "signing key", func() ([]string, error) { return []string{"current"}, nil }, func() error {
				text, err := s.send(s.ctx, request{method: "POST", path: s.in("/v2/keys/rotate")})
				if err != nil {
					return err
				}
				return s.fields(s.cmd.OutOrStdout(), text, "current")
			}})
		},
	})
	return g.Command
}

type digestView struct {
	User   string `json:"user"`
	Digest string `json:"digest"`
}

func (s *session) listTokens() error {
	all, err := s.users()
	if err != nil {
		return err
	}
	if len(s.args) > 0 {
		u, err := s.user(s.args[0])
		if err != nil {
			return err
		}
		all = []user{u}
	}
	list := []digestView{}
	for _, u := range all {
		for _, d := range u.Tokens {
			list = append(list, digestView{u.Name, d})
		}
	}
	doc, err := json.Marshal(list)
	if err != nil {
		return err
	}
	items, err := listOf(doc)
	if err != nil {
		return err
	}
	return s.rows(s.cmd.OutOrStdout(), doc, items, []column{{"USER", "user", nil}, {"DIGEST", "digest", nil}})
}

func (s *session) createToken() error {
	name := s.args[0]
	if _, err := s.user(name); err != nil {
		return err
	}
	v, err := s.ask("ACL", "GENTOKEN", name)
	if err != nil {
		return err
	}
	token := tokenOf(v)
	if token == "" {
		return s.noNode()
	}
	if _, err := s.ask("ACL", "SETUSER", name, ">"+token); err != nil {
		return err
	}
	doc, err := encode(map[string]string{"token": token, "user": name})
	if err != nil {
		return err
	}
	return s.fields(s.cmd.OutOrStdout(), doc, "token")
}

// tokenOf is the text of a reply, or of its first element.
func tokenOf(v reply.Value) string {
	if elems := v.Elems(); v.Kind() == reply.KindArray && len(elems) > 0 {
		return elems[len(elems)-1].Text()
	}
	return v.Text()
}

func (s *session) revokeToken(c *consent) error {
	u, err := s.user(s.args[0])
	if err != nil {
		return err
	}
	var found []string
	for _, d := range u.Tokens {
		if strings.HasPrefix(d, strings.ToLower(s.args[1])) {
			found = append(found, d)
		}
	}
	switch {
	case len(found) == 0:
		return errorf(ExitUnknown, "%s has no token with the digest %s: tokens list shows them", u.Name, s.args[1])
	case len(found) > 1:
		return usagef("%s has %d tokens whose digests begin with %s: give more of it", u.Name, len(found), s.args[1])
	}
	return c.carry(s, act{"revoke", "token", func() ([]string, error) { return found, nil }, func() error {
		if _, err := s.ask("ACL", "SETUSER", u.Name, "!"+found[0]); err != nil {
			return err
		}
		return s.say(digestView{u.Name, found[0]}, "revoked the token %s of %s", found[0], u.Name)
	}})
}
