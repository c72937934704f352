package deliveries

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// hostileEndpoint is a destination that does something bad with every connection.
type hostileEndpoint struct {
	name string
	// end is the final state of its messages. found is the expected content of the last attempt's record:
	// an error that contains the text, or a status.
	end    string
	found  string
	status int
	// act deals with one connection after the request's header was read; nil resets it
	// before that.
	act func(c *net.TCPConn, over <-chan struct{})
	// host stands in the URL instead of the address, port for the port.
	host string

	listener net.Listener
	taken    atomic.Int64 // connections
}

const okHeader = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"

// hostileEndpoints are all kinds. Their messages have a timeout of a few seconds.
func hostileEndpoints() []*hostileEndpoint {
	return []*hostileEndpoint{
		{name: "silent", end: "FAILED", found: "timeout", act: silence},
		{name: "slow header", end: "FAILED", found: "timeout", act: trickle("HTTP/1.1 200 OK\r\n", "X-A: b\r\n", 200*time.Millisecond)},
		{name: "slow body", end: "FAILED", found: "timeout", act: trickle(okHeader+"Transfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n", 200*time.Millisecond)},
		{name: "endless body", end: "DELIVERED", act: flood(okHeader+"Transfer-Encoding: chunked\r\n\r\n", "400\r\n"+strings.Repeat("x", 0x400)+"\r\n", 0)},
		{name: "endless failure", end: "FAILED", status: 500, act: flood("HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n", "400\r\n"+strings.Repeat("x", 0x400)+"\r\n", 0)},
		{name: "100 MB", end: "DELIVERED", act: flood(okHeader+"Content-Length: 100000000\r\n\r\n", strings.Repeat("x", 10_000), 10_000)},
		{name: "endless header", end: "FAILED", found: "header", act: flood("HTTP/1.1 200 OK\r\n", "X-A: "+strings.Repeat("b", 1000)+"\r\n", 0)},
		{name: "endless interim replies", end: "FAILED", found: "header", act: flood("", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", 0)},
		{name: "reset", end: "FAILED", found: "connection", act: nil},
		{name: "reset in the body", end: "FAILED", found: "broke off", act: func(c *net.TCPConn, _ <-chan struct{}) {
			fmt.Fprint(c, okHeader+"Content-Length: 100\r\n\r\nhalf")
			time.Sleep(20 * time.Millisecond) // a reset overtakes what is not read yet
			c.SetLinger(0)
		}},
		{name: "short body", end: "FAILED", found: "broke off", act: say(okHeader + "Content-Length: 100\r\n\r\nhalf")},
		{name: "no HTTP", end: "FAILED", found: "malformed", act: say("SSH-2.0-OpenSSH_9.9\r\n\r\n")},
		{name: "bad length", end: "FAILED", found: "Content-Length", act: say(okHeader + "Content-Length: -7\r\n\r\n")},
		{name: "bad chunk", end: "FAILED", found: "broke off", act: say(okHeader + "Transfer-Encoding: chunked\r\n\r\nzz\r\nxx\r\n")},
		{name: "redirect to metadata", end: "FAILED", status: 302, act: say("HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/latest/meta-data/\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")},
		{name: "redirect inside", end: "FAILED", status: 307, act: say("HTTP/1.1 307 Again\r\nLocation: http://" + insideHost + "/\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")},
		{name: "upgrade", end: "FAILED", status: 101, act: say("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")},
		{name: "name that turns inside", end: "FAILED", found: "not allowed", host: turningName, act: say(okHeader + "Content-Length: 0\r\n\r\n")},
		{name: "name of metadata", end: "FAILED", found: "not allowed", host: metadataName},
		{name: "unknown name", end: "FAILED", found: "could not be resolved", host: "nobody.test"},
	}
}

// Names that the run's resolver knows, and an address that deliveries may not reach.
const (
	turningName  = "turning.test"
	metadataName = "metadata.test"
	insideHost   = "inside.test"
	insideAddr   = "127.0.0.2"
)

func silence(_ *net.TCPConn, over <-chan struct{}) { <-over }

// say sends one text and closes. A complete reply has to announce that with "Connection:
// close": the sender would keep the connection for the next attempt, which then can meet
// its end instead of a reply.
func say(text string) func(*net.TCPConn, <-chan struct{}) {
	return func(c *net.TCPConn, _ <-chan struct{}) { fmt.Fprint(c, text) }
}

// trickle sends a head and then a text again and again with pauses.
func trickle(head, text string, pause time.Duration) func(*net.TCPConn, <-chan struct{}) {
	return func(c *net.TCPConn, over <-chan struct{}) {
		fmt.Fprint(c, head)
		for {
			select {
			case <-over:
				return
			case <-time.After(pause):
			}
			if _, err := fmt.Fprint(c, text); err != nil {
				return
			}
		}
	}
}

// flood sends a head and then a text as often as said, or for ever with 0, as fast as it
// is taken.
func flood(head, text string, times int) func(*net.TCPConn, <-chan struct{}) {
	return func(c *net.TCPConn, over <-chan struct{}) {
		fmt.Fprint(c, head)
		for i := 0; times == 0 || i < times; i++ {
			if _, err := fmt.Fprint(c, text); err != nil {
				return
			}
		}
	}
}

// open listens.
func (e *hostileEndpoint) open() (err error) {
	e.listener, err = net.Listen("tcp", "127.0.0.1:0")
	return err
}

// serve acts on every connection until over.
func (e *hostileEndpoint) serve(over <-chan struct{}) {
	var all sync.WaitGroup
	defer all.Wait()
	for {
		c, err := e.listener.Accept()
		if err != nil {
			return
		}
		e.taken.Add(1)
		all.Go(func() { e.meet(c.(*net.TCPConn), over) })
	}
}

// meet deals with one connection. The end of the run closes it.
func (e *hostileEndpoint) meet(c *net.TCPConn, over <-chan struct{}) {
	defer c.Close()
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-over:
			c.Close()
		case <-done:
		}
	}()
	if e.act == nil {
		c.SetLinger(0)
		return
	}
	if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
		r.Body.Close()
		e.act(c, over)
	}
}

// url is the address of its messages.
func (e *hostileEndpoint) url(number int) string {
	_, port, _ := net.SplitHostPort(e.listener.Addr().String())
	host := e.host
	if host == "" {
		host = "127.0.0.1"
	}
	return fmt.Sprintf("http://%s/%d", net.JoinHostPort(host, port), number)
}
