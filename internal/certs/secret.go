package certs

import (
	"crypto"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/internal/plural"
)

const (
	// MinSecret is the least length of a cluster secret, in bytes. It must be random: a password can be guessed by
	// anyone who has seen one handshake.
	MinSecret = 16
	// leafLifetime is the validity of a certificate that a node signs for itself, and leafRenewal the age at which it signs the
	// next. leafBackdate bounds the difference between the clocks of nodes.
	leafLifetime = 48 * time.Hour
	leafRenewal  = 12 * time.Hour
	leafBackdate = 24 * time.Hour
)

// The purposes of derived keys. They are part of the protocol between nodes: another text is another authority.
const (
	authorityPurpose = "trireme cluster authority v1"
	gossipPurpose    = "trireme gossip key v1"
)

// authorityName is the name of the authority of a secret.
const authorityName = "trireme cluster authority"

// BySecret reports whether a node has signed a certificate itself, with a cluster secret. Such a node renews it by itself.
func BySecret(c *x509.Certificate) bool { return c.Issuer.CommonName == authorityName }

// ErrSecret says that a cluster secret can't be used.
var ErrSecret = errors.New("the cluster secret can't be used")

// A Secret replaces certificate files: all nodes of a cluster share it.
type Secret []byte

// ParseSecrets reads cluster secrets, one a line. The first one is used to sign; certificates signed with the others
// are accepted too, so that a secret can be replaced node by node.
func ParseSecrets(text string) (all []Secret, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if len(line) < MinSecret {
			return nil, fmt.Errorf("%w: it has %s, at least %d random ones are needed: `head -c 32 /dev/urandom | base64` makes one", ErrSecret, plural.Of(len(line), "character"), MinSecret)
		}
		all = append(all, Secret(line))
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: it is empty", ErrSecret)
	}
	return all, nil
}

// NewSecret draws a secret of 256 random bits.
func NewSecret() string { return rand.Text() + rand.Text() }

// GossipKey derives the key that encrypts gossip.
func (s Secret) GossipKey() ([]byte, error) {
	return hkdf.Key(sha256.New, s, nil, gossipPurpose, 32)
}

// authority is the certificate of the authority, and its key, which all nodes derive alike.
func (s Secret) authority() (*x509.Certificate, ed25519.PrivateKey, error) {
	seed, err := hkdf.Key(sha256.New, s, nil, authorityPurpose, ed25519.SeedSize)
	if err != nil {
		return nil, nil, err
	}
	key := ed25519.NewKeyFromSeed(seed)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: authorityName},
		NotBefore: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), // operators rotate the secret instead
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, nil, err
	}
	c, err := x509.ParseCertificate(der)
	return c, key, err
}

// FromSecrets derives the authorities of secrets, and a pair for name that is signed by the first one and renewed
// before it expires.
func FromSecrets(secrets []Secret, name string, log *slog.Logger) (*Authority, *Pair, error) {
	if len(secrets) == 0 {
		return nil, nil, fmt.Errorf("%w: it is empty", ErrSecret)
	}
	pool := x509.NewCertPool()
	for _, s := range secrets {
		c, _, err := s.authority()
		if err != nil {
			return nil, nil, err
		}
		pool.AddCert(c)
	}
	signer, key, err := secrets[0].authority()
	if err != nil {
		return nil, nil, err
	}
	p := &Pair{log: log, issue: func() (*tls.Certificate, error) { return issue(signer, key, name, time.Now()) }}
	if p.pair, err = p.issue(); err != nil {
		return nil, nil, err
	}
	return &Authority{log: log, pool: pool}, p, nil
}

// issue signs a certificate for name with a key of its own.
func issue(authority *x509.Certificate, signer crypto.Signer, name string, now time.Time) (*tls.Certificate, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-leafBackdate), NotAfter: now.Add(leafLifetime),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, authority, public, signer)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private, Leaf: leaf}, err
}

// renew signs a new certificate when the one in use is old, or the clock was set; the lock is held.
func (p *Pair) renew(now time.Time) {
	issued := p.pair.Leaf.NotBefore.Add(leafBackdate)
	if age := now.Sub(issued); age > -leafRenewal && age < leafRenewal {
		return
	}
	pair, err := p.issue()
	if err != nil {
		p.log.Warn("a new certificate can't be signed; the former one stays", "error", err)
		return
	}
	p.pair = pair
	p.log.Info("a new certificate of this node is in use", "until", pair.Leaf.NotAfter)
}
