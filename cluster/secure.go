package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"trireme/certs"
)

// Security is mutual TLS between nodes: every node shows a certificate of the cluster's
// own authority that names its node id. The silent connections by which a leader's
// process is watched carry nothing, and stay plain.
type Security struct {
	Authority *certs.Authority
	Pair      *certs.Pair
}

// ErrCertificate says that this node refuses another's certificate.
var ErrCertificate = errors.New("cluster: the other node's certificate is refused")

// Why connections are refused before anybody has said who they are.
var (
	errPlain    = errors.New("cluster: connections to this node need TLS: start the other node with --cluster-ca, --cluster-cert and --cluster-key")
	errNoTLS    = errors.New("cluster: the other node's cluster port doesn't take TLS: it was started without --cluster-ca, --cluster-cert and --cluster-key")
	errSpeaksUs = errors.New("cluster: somebody calls with TLS and this one was started without --cluster-ca, --cluster-cert and --cluster-key")
)

// recordHandshake begins every TLS connection.
const recordHandshake = 0x16

// config is the TLS of a connection between nodes. Who shows which certificate is
// judged by Check, so that a refusal can say why.
func (s *Security) config() *tls.Config {
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		GetCertificate:         func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.Pair.Get(), nil },
		GetClientCertificate:   func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return s.Pair.Get(), nil },
		ClientAuth:             tls.RequireAnyClientCert,
		InsecureSkipVerify:     true, // VerifyConnection and check do it
		SessionTicketsDisabled: true, // a revoked authority is out at the next connection
	}
}

// call makes a connection that was dialed a secure one. The other side has to be to, if
// that isn't empty.
func (s *Security) call(c net.Conn, to string, timeout time.Duration) (net.Conn, error) {
	if s == nil {
		return c, nil
	}
	config := s.config()
	config.VerifyConnection = func(state tls.ConnectionState) error { return s.Authority.Check(state.PeerCertificates, to) }
	secure := tls.Client(c, config)
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	err := secure.HandshakeContext(ctx)
	if errors.As(err, new(tls.RecordHeaderError)) {
		return nil, fmt.Errorf("%w: %w", ErrRefused, errNoTLS)
	}
	if errors.Is(err, certs.ErrUnknown) || errors.Is(err, certs.ErrName) {
		return nil, fmt.Errorf("%w: %s: %w", ErrCertificate, c.RemoteAddr(), err)
	}
	if err != nil {
		return nil, fmt.Errorf("cluster: TLS with %s: %w", c.RemoteAddr(), err)
	}
	return secure, nil
}

// take makes an accepted connection a secure one, if nodes call securely, and gives the
// certificates that the caller shows. A watching connection is plain.
func (s *Security) take(c net.Conn) (net.Conn, []*x509.Certificate, error) {
	if s == nil {
		return c, nil, nil
	}
	first := make([]byte, 1)
	if _, err := io.ReadFull(c, first); err != nil {
		return nil, nil, err
	}
	whole := &prefixed{Conn: c, head: first}
	if first[0] != recordHandshake {
		return whole, nil, nil
	}
	secure := tls.Server(whole, s.config())
	ctx, cancel := context.WithTimeout(context.Background(), greetTime)
	defer cancel()
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, nil, fmt.Errorf("cluster: TLS with %s: %w", c.RemoteAddr(), err)
	}
	return secure, secure.ConnectionState().PeerCertificates, nil
}

// check judges who calls, by what it shows and what it says of itself.
func (s *Security) check(what purpose, shown []*x509.Certificate, g greeting) error {
	switch {
	case s == nil || what == forWatch:
		return nil
	case shown == nil:
		return fmt.Errorf("%w: %w", ErrRefused, errPlain)
	}
	if err := s.Authority.Check(shown, g.node); err != nil {
		return fmt.Errorf("%w: %s calls: %w", ErrRefused, g.node, err)
	}
	return nil
}

// refusals says in the log whose connections are not taken, each reason once in a while.
type refusals struct {
	log *slog.Logger

	mu   sync.Mutex
	told map[string]time.Time
}

// refusedAgain is how long a reason is not told again, and maxRefusals how many are
// remembered.
const (
	refusedAgain = 10 * time.Second
	maxRefusals  = 256
)

func (r *refusals) tell(from net.Addr, why error) {
	host, _, _ := net.SplitHostPort(from.String()) // the whole is as good
	r.mu.Lock()
	defer r.mu.Unlock()
	key := host + why.Error()
	if time.Since(r.told[key]) < refusedAgain {
		return
	}
	if len(r.told) >= maxRefusals {
		clear(r.told)
	}
	r.told[key] = time.Now()
	r.log.Warn("a connection to the cluster port is not taken", "from", from, "reason", why)
}
