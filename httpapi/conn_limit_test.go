package httpapi_test

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// trickle sends a text byte by byte, again and again, until the connection is closed; false if
// it never is.
func trickle(t *testing.T, c net.Conn, text string) (closed bool) {
	t.Helper()
	ended := make(chan bool)
	go func() { _, _ = io.Copy(io.Discard, c); close(ended) }() // ends with the connection
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for i := range 400 {
		select {
		case <-ended:
			return true
		case <-tick.C:
		}
		if _, err := c.Write([]byte{text[i%len(text)]}); err != nil {
			return true
		}
	}
	return false
}

// Bytes that come don't renew the limits of a header and of a body, on the fast path and off
// it, on the first request of a connection and on a later one.
func TestTricklingClientsAreCutOff(t *testing.T) {
	short := httpapi.Limits{HeaderTime: 300 * time.Millisecond, BodyTime: 400 * time.Millisecond, ReplyTime: time.Minute}
	g := newGateway(t, func(o *httpapi.Options) { o.Limits = short })
	for name, begin := range map[string]string{ // unordered: each by itself
		"nothing yet":         "",
		"header":              "GET /ping HTTP/1.1\r\nHost: h\r\nX-A: ",
		"header of net/http":  "OPTIONS /ping HTTP/1.1\r\nHost: h\r\nTE: trailers\r\nX-A: ",
		"body":                "POST /set/k" + rawHead + "Content-Length: 100000\r\n\r\n",
		"body of net/http":    "POST /set/k" + rawHead + "Expect: 100-continue\r\nContent-Length: 100000\r\n\r\n",
		"body in chunks":      "POST /set/k" + rawHead + "Transfer-Encoding: chunked\r\n\r\n10000\r\n",
		"body without token":  "POST /set/k HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n",
		"body of messages":    mailRequest("POST", to, "")[:len(mailRequest("POST", to, ""))-len("Content-Length: 0\r\n\r\n")] + "Content-Length: 100000\r\n\r\n",
		"later header":        "GET /ping" + rawHead + "\r\nGET /ping HTTP/1.1\r\nHost: h\r\nX-A: ",
		"later body":          "GET /ping" + rawHead + "\r\nPOST /set/k" + rawHead + "Content-Length: 100000\r\n\r\n",
		"later of net/http":   "OPTIONS /livez HTTP/1.1\r\nHost: h\r\n\r\nGET /ping HTTP/1.1\r\nHost: h\r\nX-A: ",
		"after the fast path": "GET /ping" + rawHead + "\r\nGET /ping HTTP/1.0\r\nHost: h\r\nX-A: ",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !trickle(t, g.dial(t, begin), "a") {
				t.Error("the connection stays open")
			}
		})
	}
}

// A full table closes connections that have shown no valid token, and refuses new ones at once if all have shown one.
// The operator gets in from the machine itself and by the admin token.
func TestFullTable(t *testing.T) {
	g := newGateway(t, func(o *httpapi.Options) { o.Limits = httpapi.Limits{Connections: 2, Reserve: 1} })
	ping := "GET /ping" + rawHead + "\r\n"
	var silent []net.Conn
	for _, text := range []string{"", "GET /ping HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer wrong\r\n\r\n"} {
		c := g.dial(t, text)
		if text != "" && readAnswer(t, c).status != 401 {
			t.Fatal("a wrong token opens something")
		}
		silent = append(silent, c)
	}
	for range 3 { // one of them in the reserve for loopback
		if a := readAnswer(t, g.dial(t, ping)); a.status != 200 {
			t.Fatalf("%+v", a)
		}
	}
	for _, c := range silent {
		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Error("a connection without a login keeps its place")
		} else if n, ok := err.(net.Error); ok && n.Timeout() {
			t.Error("a connection without a login keeps its place")
		}
	}
	for _, text := range []string{ping, "GET /ping HTTP/1.1\r\nHost: h\r\n\r\n", "nonsense\r\n\r\n"} {
		if a := readAnswer(t, g.dial(t, text)); a.status != 503 || a.header.Get("Retry-After") == "" {
			t.Errorf("%+v", a)
		}
	}
	admin := "GET /ping HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " + httpapitest.AdminToken + "\r\n\r\n"
	c := g.dial(t, admin)
	first := readAnswer(t, c)
	if first.status == 503 {
		t.Fatalf("the admin token: %+v", first)
	}
	if _, err := io.WriteString(c, admin); err != nil {
		t.Fatal(err)
	}
	if again := readAnswer(t, c); again.status != first.status {
		t.Errorf("then %+v", again)
	}
	if a := readAnswer(t, g.dial(t, admin)); a.status != 503 {
		t.Errorf("the reserve is larger than one: %+v", a)
	}
	c.Close()
	for deadline := time.Now().Add(time.Minute); readAnswer(t, g.dial(t, admin)).status == 503; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the reserve is not given back")
		}
	}
}
