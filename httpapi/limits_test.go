package httpapi_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
	"github.com/trireme-dev/trireme/internal/testgate"
)

// errorText returns the text of an error that has that status.
func errorText(t *testing.T, a answer, status int) string {
	t.Helper()
	var envelope struct{ Error string }
	if err := json.Unmarshal([]byte(a.body), &envelope); err != nil || a.status != status || a.header.Get("Svc-Outcome") != "not-applied" {
		t.Errorf("%+v: %v", a, err)
	}
	return envelope.Error
}

// configure sets the replicated limits of a gateway's engine.
func (g *gateway) configure(t *testing.T, s fsm.Settings) {
	t.Helper()
	if _, err := fsm.Do(t.Context(), g.engine, fsm.Configure, s); err != nil {
		t.Fatal(err)
	}
}

func TestKeySizeIsLimited(t *testing.T) {
	g := newGateway(t)
	long := strings.Repeat("k", 11)
	g.ask(t, "GET", "/set/"+long+"/old", "")
	g.configure(t, fsm.Settings{Limits: command.Limits{MaxKey: 10}})
	const want = "ERR max key size exceeded. Limit: 10 bytes, Actual: 11 bytes. Setting: max-key-size"
	for _, target := range []string{"/set/" + long + "/v", "/mset/a/b/" + long + "/c", "/incr/" + long, "/rename/a/" + long, "/copy/a/" + long} {
		if got := errorText(t, g.ask(t, "GET", target, ""), 400); got != want {
			t.Errorf("%s: %s", target, got)
		}
	}
	if got := errorText(t, g.ask(t, "POST", "/multi-exec", `[["SET","a","b"],["SET","`+long+`","c"]]`), 400); got != want {
		t.Errorf("transaction: %s", got)
	}
	for _, c := range [][2]string{
		{"/get/a", `{"result":null}`}, {"/set/" + long[:10] + "/" + long, `{"result":"OK"}`}, {"/get/" + long, `{"result":"old"}`}, {"/del/" + long, `{"result":1}`},
	} {
		if a := g.ask(t, "GET", c[0], ""); a.body != c[1] {
			t.Errorf("%s: %+v", c[0], a)
		}
	}
}

func TestPendingEntriesAreLimited(t *testing.T) {
	g := newGateway(t)
	g.configure(t, fsm.Settings{Limits: command.Limits{MaxPending: 3}})
	for i := range 5 {
		g.expect(t, "GET", fmt.Sprintf("/xadd/s/1-%d/f/v", i+1), "", httpapitest.Token, 200, fmt.Sprintf(`{"result":"1-%d"}`, i+1))
	}
	for _, c := range []struct {
		words, want string
		status      int
	}{
		{`"XGROUP","CREATE","s","g","0"`, `{"result":"OK"}`, 200},
		{`"XREADGROUP","GROUP","g","c","STREAMS","s",">"`, `{"error":"ERR XReadGroup is cancelled. Pending Entries List limit per consumer is about to be reached. Limit: 3, Current PEL size: 0, Requested Read: 5, Key: s, Group: g, Consumer: c. Setting: max-pending"}`, 400},
		{`"XREADGROUP","GROUP","g","c","COUNT",2,"STREAMS","s",">"`, `{"result":[["s",[["1-1",["f","v"]],["1-2",["f","v"]]]]]}`, 200},
		{`"XREADGROUP","GROUP","g","c","COUNT",2,"STREAMS","s",">"`, `{"error":"ERR XReadGroup is cancelled. Pending Entries List limit per consumer is about to be reached. Limit: 3, Current PEL size: 2, Requested Read: 2, Key: s, Group: g, Consumer: c. Setting: max-pending"}`, 400},
		{`"XREADGROUP","GROUP","g","c","COUNT",9,"STREAMS","s","0"`, `{"result":[["s",[["1-1",["f","v"]],["1-2",["f","v"]]]]]}`, 200}, // its own again
		{`"XACK","s","g","1-1"`, `{"result":1}`, 200},
		{`"XREADGROUP","GROUP","g","c","COUNT",2,"STREAMS","s",">"`, `{"result":[["s",[["1-3",["f","v"]],["1-4",["f","v"]]]]]}`, 200},
		{`"XREADGROUP","GROUP","g","other","STREAMS","s",">"`, `{"result":[["s",[["1-5",["f","v"]]]]]}`, 200}, // each consumer by itself
		{`"XREADGROUP","GROUP","g","c","STREAMS","s",">"`, `{"result":null}`, 200},                            // nothing is read
		{`"XGROUP","SETID","s","g","0"`, `{"result":"OK"}`, 200},
		{`"XREADGROUP","GROUP","g","c","NOACK","COUNT",1,"STREAMS","s",">"`, `{"result":[["s",[["1-1",["f","v"]]]]]}`, 200}, // nothing becomes pending
	} {
		g.expect(t, "POST", "/", "["+c.words+"]", httpapitest.Token, c.status, c.want)
	}
}

