package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/trireme-dev/trireme/internal/certs"
)

// Security is mutual TLS between nodes: every node shows a certificate of the cluster's own authority that names its
// node id. It covers every connection of the port, those that only watch included.
type Security struct {
	Authority *certs.Authority
	Pair      *certs.Pair
	// PlainToo also accepts connections without TLS, and falls back to them. It is for the time in which a cluster that
	// had no TLS gets it, node by node, and gives no protection.
	PlainToo bool
}

// ErrCertificate says that this node rejects another's certificate.
var ErrCertificate = errors.New("cluster: the other node's certificate is refused")

// Why connections are rejected before anybody has said who they are.
var (
	errPlain     = errors.New("cluster: connections to this node need TLS: start the other node with the same --cluster-secret-file, or with --cluster-ca, --cluster-cert and --cluster-key")
	errNoTLS     = errors.New("cluster: the other node's cluster port doesn't take TLS: it was started without --cluster-secret-file and without --cluster-ca, --cluster-cert and --cluster-key")
	errTLSCaller = errors.New("cluster: received a TLS connection, but this node was started without --cluster-secret-file and without --cluster-ca, --cluster-cert and --cluster-key")
)

// recordHandshake begins every TLS connection.
const recordHandshake = 0x16

// config returns the TLS of a connection between nodes. Check judges the certificates, so that a rejection can say why.
func (s *Security) config() *tls.Config {
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		GetCertificate:         func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.Pair.Get(), nil },
		GetClientCertificate:   func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return s.Pair.Get(), nil },
		ClientAuth:             tls.RequireAnyClientCert,
		InsecureSkipVerify:     true, // VerifyConnection does it
		SessionTicketsDisabled: true, // a revoked authority is out at the next connection
	}
}

// call makes a connection that was dialed a secure one. The other side has to be to, if that isn't empty.
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
		return nil, fmt.Errorf("%w: %w", ErrRejected, errNoTLS)
	}
	if errors.Is(err, certs.ErrUnknown) || errors.Is(err, certs.ErrName) {
		return nil, fmt.Errorf("%w: %s: %w", ErrCertificate, c.RemoteAddr(), err)
	}
	if err != nil {
		return nil, fmt.Errorf("cluster: TLS with %s: %w", c.RemoteAddr(), err)
	}
	return secure, nil
}

// accept makes an accepted connection a secure one and returns the certificates that the caller shows, which check
// judges once the caller has said who it is. A caller without TLS gets no answer, not even a reason: only its first byte
// is read.
func (s *Security) accept(c net.Conn) (net.Conn, []*x509.Certificate, error) {
	if s == nil {
		return c, nil, nil
	}
	first := make([]byte, 1)
	if _, err := io.ReadFull(c, first); err != nil {
		return nil, nil, err
	}
	if first[0] != recordHandshake {
		if s.PlainToo {
			return Unread(c, first), nil, nil
		}
		return nil, nil, errPlain
	}
	config := s.config() // a peer without a certificate of the authority gets no answer
	config.VerifyConnection = func(state tls.ConnectionState) error { return s.Authority.Check(state.PeerCertificates, "") }
	secure := tls.Server(Unread(c, first), config)
	ctx, cancel := context.WithTimeout(context.Background(), HandshakeTimeout)
	defer cancel()
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, nil, fmt.Errorf("cluster: TLS with %s: %w", c.RemoteAddr(), err)
	}
	return secure, secure.ConnectionState().PeerCertificates, nil
}

// check rejects a caller whose certificate doesn't name the node that it says it is.
func (s *Security) check(shown []*x509.Certificate, h Hello) error {
	if s == nil || s.PlainToo && shown == nil {
		return nil
	}
	if err := s.Authority.Check(shown, h.Node); err != nil {
		return fmt.Errorf("%w: %s calls: %w", ErrRejected, h.Node, err)
	}
	return nil
}

// secure makes a connection to addr that was dialed a secure one; if that fails and the other node may be without TLS,
// it is dialed once more.
func (m *Mux) secure(raw net.Conn, to, addr string, timeout time.Duration) (net.Conn, error) {
	s := m.config.Security
	c, err := s.call(raw, to, max(timeout, minHandshake))
	if err == nil {
		return c, nil
	}
	raw.Close()
	if s.PlainToo && !errors.Is(err, ErrCertificate) {
		return m.dial(addr, timeout)
	}
	return nil, err
}

// explain finds out what the error of a hello that was not answered means. A port that requires TLS answers nothing
// else, so a caller without TLS tries whether it would have answered that.
func (m *Mux) explain(err error, addr string) error {
	var op *net.OpError
	switch s := m.config.Security; {
	case s == nil && (errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)) && m.speaksTLS(addr):
		return fmt.Errorf("%w: %w", ErrRejected, errPlain)
	case s != nil && errors.As(err, &op) && op.Op == "remote error": // a TLS alert
		return fmt.Errorf("%w: it doesn't accept this node's certificate: %w", ErrRejected, err)
	}
	return err
}

// speaksTLS reports whether the port at addr answers a TLS handshake.
func (m *Mux) speaksTLS(addr string) bool {
	raw, err := m.dial(addr, DialTimeout)
	if err != nil {
		return false
	}
	defer raw.Close()
	ctx, cancel := context.WithTimeout(m.ctx, HandshakeTimeout)
	defer cancel()
	return tls.Client(raw, &tls.Config{MinVersion: tls.VersionTLS13, InsecureSkipVerify: true}).HandshakeContext(ctx) == nil // nothing is sent
}

// Unread returns a connection whose first bytes have been read already and are read once more.
func Unread(c net.Conn, head []byte) net.Conn { return &prefixed{Conn: c, head: head} }

type prefixed struct {
	net.Conn
	head []byte
}

// Read returns the first bytes once more.
func (p *prefixed) Read(b []byte) (int, error) {
	if len(p.head) == 0 {
		return p.Conn.Read(b)
	}
	n := copy(b, p.head)
	p.head = p.head[n:]
	return n, nil
}
