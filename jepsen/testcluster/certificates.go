package testcluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"time"
)

// Authority signs the certificates of a cluster under test.
type Authority struct {
	der  []byte
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewAuthority makes a new one.
func NewAuthority() (*Authority, error) {
	c, key, err := newCertificate("test authority")
	if err != nil {
		return nil, err
	}
	c.IsCA, c.KeyUsage = true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("test authority: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("test authority: %w", err)
	}
	return &Authority{der: der, cert: cert, key: key}, nil
}

func newCertificate(name string) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("certificate of %s: %w", name, err)
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return nil, nil, fmt.Errorf("certificate of %s: %w", name, err)
	}
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: fmt.Sprint(name, " ", serial)}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, BasicConstraintsValid: true,
	}, key, nil
}

// Issue writes NAME.pem and NAME.key into dir, in place of what is there. The certificate holds for other names, too.
func (a *Authority) Issue(dir, name string, also ...string) error {
	c, key, err := newCertificate(name)
	if err != nil {
		return err
	}
	c.DNSNames = append(c.DNSNames, also...)
	der, err := x509.CreateCertificate(rand.Reader, c, a.cert, key.Public(), a.key)
	if err != nil {
		return fmt.Errorf("certificate of %s: %w", name, err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fmt.Errorf("certificate of %s: %w", name, err)
	}
	if err := writePEM(filepath.Join(dir, name+".key"), "EC PRIVATE KEY", private); err != nil {
		return err
	}
	return writePEM(filepath.Join(dir, name+".pem"), "CERTIFICATE", der)
}

// WriteTrusted writes ca.pem into dir, the file of the authorities that nodes trust.
func WriteTrusted(dir string, all ...*Authority) error {
	var certs [][]byte
	for _, a := range all {
		certs = append(certs, a.der)
	}
	return writePEM(filepath.Join(dir, "ca.pem"), "CERTIFICATE", certs...)
}

// writePEM replaces a file in one step.
func writePEM(path, kind string, all ...[]byte) error {
	var text []byte
	for _, der := range all {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})...)
	}
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