func TestRecordSizeIsLimited(t *testing.T) {
	g := newGateway(t)
	g.configure(t, fsm.Settings{Limits: command.Limits{MaxRecord: 1000}})
	const prefix = "ERR max single record size exceeded. Limit: 1000 bytes, Actual: "
	grown := 0
	for ; grown < 100; grown++ {
		a := g.ask(t, "POST", "/append/k", strings.Repeat("x", 100))
		if a.status != 200 {
			if got := errorText(t, a, 400); !strings.HasPrefix(got, prefix) || !strings.HasSuffix(got, " bytes. Setting: max-record-size") {
				t.Error(got)
			}
			break
		}
	}
	if grown != 9 && grown != 10 {
		t.Errorf("the value grew %d times", grown)
	}
	for _, words := range []string{`"SETRANGE","z",2000,"x"`, `"SET","z","` + strings.Repeat("x", 1001) + `"`, `"APPEND","k","` + strings.Repeat("x", 200) + `"`} {
		if got := errorText(t, g.ask(t, "POST", "/", "["+words+"]"), 400); !strings.HasPrefix(got, prefix) {
			t.Errorf("%.40s: %s", words, got)
		}
		if got := errorText(t, g.ask(t, "POST", "/multi-exec", `[["SET","other","v"],[`+words+`]]`), 400); !strings.HasPrefix(got, prefix) {
			t.Errorf("%.40s in a transaction: %s", words, got)
		}
	}
	if a := g.ask(t, "GET", "/exists/other", ""); a.body != `{"result":0}` {
		t.Errorf("a discarded transaction wrote: %+v", a)
	}
	if a := g.ask(t, "POST", "/set/k", strings.Repeat("y", 900)); a.status != 200 {
		t.Errorf("replacing the value: %+v", a)
	}
}

func TestRowsAreLimited(t *testing.T) {
	g := newGateway(t, func(o *httpapi.Options) { o.MaxRows = 3 })
	rows := `["SET","k","v"],["PING"],["PING"]`
	for _, target := range []string{"/pipeline", "/multi-exec"} {
		if a := g.ask(t, "POST", target, `[["PING"],["PING"],["PING"]]`); a.status != 200 {
			t.Errorf("%s: %+v", target, a)
		}
		got := errorText(t, g.ask(t, "POST", target, "["+rows+`,["PING"]]`), 400)
		if got != "ERR max commands of a batch exceeded. Limit: 3, Actual: more than 3. Setting: max-rows" {
			t.Errorf("%s: %s", target, got)
		}
	}
	if a := g.ask(t, "GET", "/exists/k", ""); a.body != `{"result":0}` {
		t.Errorf("%+v", a)
	}
}

// dial opens a connection and sends that.
func (g *gateway) dial(t *testing.T, text string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", g.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c
}

func readAnswer(t *testing.T, c net.Conn) answer {
	t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	return read(t, res, err)
}

func TestConnectionsAreLimited(t *testing.T) {
	for _, c := range []struct {
		limits httpapi.Limits
		text   string
	}{
		{httpapi.Limits{Connections: 3}, "ERR max connections exceeded. Limit: 3, Actual: 4. Setting: max-connections"},
		{httpapi.Limits{ConnectionsPerIP: 3}, "ERR max connections of one address exceeded. Limit: 3, Actual: 4. Setting: max-connections-per-ip"},
	} {
		g := newGateway(t, func(o *httpapi.Options) { o.Limits = c.limits })
		ping := "GET /ping" + rawHead + "\r\n"
		var open []net.Conn
		for range 3 {
			open = append(open, g.dial(t, ping))
			if a := readAnswer(t, open[len(open)-1]); a.status != 200 {
				t.Fatalf("%+v", a)
			}
		}
		refused := g.dial(t, ping)
		a := readAnswer(t, refused)
		if got := errorText(t, a, 503); got != c.text || a.header.Get("Retry-After") == "" {
			t.Errorf("%+v", a)
		}
		if _, err := refused.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("the refused connection stays open: %v", err)
		}
		open[0].Close()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			again := g.dial(t, ping)
			if readAnswer(t, again).status == 200 {
				break
			}
			if again.Close(); time.Now().After(deadline) {
				t.Fatal("no room although a connection was closed")
			}
		}
	}
}

func TestRequestsInFlightAreLimited(t *testing.T) {
	g := newGateway(t, func(o *httpapi.Options) { o.Limits = httpapi.Limits{InFlight: 2} })
	// Reads that have begun wait until the test lets them go on.
	leave := testgate.New(t)
	g.engine.BeforeRead(leave.Wait)
	answers := make(chan answer, 2)
	for i := range 2 {
		go func() { answers <- g.ask(t, "GET", "/ping", "") }()
		leave.Reached(i + 1)
	}
	const want = "ERR max requests in flight exceeded. Limit: 2, Actual: 3. Setting: max-in-flight"
	if got := errorText(t, g.ask(t, "GET", "/ping", ""), 503); got != want {
		t.Error(got)
	}
	go func() { answers <- g.ask(t, "GET", "/ping", "", "Authorization: Bearer "+httpapitest.ReadOnlyToken) }()
	leave.Reached(3) // another token's is let in
	leave.Open()
	for range 3 {
		if a := testgate.Receive(t, "an answer", answers); a.status != 200 {
			t.Errorf("%+v", a)
		}
	}
	if a := g.ask(t, "GET", "/ping", ""); a.status != 200 {
		t.Errorf("afterwards: %+v", a)
	}
}

