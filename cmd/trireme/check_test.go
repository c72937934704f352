package main

import (
	"strings"
	"testing"
)

// TestPlaintextRESP: beyond loopback RESP needs TLS, or to be allowed without by its own name.
func TestPlaintextRESP(t *testing.T) {
	for _, c := range []struct {
		addr  string
		parts []string
		cert  string
		ok    bool
	}{
		{"127.0.0.1:6379", nil, "", true},
		{"10.0.0.1:6379", nil, "", false},
		{"10.0.0.1:6379", []string{"http", "cluster"}, "", false},
		{"10.0.0.1:6379", []string{"resp"}, "", true},
		{"10.0.0.1:6379", nil, "cert.pem", true},
	} {
		s := &settings{clientSettings: clientSettings{RESP: c.addr, Plaintext: c.parts, TLSCert: c.cert, TLSKey: c.cert}}
		if err := s.checkRESP(); (err == nil) != c.ok {
			t.Errorf("--resp %s --plaintext %v: %v", c.addr, c.parts, err)
		}
	}
}

// TestPlaintextParts: a mistyped part is named with those that there are, before anything is said of a certificate.
func TestPlaintextParts(t *testing.T) {
	for part, known := range map[string]bool{"http": true, "cluster": true, "resp": true, "rsp": false, "RESP": false, "": false} { // unordered: each by itself
		s := &settings{clientSettings: clientSettings{Plaintext: []string{"http", part}}}
		err := s.checkParts()
		if (err == nil) != known {
			t.Errorf("--plaintext http,%s: %v", part, err)
		}
		if err != nil && !strings.Contains(err.Error(), "is unknown: use http, cluster or resp") {
			t.Error(err)
		}
	}
}
