package certs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"
)

// checkEvery is the least interval between two checks of the files.
const checkEvery = time.Second

// Pair is a certificate and its key. While new files can't be read, or don't belong together, the former ones stay in use.
type Pair struct {
	files files
	issue func() (*tls.Certificate, error) // signs the next one; nil if they come from files
	log   *slog.Logger

	mu   sync.Mutex
	pair *tls.Certificate
}

// LoadPair reads a certificate and its key, both PEM.
func LoadPair(cert, key string, log *slog.Logger) (*Pair, error) {
	p := &Pair{files: files{paths: []string{cert, key}}, log: log}
	p.files.changed() // from here on: a change during the reading is seen later
	if err := p.load(); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Pair) load() error {
	pair, err := tls.LoadX509KeyPair(p.files.paths[0], p.files.paths[1])
	if err != nil {
		return err
	}
	p.pair = &pair
	return nil
}

// Get is the certificate to use now: as its files have it, or a newly signed one.
func (p *Pair) Get() *tls.Certificate {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.issue != nil {
		p.renew(time.Now())
		return p.pair
	}
	if p.files.changed() {
		if err := p.load(); err != nil {
			p.log.Warn("a renewed certificate can't be used; the former one stays", "file", p.files.paths[0], "error", err)
		} else {
			p.log.Info("a renewed certificate is in use", "file", p.files.paths[0], "until", p.pair.Leaf.NotAfter)
		}
	}
	return p.pair
}

// Follow looks at the files of a certificate and of an authority until ctx ends. Connections between nodes last for days: a renewed
// file would be logged, used or found wanting only at the next handshake.
func Follow(ctx context.Context, p *Pair, a *Authority) {
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			p.Get()
			a.roots()
		}
	}
}

// Chain is the certificate and those that lead to its authority.
func (p *Pair) Chain() (chain []*x509.Certificate, err error) {
	for _, der := range p.Get().Certificate {
		c, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, err
		}
		chain = append(chain, c)
	}
	return chain, nil
}

// Server is the TLS of a listener of clients.
func (p *Pair) Server() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.Get(), nil },
	}
}

// Authority is a file of certificates that sign others.
type Authority struct {
	files files
	log   *slog.Logger

	mu   sync.Mutex
	pool *x509.CertPool
}

// LoadAuthority reads the certificates of an authority, PEM. There may be several: while one replaces another, both are good.
func LoadAuthority(path string, log *slog.Logger) (*Authority, error) {
	a := &Authority{files: files{paths: []string{path}}, log: log}
	a.files.changed() // as in LoadPair
	if err := a.load(); err != nil {
		return nil, err
	}
	return a, nil
}

func (a *Authority) load() error {
	text, err := os.ReadFile(a.files.paths[0])
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return fmt.Errorf("%s contains no PEM certificate", a.files.paths[0])
	}
	a.pool = pool
	return nil
}

func (a *Authority) roots() *x509.CertPool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.files.changed() {
		if err := a.load(); err != nil {
			a.log.Warn("a renewed certificate authority can't be used; the former one stays", "error", err)
		} else {
			a.log.Info("a renewed certificate authority is in use", "file", a.files.paths[0])
		}
	}
	return a.pool
}

// The reasons to refuse a certificate.
var (
	ErrNone    = errors.New("no certificate was presented")
	ErrUnknown = errors.New("the certificate is not trusted here")
	ErrName    = errors.New("the certificate has another name")
)

// Check refuses a connection whose other side shows no certificate signed by the
// authority, or, if name isn't empty, one that isn't name's.
func (a *Authority) Check(shown []*x509.Certificate, name string) error {
	if len(shown) == 0 {
		return ErrNone
	}
	between := x509.NewCertPool()
	for _, c := range shown[1:] {
		between.AddCert(c)
	}
	_, err := shown[0].Verify(x509.VerifyOptions{Roots: a.roots(), Intermediates: between, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	if name != "" && !slices.Contains(Names(shown[0]), name) {
		return fmt.Errorf("%w: it names %v, not %s", ErrName, Names(shown[0]), name)
	}
	return nil
}

// Names are whom a certificate stands for: its DNS names and its common name.
func Names(c *x509.Certificate) []string {
	names := slices.Clone(c.DNSNames)
	if c.Subject.CommonName != "" && !slices.Contains(names, c.Subject.CommonName) {
		names = append(names, c.Subject.CommonName)
	}
	return names
}

// files detects changes of files.
type files struct {
	paths  []string
	looked time.Time
	seen   []stamp
}

// stamp identifies a version of a file.
type stamp struct {
	at   time.Time
	size int64
}

// changed reports whether the files have changed since it said so last, looking at them
// once in checkEvery. The first look finds no change.
func (f *files) changed() bool {
	if time.Since(f.looked) < checkEvery {
		return false
	}
	f.looked = time.Now()
	now := make([]stamp, len(f.paths))
	for i, path := range f.paths {
		if info, err := os.Stat(path); err == nil {
			now[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	before := f.seen
	f.seen = now
	return before != nil && !slices.Equal(before, now)
}
