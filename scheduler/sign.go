package scheduler

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"time"
)

// signatureLife is how long receivers may accept a signature.
const signatureLife = 5 * time.Minute

// jwtHeader is the first part of every token: {"alg":"HS256","typ":"JWT"}.
var jwtHeader = base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`))

// assertion is what a signature says. There is no audience: one verifier
// refuses tokens that have one. NotBefore stays 0, for the clocks of receivers differ.
type assertion struct {
	Issuer    string `json:"iss"`
	Subject   string `json:"sub"`
	IssuedAt  int64  `json:"iat"`
	NotBefore int64  `json:"nbf"`
	Expires   int64  `json:"exp"`
	ID        string `json:"jti"`
	Body      string `json:"body"`
}

// sign is the token that goes with one attempt: a JSON web token by HMAC-SHA256 under
// the bytes of the whole key as it is written, its prefix included. The subject is the
// destination, verbatim. The body's claim is the padded base64url form of its SHA-256,
// also of an empty one.
func sign(key, issuer, subject string, body []byte, now time.Time) string {
	sum := sha256.Sum256(body)
	c, err := json.Marshal(assertion{
		Issuer: issuer, Subject: subject, IssuedAt: now.Unix(), Expires: now.Add(signatureLife).Unix(),
		ID: "jwt_" + rand.Text(), Body: base64.URLEncoding.EncodeToString(sum[:]),
	})
	if err != nil {
		panic(err) // strings and numbers always have a form
	}
	token := jwtHeader + "." + base64.RawURLEncoding.EncodeToString(c)
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(token))
	return token + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
