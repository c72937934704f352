package workflow

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"
)

// sign makes a token as a node does.
func sign(key, head, claims string) string {
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode([]byte(head)) + "." + encode([]byte(claims))
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(signed))
	return signed + "." + encode(mac.Sum(nil))
}

// TestSignatures: a request is one of a node if the current or the next key has signed its body, and in time.
func TestSignatures(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	body := []byte(`{"a":1}`)
	sum := sha256.Sum256(body)
	const head = `{"alg":"HS256","typ":"JWT"}`
	claims := func(iss string, from, to int64, hash string) string {
		return fmt.Sprintf(`{"iss":%q,"sub":"http://app","nbf":%d,"exp":%d,"body":%q}`, iss, from, to, hash)
	}
	hash := base64.URLEncoding.EncodeToString(sum[:])
	at := now.Unix()
	good := claims("Upstash", 0, at+300, hash)
	for what, c := range map[string]struct {
		token string
		says  string // nothing if it is valid
	}{
		"the current key":        {sign("current", head, good), ""},
		"the next key":           {sign("next", head, good), ""},
		"a hash without padding": {sign("next", head, claims("Upstash", 0, at+300, strings.TrimRight(hash, "="))), ""},
		"a clock that differs":   {sign("next", head, claims("Upstash", at+5, at+300, hash)), ""},
		"another key":            {sign("other", head, good), "another key"},
		"no signature":           {"", "no Upstash-Signature"},
		"no token":               {"a.b", "no JSON web token"},
		"no algorithm":           {sign("next", `{"alg":"none"}`, good), "algorithm"},
		"another issuer":         {sign("next", head, claims("other", 0, at+300, hash)), "issuer"},
		"an old one":             {sign("next", head, claims("Upstash", 0, at-11, hash)), "expired"},
		"an early one":           {sign("next", head, claims("Upstash", at+11, at+300, hash)), "not valid yet"},
		"another body":           {sign("next", head, claims("Upstash", 0, at+300, "AAAA")), "another body"},
		"a changed claim":        {strings.Replace(sign("next", head, good), ".", ".A", 1), "another key"},
	} {
		err := verify([]string{"current", "next"}, c.token, body, now)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", what, err, c.says)
		}
	}
	if err := verify([]string{"", ""}, "", body, now); err != nil {
		t.Errorf("without keys: %v", err)
	}
	if err := verify([]string{"", "next"}, sign("", head, good), body, now); err == nil {
		t.Error("an empty key opens")
	}
}
