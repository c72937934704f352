package cli

import (
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trireme-dev/trireme/fsm/reply"
)

// tokenGroup are the commands about tokens and signing keys.
func tokenGroup() *cobra.Command {
	g := newGroup(ofDatabase, "tokens", "Create, list, revoke and rotate tokens and signing keys", "token")
	g.Long = g.Short + "\n\nA token is a password of a user, of which the cluster keeps the SHA-256 digest only. The admin token and the tokens of\n" +
		"messages are the cluster's: rotate replaces them while it runs."
	g.add(spec{
		view: watched, use: "list [USER]", short: "List the digests of the tokens and passwords of users", args: cobra.MaximumNArgs(1), complete: userNames,
		example: "tokens list\ntokens list app --output json",
		run:     (*session).listTokens,
	})
	g.add(spec{
		use: "create USER", short: "Create a token for a user and print it once", args: cobra.ExactArgs(1), complete: userNames,
		long: "Draws a random token and adds it to the user. Tokens that it has stay.", example: "tokens create app\ntokens create app --quiet",
		run: (*session).createToken,
	})
	var revoke, keys consent
	g.add(spec{
		use: "revoke USER DIGEST", short: "Revoke a token or password of a user by its digest or a prefix of it", args: cobra.ExactArgs(2), complete: userNames,
		example: "tokens revoke app 9f86d081 --yes", flags: revoke.flags,
		run: func(s *session) error { return s.revokeToken(&revoke) },
	})
	g.add(rotateSpec())
	g.add(spec{
		use: "signing-keys", short: "Show the keys that sign deliveries", example: "tokens signing-keys",
		run: func(s *session) error { return s.show(s.in("/v2/keys"), "current") },
	})
	g.add(spec{
		use: "rotate-signing-keys", short: "Make the next signing key the current one and generate a new next one", example: "tokens rotate-signing-keys --yes",
		long: "Receivers that know the current and the next key accept deliveries before and after.", flags: keys.flags,
		run: func(s *session) error {
			return keys.carry(s, act{"replace", "signing key", func() ([]string, error) { return []string{"current"}, nil }, func() error {
				var doc json.RawMessage
				if err := s.Call(s.ctx, "POST", s.in("/v2/keys/rotate"), nil, &doc); err != nil {
					return err
				}
				return s.record(doc, "current")
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
	_, err = s.listed(list, []column{{"USER", "user", nil, keep}, {"DIGEST", "digest", nil, named}})
	return err
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
	return s.record(map[string]string{"token": token, "user": name}, "token")
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
		return Usagef("%s has %d tokens whose digests begin with %s: give more of its digits", u.Name, len(found), s.args[1])
	}
	return c.carry(s, act{"revoke", "token", func() ([]string, error) { return found, nil }, func() error {
		if _, err := s.ask("ACL", "SETUSER", u.Name, "!"+found[0]); err != nil {
			return err
		}
		return s.say(digestView{u.Name, found[0]}, "revoked the token %s of %s", found[0], u.Name)
	}})
}
