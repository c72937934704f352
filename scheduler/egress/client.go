package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/trireme-dev/trireme/internal/httpclient"
)

// The limits of a connection, whatever an attempt's own time is.
const (
	dialTime       = 5 * time.Second
	handshakeTime  = 5 * time.Second
	maxReplyHeader = 64 << 10
)

// Options say how deliveries leave.
type Options struct {
	Policy *Policy
	// Proxy is the HTTP proxy of all deliveries, or nil.
	Proxy *url.URL
	// Roots are the certificate authorities that are believed; nil are the system's.
	Roots *x509.CertPool
	// Resolver resolves names; nil is the system's.
	Resolver *net.Resolver
	// IdlePerHost is the largest number of unused connections kept to one host.
	IdlePerHost int
}

// DNS is a resolver that asks one server, host:port, and no other.
func DNS(server string) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, server)
	}}
}

// maxIdle is the largest number of unused connections kept to all hosts.
const maxIdle = 1024

// NewClient returns a client that reaches what the policy allows. It keeps no cookies, unpacks nothing, and reads no proxy from the
// environment. Call CloseIdle at the end.
func NewClient(o Options) *httpclient.Client {
	dialer := &net.Dialer{Timeout: dialTime, KeepAlive: 30 * time.Second, Resolver: o.Resolver}
	if o.Proxy == nil { // the proxy itself may have any address
		dialer.ControlContext = o.Policy.control
	}
	return &httpclient.Client{
		Check: o.Policy.CheckURL, Dial: withReset(dialer.DialContext), TLS: &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12},
		HandshakeTime: handshakeTime, Proxy: o.Proxy,
		MaxIdle: maxIdle, MaxIdlePerHost: max(o.IdlePerHost, 2), IdleTime: httpclient.KeepUnannounced, MaxHead: maxReplyHeader,
	}
}

// dialing opens a connection.
type dialing func(ctx context.Context, network, addr string) (net.Conn, error)

// withReset makes the connections of dial close with a reset, so that nothing of a request whose attempt was
// given up is sent afterwards: the kernel would send the rest of its buffer, for minutes if the
// network is down. A request that was answered has no such rest.
func withReset(dial dialing) dialing {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if plain, ok := c.(*net.TCPConn); ok && err == nil {
			_ = plain.SetLinger(0) // fails for a socket that has ended already
		}
		return c, err
	}
}

// control judges an address when the socket is about to connect to it.
func (p *Policy) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return p.Check(at)
}

// CheckURL judges what can be judged before a name is resolved: the scheme, and a host
// that is an address. Spellings that only some resolvers take for an address are judged
// when dialed.
func (p *Policy) CheckURL(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("%w: scheme %q", ErrRefused, u.Scheme)
	}
	if u.Scheme == "http" && p.HTTPSOnly {
		return fmt.Errorf("%w: it is http, and deliveries go to https only (--egress-https-only)", ErrRefused)
	}
	if u.Hostname() == "" {
		return fmt.Errorf("%w: no host", ErrRefused)
	}
	addr, err := netip.ParseAddr(u.Hostname())
	if err != nil {
		return nil // a name
	}
	return p.Check(netip.AddrPortFrom(addr, portOf(u)))
}

func portOf(u *url.URL) uint16 {
	if n, err := strconv.ParseUint(u.Port(), 10, 16); err == nil {
		return uint16(n)
	}
	if u.Scheme == "https" {
		return 443
	}
	return 80
}

// ReadRoots are the system's certificate authorities and those of a PEM file.
func ReadRoots(path string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, errors.New(path + " holds no certificate")
	}
	return roots, nil
}
