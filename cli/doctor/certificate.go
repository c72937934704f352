package doctor

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/trireme-dev/trireme/internal/plural"
)

// renewBefore is the time before its end by which a certificate should have been renewed. One that lives shorter is renewed
// later: whoever issues certificates for days or hours renews them when a third or a half of their life is left.
const renewBefore = 14 * 24 * time.Hour

// renewalDue returns when a certificate should have been renewed: before the last quarter of its life.
func renewalDue(from, until time.Time) time.Time {
	return until.Add(-min(renewBefore, until.Sub(from)/4))
}

// What to do about a certificate, by where it comes from.
const (
	secretAdvice = "look at that node's log and clock: it signs its own certificate anew every 12 hours, and has not"
	peerAdvice   = "renew it on that node: write the new certificate and key into the files of its --cluster-cert and --cluster-key; it takes them without a restart"
)

const renewAdvice = "renew it: write the new certificate and key into the same files, the node takes them without a restart"

// Pair judges the certificate and key of two files at the time now. Empty names mean
// that there is none: no finding.
func Pair(cert, key string, now time.Time) []Finding {
	if cert == "" {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return []Finding{found(checkCertificate, cert, Failure, "put a certificate and the key that belongs to it into the two files, PEM, readable for the node's user", "%v", err)}
	}
	return []Finding{validityFinding(cert, pair.Leaf, now)}
}

// Authority judges the authority of the cluster's certificates, and whether it signed the
// node's own certificate, which has to name the node.
func Authority(ca, cert, node string, now time.Time) []Finding {
	if ca == "" {
		return nil
	}
	signers, err := readCertificates(ca)
	if err != nil {
		return []Finding{found(checkCertificate, ca, Failure, "put the certificates of the cluster's authority there, PEM", "%v", err)}
	}
	var all []Finding
	pool := x509.NewCertPool()
	for _, c := range signers {
		pool.AddCert(c)
		all = append(all, validityFinding(ca, c, now))
	}
	chain, err := readCertificates(cert)
	if err != nil {
		return all // Pair says so
	}
	return append(all, ownFindings(cert, node, chain, pool, now)...)
}

func ownFindings(cert, node string, chain []*x509.Certificate, pool *x509.CertPool, now time.Time) []Finding {
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	options := x509.VerifyOptions{Roots: pool, Intermediates: between, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}
	if _, err := chain[0].Verify(options); err != nil {
		return []Finding{found(checkCertificate, cert, Failure, "have it signed by the authority of --cluster-ca; the other nodes refuse it", "%v", err)}
	}
	names := append(slices.Clone(chain[0].DNSNames), chain[0].Subject.CommonName)
	if !slices.Contains(names, node) {
		return []Finding{found(checkCertificate, cert, Failure, "make a certificate with the node's id as DNS name or common name", "it names %v, not %s", names, node)}
	}
	return nil
}

func readCertificates(path string) (all []*x509.Certificate, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, errors.New("it contains no PEM certificate")
	}
	return all, nil
}

func validityFinding(about string, c *x509.Certificate, now time.Time) Finding {
	return expiryFinding(about, renewAdvice, c.NotBefore, c.NotAfter, now)
}

func expiryFinding(about, advice string, from, until, now time.Time) Finding {
	end := until.UTC().Format(time.RFC3339)
	switch {
	case now.After(until):
		return found(checkCertificate, about, Failure, advice, "it ended at %s", end)
	case now.Before(from):
		return found(checkCertificate, about, Failure, "look at this machine's clock and at who made the certificate", "it begins at %s", from.UTC().Format(time.RFC3339))
	case now.After(renewalDue(from, until)):
		return found(checkCertificate, about, Warning, advice, "its renewal is overdue: it ends in %s, at %s", daysOf(until.Sub(now)), end)
	}
	return found(checkCertificate, about, OK, "", "good for %s", daysOf(until.Sub(now)))
}

// daysOf is a long time for people: in days, or hours if it is less than two days.
func daysOf(d time.Duration) string {
	if d < 48*time.Hour {
		return plural.Of(int(d/time.Hour), "hour")
	}
	return plural.Of(int(d/(24*time.Hour)), "day")
}
