package scheduler

import (
	"bufio"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/httpurl"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/internal/httpclient"
	"github.com/trireme-dev/trireme/internal/idn"
	"github.com/trireme-dev/trireme/scheduler/egress"
)

// requestLines is a server that keeps the first line of each request as it came, and its Authorization.
func requestLines(t *testing.T) (addr string, got chan [2]string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	got = make(chan [2]string, 100)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				in := bufio.NewReader(c)
				line, _ := in.ReadString('\n')
				head := ""
				for {
					h, err := in.ReadString('\n')
					if err != nil || strings.TrimSpace(h) == "" {
						break
					}
					if v, ok := strings.CutPrefix(h, "Authorization: "); ok {
						head = strings.TrimSpace(v)
					}
				}
				got <- [2]string{strings.TrimRight(line, "\r\n"), head}
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
			}()
		}
	}()
	return l.Addr().String(), got
}

// oddTargets pair the text after the host of a stored destination with the target of the request. net/url refuses some and
// would rewrite others.
var oddTargets = [][2]string{
	{"", "/"}, {"?", "/?"}, {"?x=1#f", "/?x=1"}, {"/hook?name=Ada%20L", "/hook?name=Ada%20L"}, {"/a|b%2Fc", "/a|b%2Fc"}, {"/a|b%2Fc?q|r=%", "/a|b%2Fc?q|r=%"},
	{"/100%", "/100%"}, {"/%zz/%2F", "/%zz/%2F"}, {"/[x]'%2f!$&()*+,;=:@~", "/[x]'%2f!$&()*+,;=:@~"}, {"//a//b", "//a//b"}, {"/a?`{}\\^[]|", "/a?`{}\\^[]|"}, {"//a|b%2F%", "//a%7Cb%2F%25"},
}

// TestTargetIsSentAsStored compares the request line with what is stored, byte by byte, without a proxy and with one.
func TestTargetIsSentAsStored(t *testing.T) {
	addr, got := requestLines(t)
	proxied := func(o *SenderOptions) {
		o.Transport = egress.NewClient(egress.Options{Policy: &egress.Policy{Open: true}, Proxy: &url.URL{Scheme: "http", Host: addr}})
		t.Cleanup(o.Transport.(*httpclient.Client).CloseIdle)
	}
	direct, through := testSender(t), testSender(t, proxied)
	for _, c := range oddTargets {
		stored := "http://" + addr + c[0]
		if u, err := httpurl.Read(stored, idn.ToASCII); err != nil || u.String() != stored {
			t.Fatalf("%s is not stored like that: %s, %v", stored, u.String(), err)
		}
		send(t, direct, attempt(queue.Content{URL: stored, Body: []byte("x")}))
		if line := (<-got)[0]; line != "POST "+c[1]+" HTTP/1.1" {
			t.Errorf("%q is sent as %s", c[0], line)
		}
		send(t, through, attempt(queue.Content{URL: strings.Replace(stored, addr, "hidden.test", 1), Body: []byte("x")}))
		if line := (<-got)[0]; line != "POST http://hidden.test"+c[1]+" HTTP/1.1" {
			t.Errorf("%q is sent through a proxy as %s", c[0], line)
		}
	}
	send(t, direct, attempt(queue.Content{URL: "http://u%20v:%40@" + addr + "/a|b"}))
	if one := <-got; one[0] != "POST /a|b HTTP/1.1" || one[1] != "Basic "+base64.StdEncoding.EncodeToString([]byte("u v:@")) {
		t.Errorf("with a user: %q", one)
	}
	// What was stored before URLs were escaped is sent escaped.
	send(t, direct, attempt(queue.Content{URL: "http://" + addr + "/hook?name=Ada L"}))
	if line := (<-got)[0]; line != "POST /hook?name=Ada%20L HTTP/1.1" {
		t.Errorf("a blank is sent as %s", line)
	}
}

// TestWhatIsReadIsNotRefusedLocally: a URL that Read takes meets no refusal before something is dialed. Names are resolved
// by a resolver that knows all of them.
func TestWhatIsReadIsNotRefusedLocally(t *testing.T) {
	addr, got := requestLines(t)
	_, port, _ := net.SplitHostPort(addr)
	tr := egress.NewClient(egress.Options{Policy: &egress.Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}})
	t.Cleanup(tr.CloseIdle)
	for _, host := range []string{"127.0.0.1", "0x7f.1", "2130706433", "017700000001", "127.1", "%31%32%37.0.0.1", "１２７.0.0.1"} {
		u, err := httpurl.Read("http://"+host+":"+port+"/x", idn.ToASCII)
		if err != nil {
			t.Fatal(err)
		}
		r, err := newRequest(t.Context(), http.MethodPost, &u, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		p, err := tr.RoundTrip(r)
		if err != nil {
			t.Errorf("%s: %v", host, err)
			continue
		}
		p.Body.Close()
		<-got
	}
}
