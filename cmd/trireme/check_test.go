package main

import "testing"

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
		s := &settings{RESP: c.addr, Plaintext: c.parts, TLSCert: c.cert, TLSKey: c.cert}
		if err := s.checkRESP(); (err == nil) != c.ok {
			t.Errorf("--resp %s --plaintext %v: %v", c.addr, c.parts, err)
		}
	}
}
