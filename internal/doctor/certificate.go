package doctor

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"slices"
	"time"
)

// renewBefore is how long before its end a certificate should have been renewed.
const renewBefore = 14 * 24 * time.Hour

const renewAdvice = "renew it: write the new certificate and key into the same files, the node takes them without a restart"

// Pair judges the certificate and key of two files at the time now. Empty names mean
// that there is none: no finding.
func Pair(cert, key string, now time.Time) []Finding {
	if cert == "" {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return []Finding{found("certificate", cert, Failure, "put a certificate and the key that belongs to it into the two files, PEM, readable for the node's user", "%v", err)}
	}
	return []Finding{judgeValidity(cert, pair.Leaf, now)}
}

// Authority judges the authority of the cluster's certificates, and whether it signed the
// node's own certificate, which has to name the node.
func Authority(ca, cert, node string, now time.Time) []Finding {
	if ca == "" {
		return nil
	}
	signers, err := readCertificates(ca)
	if err != nil {
		return []Finding{found("certificate", ca, Failure, "put the certificates of the cluster's authority there, PEM", "%v", err)}
	}
	var all []Finding
	pool := x509.NewCertPool()
	for _, c := range signers {
		pool.AddCert(c)
		all = append(all, judgeValidity(ca, c, now))
	}
	chain, err := readCertificates(cert)
	if err != nil {
		return all // Pair says so
	}
	return append(all, judgeOwn(cert, node, chain, pool, now)...)
}

func judgeOwn(cert, node string, chain []*x509.Certificate, pool *x509.CertPool, now time.Time) []Finding {
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	options := x509.VerifyOptions{Roots: pool, Intermediates: between, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}
	if _, err := chain[0].Verify(options); err != nil {
		return []Finding{found("certificate", cert, Failure, "have it signed by the authority of --cluster-ca; the other nodes refuse it", "%v", err)}
	}
	names := append(slices.Clone(chain[0].DNSNames), chain[0].Subject.CommonName)
	if !slices.Contains(names, node) {
		return []Finding{found("certificate", cert, Failure, "make a certificate with the node's id as DNS name or common name", "it names %v, not %s", names, node)}
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
		return nil, errors.New("it holds no certificate in PEM")
	}
	return all, nil
}

func judgeValidity(about string, c *x509.Certificate, now time.Time) Finding {
	return judgeEnd(about, c.NotBefore, c.NotAfter, now)
}

func judgeEnd(about string, from, until, now time.Time) Finding {
	days := int(until.Sub(now) / (24 * time.Hour))
	end := until.UTC().Format(time.RFC3339)
	switch {
	case now.After(until):
		return found("certificate", about, Failure, renewAdvice, "it ended at %s", end)
	case now.Before(from):
		return found("certificate", about, Failure, "look at this machine's clock and at who made the certificate", "it begins at %s", from.UTC().Format(time.RFC3339))
	case until.Sub(now) < renewBefore:
		return found("certificate", about, Warning, renewAdvice, "it ends in %d days, at %s", days, end)
	}
	return found("certificate", about, OK, "", "good for %d days", days)
}
