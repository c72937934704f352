package cli

import (
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// DefaultURL is the address of trireme dev's HTTP API.
const DefaultURL = "http://127.0.0.1:8080"

// The variables of the connection.
const (
	urlVariable     = "TRIREME_URL"
	tokenVariable   = "TRIREME_ADMIN_TOKEN"
	contextVariable = "TRIREME_CONTEXT"
	caVariable      = "TRIREME_CA"
)

// defaultTimeout covers a leadership transfer, the slowest of what is asked without a timeout of its own.
const defaultTimeout = 15 * time.Second

// A Connection is the flags that say which node is asked, and with which token.
type Connection struct {
	url, token, tokenFile, context, ca, database string
	timeout                                      time.Duration
}

// addressFlags declares the flags that say which node is asked.
func (c *Connection) addressFlags(f *pflag.FlagSet) {
	f.StringVar(&c.url, "url", "", "`URL` of a node (default: "+urlVariable+", the current context, "+DefaultURL+")")
	f.StringVar(&c.context, "context", "", "`NAME` of the context to use (default: "+contextVariable+", or the current one)")
	f.StringVar(&c.ca, "ca", "", "certificate authority `FILE` that signed the node's certificate (default: "+caVariable+", or the system's)")
}

// Flags declares the flags of the connection, all but the one of the database.
func (c *Connection) Flags(f *pflag.FlagSet) {
	c.addressFlags(f)
	f.StringVar(&c.token, "token", "", "`TOKEN` to send; a file, a variable or a context keeps it out of the shell's history (default: "+tokenVariable+", or that of the context)")
	f.StringVar(&c.tokenFile, "token-file", "", "`FILE` with the token; - = standard input")
	f.DurationVar(&c.timeout, "request-timeout", defaultTimeout, "how long one request may take")
}

// target is a node to ask.
type target struct {
	url, token, ca, database string
	tokenFrom                string // what to change if it is refused
}

// resolve finds the node and its token. A flag wins over --context, that over the variables, and those over the
// current context. The token of a context is sent to the URL of that context only.
func (c *Connection) resolve() (t target, err error) {
	named, err := c.named()
	if err != nil {
		return t, err
	}
	t.database, t.ca = c.database, first(c.ca, os.Getenv(caVariable))
	switch {
	case c.url != "":
		t.url = c.url
	case named != nil:
		t.url, t.ca, t.database = named.URL, first(t.ca, named.CA), first(c.database, named.Database)
	default:
		t.url = first(os.Getenv(urlVariable), DefaultURL)
	}
	if t.url, err = checkURL(t.url); err != nil {
		return t, err
	}
	t.token, t.tokenFrom, err = c.findToken(named)
	return t, err
}

// named is the context that counts, nil without one.
func (c *Connection) named() (*namedContext, error) {
	name := first(c.context, os.Getenv(contextVariable))
	if name == "" && (c.url != "" || os.Getenv(urlVariable) != "") || c.context == "" && c.url != "" {
		return nil, nil
	}
	all, _, err := loadContexts()
	if err != nil {
		return nil, err
	}
	if name = first(name, all.Current); name == "" {
		return nil, nil
	}
	return all.find(name)
}

func (c *Connection) findToken(named *namedContext) (token, from string, err error) {
	if c.token != "" && c.tokenFile != "" {
		return "", "", Usagef("both --token and --token-file are given: give one of them")
	}
	if c.token != "" {
		return c.token, "--token", nil
	}
	if c.tokenFile != "" {
		token, err = readToken(c.tokenFile)
		return token, "the file of --token-file", err
	}
	if named != nil && named.Token != "" && (c.url == "" || c.url == named.URL) {
		return named.Token, "the context " + named.Name, nil
	}
	token, err = secretVariable(tokenVariable)
	return token, tokenVariable, err
}

// secretVariable is the value of a variable, or the first line of the file that the variable with _FILE names.
func secretVariable(name string) (string, error) {
	value, path := os.Getenv(name), os.Getenv(name+"_FILE")
	if value != "" || path == "" {
		return value, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", Usagef("can't read the file of %s_FILE: %w", name, err)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	return strings.TrimSpace(line), nil
}

func checkURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return "", Usagef("the URL must look like %s, got %q", DefaultURL, text)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", Usagef("the URL of a node has a scheme, a host, a port and a path at most: give the token by --token")
	}
	return strings.TrimRight(text, "/"), nil
}

// first is the first text that is not empty.
func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
