package httpclient

import (
	"bufio"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"
)

// TestKeepFor: what servers say of their patience, and what is made of it.
func TestKeepFor(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		headers   []string
		roundTrip time.Duration
		want      time.Duration
	}{
		{nil, 0, time.Second}, {nil, 3 * time.Second, time.Second}, {[]string{""}, 0, time.Second}, {[]string{"max=100"}, 0, time.Second},
		{[]string{"timeout=1"}, 0, 500 * ms}, {[]string{"timeout=1"}, 50 * ms, 450 * ms}, {[]string{"timeout=1"}, 600 * ms, 0}, {[]string{"timeout=2"}, 100 * ms, 1400 * ms},
		{[]string{"timeout=5"}, 0, 4500 * ms}, {[]string{"timeout=5, max=1000"}, 0, 4500 * ms}, {[]string{"Max=7 , TIMEOUT = 5"}, 0, 4500 * ms}, {[]string{`timeout="5"`}, 0, 4500 * ms},
		{[]string{"timeout=0"}, 0, 0}, {[]string{"timeout=75, max=0"}, 0, 0}, {[]string{"max=0"}, 0, 0},
		{[]string{"timeout=300"}, 0, 30 * time.Second}, {[]string{"timeout=2147483647"}, 0, 30 * time.Second},
		{[]string{"timeout=5", "timeout=2"}, 0, 1500 * ms}, {[]string{"timeout=2, timeout=5"}, 0, 1500 * ms},
		{[]string{"timeout"}, 0, time.Second}, {[]string{"timeout="}, 0, time.Second}, {[]string{"timeout=-1"}, 0, time.Second}, {[]string{"timeout=5s"}, 0, time.Second},
		{[]string{"timeout=1.5"}, 0, time.Second}, {[]string{"timeout=99999999999999999999"}, 0, time.Second}, {[]string{"timeout=1, timeout=x"}, 0, 500 * ms}, {[]string{"timeout=x, timeout=1"}, 0, 500 * ms},
	} {
		if got := KeepFor(c.headers, c.roundTrip, KeepUnannounced); got != c.want {
			t.Errorf("%q with a round trip of %v: %v, want %v", c.headers, c.roundTrip, got, c.want)
		}
	}
}

// TestConnectionIsGivenUpInTime: a connection is used again if it was unused for less than its server has said, and not if
// for longer. Time is that of the connection, which the test sets.
func TestConnectionIsGivenUpInTime(t *testing.T) { bothSchemes(t, connectionIsGivenUpInTime) }

func connectionIsGivenUpInTime(t *testing.T, scheme string) {
	for _, c := range []struct {
		answer string
		idle   time.Duration
		again  bool
	}{
		{okay, 500 * time.Millisecond, true}, {okay, time.Second, false},
		{"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=60\r\nContent-Length: 2\r\n\r\nok", 20 * time.Second, true},
		{"HTTP/1.1 200 OK\r\nkeep-alive: timeout=60\r\nContent-Length: 2\r\n\r\nok", 31 * time.Second, false},
		{"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 2\r\n\r\nok", 510 * time.Millisecond, false},
		{"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=60\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", 20 * time.Second, true},
		{"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", 510 * time.Millisecond, false},
		{"HTTP/1.1 200 OK\r\nConnection: Keep-Alive\r\nKeep-Alive: timeout=60, max=99\r\nContent-Length: 2\r\n\r\nok", 20 * time.Second, true},
		{"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=0\r\nContent-Length: 2\r\n\r\nok", 0, false},
		{"HTTP/1.1 200 OK\r\nKeep-Alive: max=0\r\nContent-Length: 2\r\n\r\nok", 0, false},
		{"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nKeep-Alive: timeout=60\r\nContent-Length: 2\r\n\r\nok", 0, false},
	} {
		var connections, requests atomic.Int64
		url := raw(t, scheme, func(nc net.Conn, in *bufio.Reader, _ int) {
			for connections.Add(1); request(in); {
				requests.Add(1)
				_, _ = io.WriteString(nc, c.answer)
			}
		})
		client := newClient(t)
		client.IdleTime = KeepUnannounced
		want(t, client, url, "200 ok")
		client.mu.Lock()
		for _, list := range client.idle {
			for _, k := range list {
				k.since = k.since.Add(-c.idle)
				if k.roundTrip > 5*time.Second { // a machine that stands still must not decide
					k.roundTrip = time.Millisecond
				}
			}
		}
		client.mu.Unlock()
		want(t, client, url, "200 ok")
		if again := connections.Load() == 1; again != c.again {
			t.Errorf("after %v of idleness and %q: used again: %v", c.idle, c.answer, again)
		}
		if n := requests.Load(); n != 2 {
			t.Errorf("two requests were %d", n)
		}
	}
}

// TestConnectionsAreClosedInTime, each at its own, whatever the order in which they came free.
func TestConnectionsAreClosedInTime(t *testing.T) {
	c := newClient(t)
	c.IdleTime = KeepUnannounced
	now := time.Now()
	add := func(announced string, idle time.Duration) *conn {
		here, there := net.Pipe()
		t.Cleanup(func() { here.Close(); there.Close() })
		k := &conn{c: c, to: route{addr: "h:1"}, nc: here, since: now.Add(-idle)}
		if announced != "" {
			k.announced = []string{announced}
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.idle == nil {
			c.idle = map[route][]*conn{}
		}
		c.idle[k.to] = append(c.idle[k.to], k)
		c.count++
		return k
	}
	first := add("timeout=60", 20*time.Second)
	add("timeout=5", 6*time.Second)
	add("", 2*time.Second)
	second := add("timeout=1000", 10*time.Second)
	add("timeout=1", time.Second)
	c.mu.Lock()
	c.sweeping = true
	c.mu.Unlock()
	c.sweep()
	c.mu.Lock()
	defer c.mu.Unlock()
	if list := c.idle[route{addr: "h:1"}]; len(list) != 2 || c.count != 2 || list[0] != first || list[1] != second {
		t.Errorf("%d are kept, %d counted", len(list), c.count)
	}
}
