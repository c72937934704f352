package certs

import (
	"crypto/x509"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func fromSecret(t *testing.T, text, name string) (*Authority, *Pair) {
	t.Helper()
	secrets, err := ParseSecrets(text)
	if err != nil {
		t.Fatal(err)
	}
	a, p, err := FromSecrets(secrets, name, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return a, p
}

func shown(t *testing.T, p *Pair) []*x509.Certificate {
	t.Helper()
	chain, err := p.Chain()
	if err != nil {
		t.Fatal(err)
	}
	return chain
}

// TestSecretsMakeOneAuthority: nodes that share a secret accept each other under their own names; nodes with another
// secret are strangers.
func TestSecretsMakeOneAuthority(t *testing.T) {
	one, other := NewSecret(), NewSecret()
	a1, _ := fromSecret(t, one, "n1")
	_, p2 := fromSecret(t, one+"\n", "n2")
	_, stranger := fromSecret(t, other, "n2")
	if err := a1.Check(shown(t, p2), "n2"); err != nil {
		t.Errorf("n2 with the same secret: %v", err)
	}
	if err := a1.Check(shown(t, p2), "n1"); !errors.Is(err, ErrName) {
		t.Errorf("n2 that says it is n1: %v", err)
	}
	if err := a1.Check(shown(t, stranger), "n2"); !errors.Is(err, ErrUnknown) {
		t.Errorf("n2 with another secret: %v", err)
	}
}

// TestSecretIsReplaced: while both secrets are listed, nodes that sign with either one accept each other.
func TestSecretIsReplaced(t *testing.T) {
	former, next := NewSecret(), NewSecret()
	a1, p1 := fromSecret(t, former+"\n"+next, "n1")
	a2, p2 := fromSecret(t, next+"\n"+former, "n2")
	if err := errors.Join(a1.Check(shown(t, p2), "n2"), a2.Check(shown(t, p1), "n1")); err != nil {
		t.Error(err)
	}
	a3, _ := fromSecret(t, next, "n3")
	if err := a3.Check(shown(t, p1), "n1"); !errors.Is(err, ErrUnknown) {
		t.Errorf("the former secret where it is not listed any more: %v", err)
	}
}

// TestCertificateIsRenewed: a new certificate is signed long before the old one expires, and when the clock was set.
func TestCertificateIsRenewed(t *testing.T) {
	for name, c := range map[string]struct {
		after time.Duration
		same  bool
	}{
		"soon": {time.Hour, true}, "the same day": {13 * time.Hour, false}, "after it has expired": {100 * time.Hour, false},
		"the clock was set back a little": {-time.Hour, true}, "the clock was set back by two days": {-48 * time.Hour, false},
	} {
		_, p := fromSecret(t, NewSecret(), "n1")
		before := p.pair
		p.mu.Lock()
		p.renew(time.Now().Add(c.after))
		p.mu.Unlock()
		if same := p.pair == before; same != c.same {
			t.Errorf("%s: kept %v, want %v", name, same, c.same)
		}
	}
	_, p := fromSecret(t, NewSecret(), "n1")
	leaf := p.Get().Leaf
	if left := time.Until(leaf.NotAfter); left < leafLifetime-time.Minute || left > leafLifetime || time.Since(leaf.NotBefore) < leafBackdate {
		t.Errorf("valid from %v to %v", leaf.NotBefore, leaf.NotAfter)
	}
}

func TestSecretsAreChecked(t *testing.T) {
	for _, text := range []string{"", "  \n\n", "short", NewSecret() + "\nshort"} {
		if _, err := ParseSecrets(text); !errors.Is(err, ErrSecret) {
			t.Errorf("%q: %v", text, err)
		}
	}
	secrets, err := ParseSecrets("# is no comment but a secret\n" + strings.Repeat("x", MinSecret))
	if err != nil || len(secrets) != 2 {
		t.Fatalf("%d secrets, %v", len(secrets), err)
	}
	one, err1 := secrets[0].GossipKey()
	other, err2 := secrets[1].GossipKey()
	if err := errors.Join(err1, err2); err != nil || len(one) != 32 || string(one) == string(other) {
		t.Errorf("gossip keys of %d bytes, %v", len(one), err)
	}
}
