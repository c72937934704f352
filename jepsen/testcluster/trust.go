package testcluster

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"path/filepath"
	"sync/atomic"
)

// trust is the authorities that clients of a cluster believe, which change while they run.
type trust struct{ roots atomic.Pointer[x509.CertPool] }

// put has clients believe these authorities from their next connection on, and no others.
func (t *trust) put(all ...*Authority) {
	pool := x509.NewCertPool()
	for _, a := range all {
		pool.AddCert(a.cert)
	}
	t.roots.Store(pool)
}

// config returns a client's TLS configuration for the node id. It verifies the certificate itself, because the authorities may
// change.
func (t *trust) config(id string) *tls.Config {
	return &tls.Config{ServerName: id, InsecureSkipVerify: true, VerifyConnection: func(s tls.ConnectionState) error {
		if len(s.PeerCertificates) == 0 {
			return errors.New("no certificate was presented")
		}
		_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: t.roots.Load(), DNSName: id, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
		return err
	}}
}

// apiCertificate are the flags with which a node shows clients the certificate that it shows other nodes.
func (c *Cluster) apiCertificate(id string) []string {
	dir := filepath.Join(c.options.Dir, "certificates")
	return []string{"--tls-cert", filepath.Join(dir, id+".pem"), "--tls-key", filepath.Join(dir, id+".key")}
}
