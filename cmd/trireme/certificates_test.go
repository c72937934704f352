package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// certificate writes NAME.pem and NAME.key, signed by AUTHORITY.pem and AUTHORITY.key, or
// by itself if that is the same name: then it is an authority.
func certificate(ts *testscript.TestScript, _ bool, args []string) {
	name, by := args[0], args[1]
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	ts.Check(err)
	c := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, DNSNames: []string{name, "localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, BasicConstraintsValid: true,
	}
	parent, signer := c, key
	if name == by {
		c.IsCA, c.KeyUsage = true, x509.KeyUsageCertSign
	} else {
		parent, signer = readAuthority(ts, by)
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, key.Public(), signer)
	ts.Check(err)
	private, err := x509.MarshalECPrivateKey(key)
	ts.Check(err)
	write(ts, name+".key", "EC PRIVATE KEY", private)
	write(ts, name+".pem", "CERTIFICATE", der)
}

// write replaces a file in one step, as those do who renew certificates.
func write(ts *testscript.TestScript, name, kind string, der []byte) {
	path := ts.MkAbs(name)
	ts.Check(os.WriteFile(path+".new", pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
	ts.Check(os.Rename(path+".new", path))
}

func readAuthority(ts *testscript.TestScript, name string) (*x509.Certificate, *ecdsa.PrivateKey) {
	block, _ := pem.Decode([]byte(ts.ReadFile(name + ".pem")))
	c, err := x509.ParseCertificate(block.Bytes)
	ts.Check(err)
	block, _ = pem.Decode([]byte(ts.ReadFile(name + ".key")))
	key, err := x509.ParseECPrivateKey(block.Bytes)
	ts.Check(err)
	return c, key
}
