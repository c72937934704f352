package certs_test

import (
	"crypto/x509"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/internal/certs"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

func authority(t *testing.T) *testcluster.Authority {
	t.Helper()
	a, err := testcluster.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func issue(t *testing.T, a *testcluster.Authority, dir, name string) {
	t.Helper()
	if err := a.Issue(dir, name); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, dir, name string) *certs.Pair {
	t.Helper()
	p, err := certs.LoadPair(filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".key"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPairFollowsItsFiles: a renewed certificate is in use soon, one that is broken never.
func TestPairFollowsItsFiles(t *testing.T) {
	dir, a := t.TempDir(), authority(t)
	issue(t, a, dir, "n1")
	p := load(t, dir, "n1")
	first := p.Get()
	issue(t, a, dir, "n1")
	for end := time.Now().Add(time.Minute); p.Get() == first; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the renewed certificate is never in use")
		}
	}
	second := p.Get()
	if err := os.WriteFile(filepath.Join(dir, "n1.pem"), []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(1500 * time.Millisecond); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if p.Get() != second {
			t.Fatal("a broken file replaced a good certificate")
		}
	}
}

// TestRenewalIsSeenWithoutAHandshake: files that are followed are looked at although nobody asks for the certificate.
func TestRenewalIsSeenWithoutAHandshake(t *testing.T) {
	dir, a := t.TempDir(), authority(t)
	issue(t, a, dir, "n1")
	if err := testcluster.WriteTrusted(dir, a); err != nil {
		t.Fatal(err)
	}
	seen := make(chan string, 10)
	log := slog.New(slog.NewTextHandler(sends(seen), nil))
	pair, err := certs.LoadPair(filepath.Join(dir, "n1.pem"), filepath.Join(dir, "n1.key"), log)
	if err != nil {
		t.Fatal(err)
	}
	trusted, err := certs.LoadAuthority(filepath.Join(dir, "ca.pem"), log)
	if err != nil {
		t.Fatal(err)
	}
	go certs.Follow(t.Context(), pair, trusted)
	issue(t, a, dir, "n1")
	for deadline := time.After(time.Minute); ; {
		select {
		case line := <-seen:
			if strings.Contains(line, "a renewed certificate is in use") {
				return
			}
		case <-deadline:
			t.Fatal("the renewed certificate is not logged, want it without a handshake")
		}
	}
}

// sends is a writer to a channel.
type sends chan string

func (s sends) Write(b []byte) (int, error) {
	s <- string(b)
	return len(b), nil
}

// TestAuthorityChecks: its own certificates by name, and nobody else's.
func TestAuthorityChecks(t *testing.T) {
	dir, ours, theirs := t.TempDir(), authority(t), authority(t)
	if err := testcluster.WriteTrusted(dir, ours); err != nil {
		t.Fatal(err)
	}
	trusted, err := certs.LoadAuthority(filepath.Join(dir, "ca.pem"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	issue(t, ours, dir, "n1")
	issue(t, theirs, dir, "n2")
	chain := func(name string) []*x509.Certificate {
		c, err := load(t, dir, name).Chain()
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, c := range []struct {
		shown []*x509.Certificate
		name  string
		want  error
	}{
		{chain("n1"), "n1", nil}, {chain("n1"), "", nil}, {chain("n1"), "n2", certs.ErrName},
		{chain("n2"), "n2", certs.ErrUnknown}, {chain("n2"), "", certs.ErrUnknown}, {nil, "n1", certs.ErrNone},
	} {
		if err := trusted.Check(c.shown, c.name); !errors.Is(err, c.want) {
			t.Errorf("%d certificates for %q: %v, want %v", len(c.shown), c.name, err, c.want)
		}
	}
}
