package httpclient

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/internal/socket"
)

// A route names the server of a connection and the way to it. Requests of one route share connections.
type route struct {
	https bool
	addr  string // the server's, or, for http by a proxy, the proxy's
}

// routeOf is the route of a URL.
func (c *Client) routeOf(u *url.URL) route {
	if https := u.Scheme == "https"; https || c.Proxy == nil {
		return route{https, addrOf(u)}
	}
	return route{false, addrOf(c.Proxy)}
}

// addrOf is the address of a URL's host.
func addrOf(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

var (
	errHandshakeTime = errors.New("TLS handshake timeout")
	errNoRequests    = errors.New("the HTTP/2 connection takes no requests")
	errNotTLS        = errors.New("the proxy's answer to CONNECT goes on before TLS begins")
)

// open opens a connection: k, or h if it speaks HTTP/2, with room for one request.
func (c *Client) open(ctx context.Context, to route) (k *conn, h *shared, err error) {
	begin, addr := time.Now(), to.addr
	if c.Proxy != nil {
		addr = addrOf(c.Proxy)
	}
	raw, err := c.Dial(ctx, "tcp", addr)
	if err != nil {
		return nil, nil, err
	}
	k = &conn{c: c, to: to, nc: raw, roundTrip: time.Since(begin)}
	if !to.https && (c.Proxy == nil || c.Proxy.Scheme != "https") {
		k.read, k.tryRead, k.tryWrite = socket.Read(raw), socket.TryRead(raw), socket.TryWrite(raw)
		return k, nil, nil
	}
	k.counted, k.pending = &countedConn{Conn: raw}, socket.Pending(raw)
	nc := net.Conn(k.counted)
	if c.Proxy != nil {
		if nc, err = c.throughProxy(ctx, nc, to); err != nil {
			return nil, nil, err
		}
	}
	if to.https {
		host, _, _ := net.SplitHostPort(to.addr)
		over, err := c.handshake(ctx, nc, host, "h2", "http/1.1")
		if err != nil {
			return nil, nil, err
		}
		if over.ConnectionState().NegotiatedProtocol == "h2" {
			h, err = c.openShared(to, over)
			return nil, h, err
		}
		nc = over
	}
	k.nc, k.read = nc, nc.Read
	return k, nil, nil
}

// handshake speaks TLS with a host over nc, which it closes if that fails.
func (c *Client) handshake(ctx context.Context, nc net.Conn, host string, protocols ...string) (*tls.Conn, error) {
	config := &tls.Config{}
	if c.TLS != nil {
		config = c.TLS.Clone()
	}
	config.ServerName, config.NextProtos = host, protocols
	limited := ctx
	if c.HandshakeTime > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, c.HandshakeTime)
		defer cancel()
	}
	over := tls.Client(nc, config)
	if err := over.HandshakeContext(limited); err != nil {
		nc.Close()
		switch {
		case ctx.Err() != nil:
			err = context.Cause(ctx)
		case limited.Err() != nil:
			err = errHandshakeTime
		}
		return nil, err
	}
	return over, nil
}

// throughProxy makes nc, which leads to the proxy, lead to a server if its scheme is https. It closes nc if that fails.
func (c *Client) throughProxy(ctx context.Context, nc net.Conn, to route) (net.Conn, error) {
	if c.Proxy.Scheme == "https" {
		over, err := c.handshake(ctx, nc, c.Proxy.Hostname(), "http/1.1")
		if err != nil {
			return nil, err
		}
		nc = over
	}
	if !to.https {
		return nc, nil
	}
	if err := c.connect(ctx, nc, to.addr); err != nil {
		nc.Close()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	return nc, nil
}

// connect asks the proxy for a connection to a server.
func (c *Client) connect(ctx context.Context, nc net.Conn, addr string) error {
	stop := context.AfterFunc(ctx, func() { nc.Close() })
	defer stop()
	if c.HandshakeTime > 0 {
		timer := time.AfterFunc(c.HandshakeTime, func() { nc.Close() })
		defer timer.Stop()
	}
	head := "CONNECT " + addr + " HTTP/1.1\r\nHost: " + addr + "\r\nUser-Agent: " + ownAgent + "\r\n"
	if value := proxyAuthorization(c.Proxy); value != "" {
		head += proxyAuthorizationHeader + ": " + value + "\r\n"
	}
	if _, err := io.WriteString(nc, head+"\r\n"); err != nil {
		return err
	}
	in := bufio.NewReader(io.LimitReader(nc, int64(c.MaxHead)))
	answer, err := http.ReadResponse(in, &http.Request{Method: http.MethodConnect})
	if err != nil {
		return fmt.Errorf("reading the proxy's answer to CONNECT: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the proxy answered CONNECT with %s", answer.Status)
	}
	if in.Buffered() > 0 {
		return errNotTLS
	}
	return nil
}

const proxyAuthorizationHeader = "Proxy-Authorization"

// proxyAuthorization returns the Proxy-Authorization header for a proxy, empty if its URL has no user.
func proxyAuthorization(proxy *url.URL) string {
	if proxy.User == nil {
		return ""
	}
	password, _ := proxy.User.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(proxy.User.Username()+":"+password))
}

// countedConn counts the bytes that are written to the connection below TLS.
type countedConn struct {
	net.Conn
	written atomic.Int64
}

func (c *countedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.written.Add(int64(n))
	return n, err
}
