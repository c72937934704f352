package httpapi_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// lines is a log that is written and read by different goroutines.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// take is what was logged since the last call.
func (l *lines) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.b.Reset()
	return l.b.String()
}

func logged(t *testing.T, level slog.Level) (*gateway, *lines) {
	log := &lines{}
	g := newGateway(t, func(o *httpapi.Options) {
		o.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: level}))
	})
	return g, log
}

func TestFailuresAreLoggedWithTheirID(t *testing.T) {
	g, log := logged(t, slog.LevelInfo)
	g.ask(t, "GET", "/set/k/v", "")
	g.ask(t, "GET", "/nosuch", "")
	g.settle(t)
	if out := log.take(); out != "" {
		t.Errorf("requests in order are logged at info: %s", out)
	}
	g.engine.FailWrites(fsm.ErrUnknown, true)
	a := g.ask(t, "GET", "/set/k/v", "", "X-Request-Id: mine-17")
	g.settle(t)
	if out := log.take(); a.header.Get("X-Request-Id") != "mine-17" || !strings.Contains(out, "id=mine-17") || !strings.Contains(out, "status=503") || !strings.Contains(out, "command=set") {
		t.Errorf("%v, log: %s", a.header, out)
	}
	a = g.ask(t, "GET", "/set/k/v", "")
	id := a.header.Get("X-Request-Id")
	g.settle(t)
	if out := log.take(); id == "" || !strings.Contains(out, "id="+id) {
		t.Errorf("%v, log: %s", a.header, out)
	}
}

// settle returns when earlier requests of the connection have been logged: the next one
// on it begins after that.
func (g *gateway) settle(t *testing.T) {
	t.Helper()
	for range 2 {
		g.ask(t, "GET", "/livez", "")
	}
}

func TestRequestIDs(t *testing.T) {
	g := newGateway(t)
	for given, back := range map[string]string{"abc-123": "abc-123", "": "", strings.Repeat("x", 128): strings.Repeat("x", 128), strings.Repeat("x", 129): "", "a b": "", "é": ""} {
		if a := g.ask(t, "GET", "/ping", "", "X-Request-Id: "+given); a.header.Get("X-Request-Id") != back {
			t.Errorf("%q came back as %q", given, a.header.Get("X-Request-Id"))
		}
	}
}

// Neither tokens nor keys and values may reach a log, at any level.
func TestLogsHoldNoSecrets(t *testing.T) {
	g, log := logged(t, slog.LevelDebug)
	g.ask(t, "GET", "/set/secret-key/secret-value?_token="+httpapitest.Token, "", "Authorization:")
	g.ask(t, "POST", "/", `["SET","secret-key","secret-value"]`)
	g.ask(t, "POST", "/?_token=secret-wrong", `["SET","secret-key","secret-value"]`)
	g.ask(t, "POST", "/pipeline", `[["secret-command"],["SET","secret-key","secret-value"]]`)
	g.engine.FailWrites(fmt.Errorf("a failure"), true)
	g.ask(t, "POST", "/set/secret-key?_token="+httpapitest.Token, "secret-value")
	g.ask(t, "GET", "/admin/cluster?_token="+httpapitest.AdminToken, "")
	g.settle(t)
	out := log.take()
	if strings.Count(out, "http request") < 6 {
		t.Errorf("requests are missing: %s", out)
	}
	for _, secret := range []string{"secret", httpapitest.Token, httpapitest.AdminToken} {
		if strings.Contains(out, secret) {
			t.Errorf("%s stands in the log:\n%s", secret, out)
		}
	}
}
