package workflow

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// signatureHeader carries the signature of a delivery: a JSON web token by HMAC-SHA256.
const signatureHeader = "Upstash-Signature"

// clockSkew is how far the clocks of a node and of a handler may differ.
const clockSkew = 10 * time.Second

// errUnsigned refuses a request.
const errUnsigned = protocolError("Failed to verify that the Workflow request comes from Trireme")

// verify returns an error unless one of the keys has signed a body with this token, and the token is valid at a time. Without keys it
// returns nil.
func verify(keys []string, token string, body []byte, now time.Time) error {
	var failed error
	any := false
	for _, key := range keys {
		if key == "" {
			continue
		}
		any = true
		if failed = verifyKey(key, token, body, now); failed == nil {
			return nil
		}
	}
	if !any {
		return nil
	}
	return fmt.Errorf("%w: %w", errUnsigned, failed)
}

func verifyKey(key, token string, body []byte, now time.Time) error {
	if token == "" {
		return errors.New("the request has no " + signatureHeader)
	}
	signed, signature, is := cutLast(token)
	first, second, is2 := strings.Cut(signed, ".")
	if !is || !is2 || strings.Contains(second, ".") {
		return errors.New("the signature is no JSON web token")
	}
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(signed))
	got, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(signature, "="))
	if err != nil || !hmac.Equal(got, mac.Sum(nil)) {
		return errors.New("the signature is of another key")
	}
	var head struct{ Alg string }
	var claims struct {
		Iss, Body string
		Nbf, Exp  int64
	}
	if err := errors.Join(readPart(first, &head), readPart(second, &claims)); err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	at := now.Unix()
	skew := int64(clockSkew / time.Second)
	switch {
	case head.Alg != "HS256":
		return fmt.Errorf("the algorithm is %q, expected HS256", head.Alg)
	case claims.Iss != "Upstash":
		return fmt.Errorf("the issuer is %q", claims.Iss)
	case at > claims.Exp+skew:
		return errors.New("the signature has expired")
	case at < claims.Nbf-skew:
		return errors.New("the signature is not valid yet")
	case !hmac.Equal([]byte(strings.TrimRight(claims.Body, "=")), []byte(base64.RawURLEncoding.EncodeToString(sum[:]))):
		return errors.New("the signature is of another body")
	}
	return nil
}

func cutLast(token string) (before, after string, is bool) {
	i := strings.LastIndexByte(token, '.')
	if i < 0 {
		return "", "", false
	}
	return token[:i], token[i+1:], true
}

// readPart decodes one part of a token.
func readPart(part string, v any) error {
	b, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(part, "="))
	if err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}
