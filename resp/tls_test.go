package resp_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/resp"
	"github.com/trireme-dev/trireme/resp/resptest"
)

// selfSigned is a certificate for loopback, and who trusts it.
func selfSigned(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// TestTLS speaks over TLS: pipelines, long replies, a wait that is interrupted and goes on,
// and messages beside replies.
func TestTLS(t *testing.T) {
	certificate, pool := selfSigned(t)
	nodes := resptest.Serve(t, 1, func(o *resp.Options) { o.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}} })
	dial := func() *resptest.Client {
		conn, err := tls.Dial("tcp", nodes.Addrs[0], &tls.Config{RootCAs: pool})
		if err != nil {
			t.Fatal(err)
		}
		c := resptest.On(t, conn)
		c.Want("OK", "AUTH", resptest.Token)
		return c
	}
	a, b := dial(), dial()
	value := strings.Repeat("x", 300_000)
	a.Send(resptest.Encode("SET", "k", value) + strings.Repeat(resptest.Encode("GET", "k"), 20))
	a.WantNext("OK")
	for range 20 {
		if a.Next().Text() != value {
			t.Fatal("another value came back")
		}
	}
	for range 3 {
		a.Start("BLPOP", "l", "0")
		b.AwaitBlocked("1")
		b.Want("(integer) 1", "RPUSH", "l", "v")
		a.WantNext("1) \"l\"\n2) \"v\"")
		a.Want("PONG", "PING")
	}
	a.Do("SUBSCRIBE", "c")
	b.Want("(integer) 1", "PUBLISH", "c", "m")
	a.WantNext("1) \"message\"\n2) \"c\"\n3) \"m\"")
	plain := resptest.Dial(t, nodes.Addrs[0])
	plain.Send("PING\r\n")
	if !plain.Gone() {
		t.Error("who speaks no TLS is let in")
	}
}
