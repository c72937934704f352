package attack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	hostileConnections = 10_000
	holdConnections    = 25 * time.Second
	// mostOfConnections bounds the growth of a node by these connections.
	mostOfConnections = 500 << 20
	newcomerPause     = 50 * time.Millisecond
	// reopenPause is before a connection that the node has ended is made anew: what is measured is connections, not a
	// flood of packets.
	reopenPause = 2 * time.Second
	// shortLife bounds the life of a connection that counts as refused.
	shortLife = 5 * time.Second
)

// hostileKinds lists the input that connections without a user send before they wait, each with its share in percent.
var hostileKinds = []struct {
	part int
	resp bool
	text string
}{
	{15, false, ""},
	{30, false, "GET / HTTP/1.1\r\nHost: h\r\nX: " + strings.Repeat("x", 60<<10)},                                                                          // a head that almost fills its limit
	{10, false, "POST /db/" + Attacker + " HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer x\r\nContent-Length: 60000\r\n\r\n" + strings.Repeat("x", 50<<10)}, // a body that never ends
	{3, false, "POST /db/" + Attacker + " HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer x\r\nContent-Length: 10000000\r\n\r\n"},                             // a body that is refused
	{2, false, "\x16\x03\x01\x40\x00\x01" + strings.Repeat("\x00", 8<<10)},                                                                                 // TLS on a port without
	{15, true, ""},
	{20, true, "*3\r\n$4\r\nAUTH\r\n$16000\r\n" + strings.Repeat("x", 16000) + "\r\n$16000\r\n" + strings.Repeat("x", 15<<10)}, // a login that never ends
	{3, true, strings.Repeat("x", 60<<10)}, // a line without an end
	{2, true, "*1000000\r\n$10000000\r\n"}, // a command that is refused
}

// connections has 10,000 connections of strangers to one node, which are made anew whenever one ends, while others
// log in.
func connections(ctx context.Context, t *Target) (string, error) {
	grown := t.peaks()
	end, err := start[connectionCounts](ctx, strangersVariable, openPorts{HTTP: t.Nodes[0].HTTP, RESP: t.Nodes[0].RESP})
	if err != nil {
		return "", err
	}
	during, cancel := context.WithTimeout(ctx, holdConnections)
	defer cancel()
	slowest, served, failed := t.newcomers(during)
	strangers, err := end()
	by, problem := grown()
	err = errors.Join(failed, err, problem)
	if strangers.Most < hostileConnections*9/10 && err == nil {
		err = fmt.Errorf("only %d connections were open at a time", strangers.Most)
	}
	if by > mostOfConnections && err == nil {
		err = fmt.Errorf("a node grew by %s", mebibytes(by))
	}
	return fmt.Sprintf("%d open at a time, %d made; a node grew by %s; %d newcomers served over HTTP and RESP, the slowest in %v",
		strangers.Most, strangers.Made, mebibytes(by), served, slowest.Round(time.Millisecond)), err
}

// openPorts are the ports that strangers reach.
type openPorts struct{ HTTP, RESP string }

// connectionCounts counts the connections without a user: the most at a time, and all that were made.
type connectionCounts struct{ Most, Made int64 }

// hold keeps 10,000 connections open.
func (p *openPorts) hold(ctx context.Context) connectionCounts {
	var all sync.WaitGroup
	var open, most, made atomic.Int64
	for i := range hostileConnections {
		kind := hostileKindOf(i)
		all.Go(func() {
			for ctx.Err() == nil {
				began := time.Now()
				c, err := p.stranger(ctx, i, kind)
				if err != nil {
					_ = pause(ctx, time.Second) // the node's backlog is full
					continue
				}
				made.Add(1)
				most.Store(max(most.Load(), open.Add(1)))
				stop := context.AfterFunc(ctx, func() { c.Close() })
				_, _ = io.Copy(io.Discard, c) // until the node ends it
				stop()
				c.Close()
				open.Add(-1)
				if time.Since(began) < shortLife {
					kind = silentOf(kind) // what is not refused
				}
				_ = pause(ctx, reopenPause)
			}
		})
	}
	all.Wait()
	return connectionCounts{most.Load(), made.Load()}
}

func hostileKindOf(i int) int {
	at := i % 100
	for kind, k := range hostileKinds {
		if at -= k.part; at < 0 {
			return kind
		}
	}
	return 0
}

// silentOf is the kind that says nothing at the same port.
func silentOf(kind int) int {
	for i, k := range hostileKinds {
		if k.resp == hostileKinds[kind].resp && k.text == "" {
			return i
		}
	}
	return kind
}

// stranger opens a connection from one of many addresses and sends its part.
func (p *openPorts) stranger(ctx context.Context, i, kind int) (net.Conn, error) {
	k := hostileKinds[kind]
	addr := p.HTTP
	if k.resp {
		addr = p.RESP
	}
	from := net.Dialer{Timeout: 5 * time.Second, LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 1, byte(i>>8), byte(i))}}
	c, err := from.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	_ = c.SetWriteDeadline(time.Now().Add(5 * time.Second))
	_, _ = io.WriteString(c, k.text) // what isn't taken isn't
	return c, nil
}

// newcomers log in on new connections, over HTTP and RESP in turn.
func (t *Target) newcomers(ctx context.Context) (slowest time.Duration, served int, failed error) {
	for ; ctx.Err() == nil; _ = pause(ctx, newcomerPause) {
		began := time.Now()
		client := newClient()
		r := t.send(context.WithoutCancel(ctx), client, 0, http.MethodPost, "/db/"+Victim, t.VictimToken, nil, words([]string{"PING"}))
		client.CloseIdleConnections()
		if !r.says(http.StatusOK, "PONG") {
			return slowest, served, fmt.Errorf("a newcomer over HTTP after %v: %s", time.Since(began), r)
		}
		slowest = max(slowest, time.Since(began))
		began = time.Now()
		if line, err := t.once(0, []string{"AUTH", Victim + "/default", t.VictimToken}, []string{"PING"}); err != nil || line != "+PONG\r\n" {
			return slowest, served, fmt.Errorf("a newcomer over RESP after %v: %q, %v", time.Since(began), line, err)
		}
		slowest = max(slowest, time.Since(began))
		served += 2
	}
	return slowest, served, nil
}