// Clients that send or read too slowly are cut off, and only they.
func TestSlowClientsAreCutOff(t *testing.T) {
	short := httpapi.Limits{HeaderTime: 100 * time.Millisecond, BodyTime: 200 * time.Millisecond, ReplyTime: 300 * time.Millisecond}
	g := newGateway(t, func(o *httpapi.Options) { o.Limits, o.MaxRequestSize = short, 40<<20 })
	header := g.dial(t, "GET /ping HTTP/1.1\r\nHost:")
	if got, err := io.ReadAll(header); err != nil || len(got) > 0 && !strings.HasPrefix(string(got), "HTTP/1.1 408") {
		t.Errorf("slow header: %q %v", got, err)
	}
	body := g.dial(t, "POST /set/k"+rawHead+"Content-Length: 10\r\n\r\nhalf")
	if got := errorText(t, readAnswer(t, body), 400); got != "ERR max body time exceeded. Limit: 200ms, Actual: 4 bytes have arrived by then. Setting: body-timeout" {
		t.Error(got)
	}
	if a := g.ask(t, "GET", "/exists/k", ""); a.body != `{"result":0}` {
		t.Errorf("half a body was written: %+v", a)
	}
	large := fsm.Batch{As: acl.Trusted(acl.DefaultName), Rows: [][][]byte{{[]byte("SET"), []byte("large"), bytes.Repeat([]byte("x"), 20<<20)}}}
	if _, err := fsm.Do(t.Context(), g.engine, fsm.Exec, large); err != nil { // not by way of the short times
		t.Fatal(err)
	}
	reader := g.dial(t, "GET /get/large"+rawHead+"\r\n")
	if _, err := io.ReadFull(reader, make([]byte, 1)); err != nil { // the reply has begun
		t.Fatal(err)
	}
	time.Sleep(2 * short.ReplyTime) // the slow client's own time: it reads nothing meanwhile
	if n, err := io.Copy(io.Discard, reader); n >= 20<<20 || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the slow reader got %d bytes of %d, %v, want less and the end of the connection", n, 20<<20, err)
	}
	if a := g.ask(t, "GET", "/ping", ""); a.status != 200 {
		t.Errorf("%+v", a)
	}
}

func TestLimitsAreChecked(t *testing.T) {
	good := httpapi.Limits{HeaderBytes: 4096, HeaderTime: 1, BodyTime: 1, ReplyTime: 1}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for i, change := range []func(*httpapi.Limits){
		func(l *httpapi.Limits) { l.Connections = -1 }, func(l *httpapi.Limits) { l.ConnectionsPerIP = -2 }, func(l *httpapi.Limits) { l.InFlight = -1 },
		func(l *httpapi.Limits) { l.HeaderBytes = 100 }, func(l *httpapi.Limits) { l.BodyTime = 0 },
	} {
		bad := good
		if change(&bad); bad.Check() == nil {
			t.Error(fmt.Sprint(i), "is taken")
		}
	}
}

// A head above the limit is told which limit, also on a connection that net/http has
// taken over.
func TestLargeHeadsAreToldTheLimit(t *testing.T) {
	g := newGateway(t)
	large := "GET /ping HTTP/1.1\r\nHost: x\r\nX-A: " + strings.Repeat("a", 200_000) + "\r\n\r\n"
	for _, before := range []string{"", "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"} {
		a := attack{bytes: before + large}
		statuses, body, err := a.send(g.addr)
		if err != nil || !strings.HasSuffix(statuses, "431") || body != `{"error":"ERR max header size exceeded. Limit: 65536 bytes, Actual: more than that. Setting: max-header-size"}` {
			t.Errorf("%q %q %v", statuses, body, err)
		}
	}
}

// Beyond the memory limit writes that grow are refused with the figures; reads and
// deletions go on.
func TestMemoryIsLimited(t *testing.T) {
	g := newGateway(t)
	g.expect(t, "GET", "/set/k/v", "", httpapitest.Token, 200, `{"result":"OK"}`)
	if _, err := fsm.Do(context.Background(), g.engine, fsm.Configure, fsm.Settings{MaxMemory: 1}); err != nil {
		t.Fatal(err)
	}
	g.expect(t, "GET", "/set/k/w", "", httpapitest.Token, 400, `{"error":"ERR DB capacity quota exceeded. Limit: 1 bytes, Actual: `)
	g.expect(t, "GET", "/get/k", "", httpapitest.Token, 200, `{"result":"v"}`)
	g.expect(t, "GET", "/del/k", "", httpapitest.Token, 200, `{"result":1}`)
}
