package conformance

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
	"github.com/trireme-dev/trireme/httpapi/redis"
	"github.com/trireme-dev/trireme/node/pubsub"
)

// world is a served machine and a second one beside it that is fed the same without a
// entry point, and says what the entry point has to answer.
type world struct {
	served, beside *httpapitest.Engine
	url            string
	client         *http.Client
	now            int64
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{client: &http.Client{Transport: &http.Transport{}}, now: scripttest.Start}
	t.Cleanup(w.client.CloseIdleConnections)
	clock := func() int64 { return w.now }
	w.served, w.beside = httpapitest.NewStill(clock), httpapitest.NewStill(clock)
	for _, e := range []*httpapitest.Engine{w.served, w.beside} {
		limitScripts(t, e)
	}
	subscribers := pubsub.New(pubsub.Options{Log: w.served}) // of a node that never registers: both machines know none
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		subscribers.Close(ctx)
	})
	w.url = "http://" + httpapitest.Serve(t, httpapi.Options{Engine: w.served, Hub: subscribers, MaxRequestSize: httpapi.DefaultMaxRequestSize})
	return w
}

// limitScripts lowers the budget of scripts: the default lets each run for a second, and some steps never end.
func limitScripts(t *testing.T, e engine) {
	t.Helper()
	var limits fsm.Settings
	limits.SetWork(command.DefaultMaxWork, 2_000_000)
	if _, err := fsm.Do(context.Background(), e, fsm.Configure, limits); err != nil {
		t.Fatal(err)
	}
}

// engine is a machine with its log.
type engine interface {
	fsm.Proposer
	fsm.Reader
}

// direct runs rows without an entry point, as a node would.
func direct(t *testing.T, e engine, as acl.Identity, origin command.Origin, mode fsm.Mode, rows ...[][]byte) []reply.Value {
	t.Helper()
	reads, values := mode == fsm.Single, make([]reply.Value, len(rows))
	if reads {
		_, err := e.Read(context.Background(), fsm.Reading{}, func(v *fsm.View) {
			c, refusal := v.Check(as, origin, rows[0])
			if reads = refusal != nil || c.OnlyReads(rows[0]); reads {
				values[0] = v.Exec(as, origin, rows[0])
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if reads {
		return values
	}
	r, err := fsm.Do(context.Background(), e, fsm.Exec, fsm.Batch{As: as, Origin: origin, Mode: mode, Rows: rows})
	if errors.Is(err, fsm.ErrRevoked) { // the step of a user that isn't there
		return values
	} else if err != nil {
		t.Fatal(err)
	}
	return r.Values
}

// token is the credential of a step's user, empty if it has none.
func token(as acl.Identity) string {
	switch as {
	case acl.Trusted(acl.DefaultName):
		return httpapitest.Token
	case acl.Trusted(acl.ReadOnlyName):
		return httpapitest.ReadOnlyToken
	}
	return ""
}

// body is a command as JSON; it is not ok if JSON can't hold its words.
func body(argv [][]byte) (text string, ok bool) {
	words := make([]string, len(argv))
	for i, word := range argv {
		if !utf8.Valid(word) {
			return "", false
		}
		var b strings.Builder
		b.WriteByte('"')
		for _, r := range string(word) {
			switch {
			case r == '"' || r == '\\':
				b.WriteString("\\" + string(r))
			case r < ' ':
				b.WriteString("\\u00" + string("0123456789abcdef"[r>>4]) + string("0123456789abcdef"[r&15]))
			default:
				b.WriteRune(r)
			}
		}
		words[i] = b.String() + `"`
	}
	return "[" + strings.Join(words, ",") + "]", true
}

// post sends a request and returns the body of the answer.
func (w *world) post(t *testing.T, path, text, token string) string {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, w.url+path, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := w.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// single sends a step as one command, and returns what the machine beside says.
func (w *world) single(t *testing.T, where string, s *scripttest.Step) (v reply.Value, went bool) {
	t.Helper()
	text, _ := body(s.Argv)
	if !sendable(s) {
		direct(t, w.served, s.As, s.Origin, fsm.Single, s.Argv)
		direct(t, w.beside, s.As, s.Origin, fsm.Single, s.Argv)
		return v, false
	}
	v = direct(t, w.beside, s.As, command.OriginHTTP, fsm.Single, s.Argv)[0]
	if got, want := w.post(t, "/", text, token(s.As)), string(redis.AppendReply(nil, v, redis.JSON)); got != want {
		t.Errorf("%s:%s: %s\nHTTP: %s\nwant: %s", where, strconv.Itoa(s.Line), s.Text, got, want)
	}
	return v, true
}

// refusal sends a step that no transaction takes as the only one of a transaction, and gives
// the error, which stands alone: nothing has run.
func (w *world) refusal(t *testing.T, where string, s *scripttest.Step) reply.Value {
	t.Helper()
	text, _ := body(s.Argv)
	v := direct(t, w.beside, s.As, command.OriginHTTP, fsm.Transaction, s.Argv)[0]
	want := string(redis.AppendReply(nil, v, redis.JSON))
	if got := w.post(t, "/multi-exec", "["+text+"]", token(s.As)); got != want {
		t.Errorf("%s:%d: %s in a transaction\nHTTP: %s\nwant: %s", where, s.Line, s.Text, got, want)
	}
	return v
}

// transaction sends steps as one transaction, and returns what the machine beside says.
func (w *world) transaction(t *testing.T, where string, steps []*scripttest.Step) []reply.Value {
	t.Helper()
	rows, texts := make([][][]byte, len(steps)), make([]string, len(steps))
	for i, s := range steps {
		rows[i] = s.Argv
		texts[i], _ = body(s.Argv)
	}
	values := direct(t, w.beside, steps[0].As, command.OriginHTTP, fsm.Transaction, rows...)
	want := string(redis.AppendBatch(nil, values, redis.JSON))
	if got := w.post(t, "/multi-exec", "["+strings.Join(texts, ",")+"]", token(steps[0].As)); got != want {
		t.Errorf("%s:%d: a transaction of %d rows\nHTTP: %s\nwant: %s", where, steps[0].Line, len(steps), got, want)
	}
	return values
}
