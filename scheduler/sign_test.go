package scheduler

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

// verify takes a token apart as a receiver does, by the rules of RFC 7515 alone.
func verify(t *testing.T, key, token string) map[string]any {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("%q has %d parts", token, len(parts))
	}
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(parts[0] + "." + parts[1]))
	sum, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || !hmac.Equal(sum, mac.Sum(nil)) {
		t.Fatalf("the signature is not that of %q: %v", key, err)
	}
	var out [2]map[string]any
	for i := range out {
		text, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &out[i]); err != nil {
			t.Fatal(err)
		}
	}
	if want := map[string]any{"alg": "HS256", "typ": "JWT"}; !reflect.DeepEqual(out[0], want) {
		t.Fatalf("header %v", out[0])
	}
	return out[1]
}

func TestSign(t *testing.T) {
	now := time.Unix(1_763_730_000, 999)
	const url = "https://example.com/a//b?x=<1>&y=%20é"
	c := verify(t, "sig_abc", sign("sig_abc", "Upstash", url, []byte("hello"), now))
	id, _ := c["jti"].(string)
	if !strings.HasPrefix(id, "jwt_") || len(id) < 20 {
		t.Errorf("jti %q", id)
	}
	delete(c, "jti")
	want := map[string]any{
		"iss": "Upstash", "sub": url, "iat": 1_763_730_000.0, "nbf": 0.0, "exp": 1_763_730_300.0,
		"body": "LPJNul-wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=",
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("claims %v; want %v", c, want)
	}
}

func TestSignAnEmptyBody(t *testing.T) {
	c := verify(t, "k", sign("k", "me", "u", nil, time.Now()))
	if c["body"] != "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU=" || c["iss"] != "me" {
		t.Errorf("claims %v", c)
	}
}

func TestEverySignatureIsFresh(t *testing.T) {
	now := time.Now()
	if sign("k", "i", "u", nil, now) == sign("k", "i", "u", nil, now) {
		t.Error("two attempts have one signature")
	}
}

// FuzzAssertion: what a signature says is written as encoding/json writes it.
func FuzzAssertion(f *testing.F) {
	for _, s := range []string{"https://example.com/a?b=c&d=<e>", `quote " and \`, "caf\u00e9 \u2028", "\xff\x00\x7f", ""} {
		f.Add(s, "Upstash", int64(1), int64(-5))
	}
	f.Fuzz(func(t *testing.T, subject, issuer string, at, until int64) {
		a := assertion{Issuer: issuer, Subject: subject, IssuedAt: at, NotBefore: 0, Expires: until, ID: subject, Body: issuer}
		want, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.appendJSON(nil); string(got) != string(want) {
			t.Fatalf("got %s, want %s", got, want)
		}
	})
}
