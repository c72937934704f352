package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/cli"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/internal/plural"
)

// credentials are the tokens of a cluster. An empty one opens nothing.
type credentials struct {
	Standard         string `json:"token"`
	ReadOnly         string `json:"readonlyToken"`
	Messages         string `json:"messagesToken,omitempty"`
	MessagesReadOnly string `json:"messagesReadonlyToken,omitempty"`
	Admin            string `json:"adminToken"`
}

// credential is one token, the variable that sets it and the role it authenticates.
type credential struct {
	variable string
	role     acl.Role
	token    *string
	// draw makes one up for a cluster without it.
	draw func() string
}

func (c *credentials) list() []credential {
	return []credential{
		{"TRIREME_TOKEN", acl.Standard, &c.Standard, httpapi.NewToken},
		{"TRIREME_READONLY_TOKEN", acl.ReadOnly, &c.ReadOnly, httpapi.NewToken},
		{"TRIREME_ADMIN_TOKEN", acl.Admin, &c.Admin, httpapi.NewToken},
		{"TRIREME_MESSAGES_TOKEN", acl.Messages, &c.Messages, httpapi.NewMessagesToken},
		{"TRIREME_MESSAGES_READONLY_TOKEN", acl.MessagesReadOnly, &c.MessagesReadOnly, httpapi.NewMessagesToken},
	}
}

// givenCredentials returns the tokens that the operator sets. read looks one up by its variable.
func givenCredentials(read func(variable string) (string, error)) (credentials, error) {
	var c credentials
	for _, one := range c.list() {
		value, err := read(one.variable)
		if err != nil {
			return c, err
		}
		*one.token = value
	}
	return c, c.check()
}

// check refuses two roles with one token: the narrower one would win.
func (c *credentials) check() error {
	owner := map[string]string{}
	for _, one := range c.list() {
		if *one.token == "" {
			continue
		}
		if other, taken := owner[*one.token]; taken {
			return cli.Usagef("%s and %s must be different tokens", other, one.variable)
		}
		owner[*one.token] = one.variable
	}
	return nil
}

// complete draws what is missing and names the variables of what it drew.
func (c *credentials) complete() (drawn []credential) {
	for _, one := range c.list() {
		if *one.token == "" {
			*one.token = one.draw()
			drawn = append(drawn, one)
		}
	}
	return drawn
}

// refuseShort refuses tokens for a new cluster that can be found by trying.
func (c *credentials) refuseShort() error {
	for _, one := range c.list() {
		if n := len(*one.token); n > 0 && n < httpapi.MinToken {
			return cli.Usagef("%s has %s: the tokens of a new cluster have at least %d, such as `head -c 32 /dev/urandom | base64` prints; without it one is generated", one.variable, plural.Of(n, "byte"), httpapi.MinToken)
		}
	}
	return nil
}

// warn logs what an operator should know of the tokens that are given at a start: those that are
// short, and those that are not the cluster's, because it keeps the ones of its first start.
func (c *credentials) warn(log *slog.Logger, v *fsm.View) {
	given := c.digests()
	for _, one := range c.list() {
		until, former := v.Former(one.role, given[one.role])
		switch {
		case *one.token == "":
		case former:
			log.Warn("this token was rotated: set the new one before the former one ends", "variable", one.variable, "former_until", time.UnixMilli(until).UTC().Format(time.RFC3339))
		case !v.Holds(one.role, given[one.role]):
			log.Warn("this token is not the cluster's: the one of its first start, or of the last reset, rotation or restore, is in force; set that one, or leave it out", "variable", one.variable)
		case len(*one.token) < httpapi.MinToken:
			log.Warn("this token is short enough to be guessed: choose one of at least 16 bytes, such as `head -c 32 /dev/urandom | base64`", "variable", one.variable)
		}
	}
}

// devMessagesToken is the public token by which clients in their development mode know a
// server for development. It protects nothing.
const devMessagesToken = "eyJVc2VySUQiOiJkZWZhdWx0VXNlciIsIlBhc3N3b3JkIjoiZGVmYXVsdFBhc3N3b3JkIn0="

// environ returns this process's environment with these tokens in place of all variables of
// Trireme, so that a child has no settings but those of its file.
func (c *credentials) environ() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, envPrefix) })
	for _, one := range c.list() {
		if *one.token != "" {
			env = append(env, one.variable+"="+*one.token)
		}
	}
	return env
}

// digests returns the salted digests of the tokens, in which form the log keeps them.
func (c *credentials) digests() acl.Tokens {
	var t acl.Tokens
	for _, one := range c.list() {
		if *one.token != "" {
			t[one.role] = acl.DigestOf(*one.token)
		}
	}
	return t
}

// override replaces the tokens by those that other has.
func (c *credentials) override(other credentials) {
	overrides := other.list()
	for i, one := range c.list() {
		if *overrides[i].token != "" {
			*one.token = *overrides[i].token
		}
	}
}

// devCredentialsFile holds the tokens that dev has generated, in its data directory.
const devCredentialsFile = "dev-credentials.json"

// devCredentials returns the tokens kept in dir, which the first start generates. Tokens of the
// environment replace them and are not kept.
func devCredentials(dir string, read func(variable string) (string, error)) (credentials, error) {
	given, err := givenCredentials(read)
	if err != nil {
		return given, err
	}
	kept, err := readCredentials(filepath.Join(dir, devCredentialsFile))
	if err != nil {
		return kept, err
	}
	if kept.Messages == "" {
		kept.Messages = devMessagesToken
	}
	if drawn := kept.complete(); len(drawn) > 0 {
		if err := writeCredentials(filepath.Join(dir, devCredentialsFile), kept); err != nil {
			return kept, err
		}
	}
	kept.override(given)
	return kept, kept.check()
}

func readCredentials(path string) (c credentials, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return c, fmt.Errorf("%s is damaged (%w): delete it to generate new tokens", path, err)
	}
	return c, nil
}

// writeCredentials replaces the file in one step, readable by its owner only.
func writeCredentials(path string, c credentials) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	temporary := path + ".new"
	if err := os.WriteFile(temporary, append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}
