package main

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/trireme-dev/trireme/cli"
	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/console"
)

// consoleSettings holds the flags of the console.
type consoleSettings struct {
	Mode   string
	Listen string
	Base   string
	SignOn signOnSettings
}

// linkVariable holds the key of a link that signs in once, for a node that local-cluster starts.
const linkVariable = envPrefix + "CONSOLE_LINK"

// The values of --console; off is that of --resp.
const on = "on"

func consoleFlags(f *pflag.FlagSet, s *consoleSettings) {
	f.StringVar(&s.Mode, "console", on, "on or off: serve the console under /console of the HTTP API")
	f.StringVar(&s.Listen, "console-listen", "", "serve the console on this `ADDR` only, instead of that of the HTTP API")
	f.StringVar(&s.Base, "console-base-path", console.DefaultBase, "`PATH` at which browsers see the console, where a proxy changes it")
	signOnFlags(f, &s.SignOn)
}

func (s *consoleSettings) check() error {
	switch {
	case s.Mode != on && s.Mode != off:
		return cli.Usagef("--console must be on or off, got %s", s.Mode)
	case s.Mode == off && s.SignOn.Issuer != "":
		return cli.Usagef("--oidc-issuer signs in to the console, which --console=off disables")
	case !strings.HasPrefix(s.Base, "/") || strings.Trim(s.Base, "/") == "" || strings.ContainsAny(s.Base, " ?#%\\\"<>"):
		return cli.Usagef("--console-base-path must be a path such as /console, got %s", s.Base)
	}
	return nil
}

// consoleOptions returns nil if the console is off.
func (pr *process) consoleOptions() (*console.Options, error) {
	if err := pr.Console.check(); err != nil {
		return nil, err
	}
	if pr.Console.Mode == off {
		return nil, nil
	}
	if !console.Available() {
		if pr.Console.SignOn.Issuer != "" {
			return nil, cli.Usagef("--oidc-issuer: this build has no console (build tag noconsole)")
		}
		pr.log.Debug("this build has no console")
		return nil, nil
	}
	o := &console.Options{Base: pr.Console.Base, Apart: pr.Console.Listen != ""}
	switch d, is := pr.profile.(*devNode); {
	case is:
		o.Link = d.login.open
	case os.Getenv(linkVariable) != "" && loopback(pr.HTTP):
		o.Link = (&login{token: os.Getenv("TRIREME_ADMIN_TOKEN"), key: os.Getenv(linkVariable)}).open
	}
	var err error
	o.Provider, o.SignOn, err = pr.signOn()
	return o, err
}

// serveConsole opens the console's own listener, if it has one; stop closes it.
func (pr *process) serveConsole() (stop func(), err error) {
	handler := pr.server.Console()
	if handler == nil || pr.Console.Listen == "" {
		return func() {}, nil
	}
	if pr.loopbackOnly() && !loopback(pr.Console.Listen) {
		return nil, cli.Usagef("--console-listen %s is not on loopback: dev serves this machine only, serve serves others", pr.Console.Listen)
	}
	config, err := pr.certificate(pr.log)
	if err != nil {
		return nil, err
	}
	listener, err := bind(pr.Console.Listen)
	if err != nil {
		return nil, bindError("console-listen", err)
	}
	if config != nil {
		listener = tls.NewListener(listener, config)
	}
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: pr.Limits.HeaderTime, ReadTimeout: pr.Limits.BodyTime, WriteTimeout: pr.Limits.ReplyTime,
		MaxHeaderBytes: pr.Limits.HeaderBytes,
	}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			pr.log.Error("the console is not served any more", "error", err)
		}
	}()
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if server.Shutdown(ctx) != nil { // streams don't end by themselves
			_ = server.Close() // the process ends anyway
		}
	}, nil
}

// login holds the key of a link that signs a browser in once.
type login struct {
	token string
	mu    sync.Mutex
	key   string // empty once it was used
}

func newLogin(token string) *login {
	var b [18]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return &login{token: token, key: base64.RawURLEncoding.EncodeToString(b[:])}
}

// open returns the token for the key at its first use.
func (l *login) open(key string) (token string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.key == "" || subtle.ConstantTimeCompare([]byte(key), []byte(l.key)) != 1 {
		return "", false
	}
	l.key = ""
	return l.token, true
}

// respClients are the connections of this node's RESP listener, as the HTTP API shows them.
type respClients struct{ n *process }

func (rc respClients) List() []httpapi.Client {
	if rc.n.resp == nil {
		return nil
	}
	var list []httpapi.Client
	for _, c := range rc.n.resp.Connections() {
		list = append(list, httpapi.Client{
			ID: c.ID, Addr: c.Addr, Name: c.Name, Database: c.Database, User: c.User, Command: c.LastCall,
			AgeSeconds: int64(c.Age / time.Second), IdleSeconds: int64(c.Idle / time.Second),
		})
	}
	return list
}

func (rc respClients) Kill(id uint64) bool { return rc.n.resp != nil && rc.n.resp.CloseConnection(id) }
